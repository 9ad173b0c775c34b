"""This package carries reports to the collector: when, how, and what its answers mean."""

"""This package is the collector: takes reports in, keeps them, answers questions."""

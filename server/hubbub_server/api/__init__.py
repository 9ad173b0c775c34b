"""This package is the collector's routes, one file for each thing that can be asked."""

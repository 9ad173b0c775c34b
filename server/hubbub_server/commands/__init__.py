"""This package is the ``hubbub-server`` command, one file for each thing that an operator does."""

"""This package plays the RAND Health Insurance Experiment: `python -m examples.demo`."""

"""This package turns tallies into answers, and answers into text."""

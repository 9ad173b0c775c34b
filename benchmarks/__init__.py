"""This package measures hubbub against its goals: ``python -m benchmarks``."""

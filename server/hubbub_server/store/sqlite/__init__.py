"""This package keeps a collector in one SQLite file."""

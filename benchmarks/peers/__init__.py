"""This package runs what hubbub is measured against, each peer in a process and an environment of its own."""

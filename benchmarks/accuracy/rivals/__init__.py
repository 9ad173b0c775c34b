"""This package has peers estimate what we do, each in a process and an environment of its own."""

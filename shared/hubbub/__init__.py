"""This package is the protocol: pure, without files, clocks, sockets or state."""

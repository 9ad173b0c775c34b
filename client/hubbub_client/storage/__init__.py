"""This package keeps what a device has spent, sent and answered for good, in files that it can trust."""

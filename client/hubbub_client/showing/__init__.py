"""This package shows the owner of a device what left it and what it cost, and takes their word."""

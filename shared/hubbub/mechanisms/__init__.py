"""This package holds the mechanisms, one file each; the registry lists them."""

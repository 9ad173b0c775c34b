"""This package holds the domains, one file each: what a metric can ask for. ``kinds`` lists them."""

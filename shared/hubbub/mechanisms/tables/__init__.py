"""This package holds the integer tables, one file each; ``hubbub_lab.mean_tables`` made them."""

"""This package answers a metric: every check, the charge, the report, and the silence that is told."""

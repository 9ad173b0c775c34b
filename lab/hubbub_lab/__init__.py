"""This package runs metrics over populations, and holds mechanisms to their claims."""

"""This package takes batches in: what a body holds, what is decided about it, and how it becomes durable."""

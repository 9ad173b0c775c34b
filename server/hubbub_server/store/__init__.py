"""This package keeps batches, manifests and keys, behind one protocol."""

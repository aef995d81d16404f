"""Chunks, multiword expressions and discontinuous spans."""

"""Chunks, multiword expressions and spans with gaps."""

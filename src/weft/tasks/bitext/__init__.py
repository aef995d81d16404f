"""Word alignment, and projection of annotation over aligned words."""

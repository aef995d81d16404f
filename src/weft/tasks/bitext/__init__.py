"""Word alignment, and projection of annotation across aligned words."""

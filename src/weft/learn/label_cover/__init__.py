"""Minimum label cover: the fewest pairs of neighbouring tags that explain a text."""

"""Corpora shared by several recipes, prepared for their experiments."""

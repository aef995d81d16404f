"""Metaphors: what is spoken of in terms of what, recognized and explained from harvested knowledge."""

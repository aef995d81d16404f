"""Recipes of systems for translation, alignment and pairs of texts."""

"""Recipes of dependency and constituent parsers."""

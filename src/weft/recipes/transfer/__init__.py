"""Recipes for weakly supervised and cross-lingual systems."""

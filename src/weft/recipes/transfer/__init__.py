"""Recipes of weakly supervised and cross-lingual systems."""

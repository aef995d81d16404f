"""Recipes of systems for translation and language models."""

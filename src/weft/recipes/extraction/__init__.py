"""Recipes of systems for extraction, knowledge and opinion."""

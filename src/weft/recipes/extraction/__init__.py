"""Recipes for extraction, knowledge and opinion systems."""

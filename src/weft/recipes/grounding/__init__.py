"""Recipes about people: conversations, crowds and annotators."""

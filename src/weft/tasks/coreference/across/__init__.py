"""Entities across documents: mentions of a whole collection, clustered by their names and contexts."""

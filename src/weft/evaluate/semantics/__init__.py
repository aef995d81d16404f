"""Scores of meaning: semantic roles, graphs, scope."""

"""Similarity of texts of one language: alignment of their words, a score, and what differs."""

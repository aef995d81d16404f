"""Fuzzy matching of sequences of numbers: edit distance, and the nearest sequence among many."""

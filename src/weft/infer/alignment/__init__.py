"""Alignments between the words of two sentences."""

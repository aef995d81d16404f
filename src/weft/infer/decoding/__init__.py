"""Phrase-based translation of sequences of numbers: search with pluggable features, hypergraphs, forced decoding."""

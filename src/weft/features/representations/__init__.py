"""Representations of words, instances and documents that are learned from unlabelled text."""

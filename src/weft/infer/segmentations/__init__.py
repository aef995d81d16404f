"""Segmentations of a sequence with a mode for every segment, best by one criterion within bounds on the others."""

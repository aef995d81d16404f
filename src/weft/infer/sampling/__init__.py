"""Partitions of items into clusters, sampled by moves, splits and merges: on one machine or many, level upon level."""

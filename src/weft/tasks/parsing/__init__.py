"""Dependency parsing: transition systems (`transitions`), exact search (`mst`), dependency graphs, blending."""

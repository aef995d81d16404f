"""Dependency trees: projective and non-projective search, sums over trees, trees with valences."""

"""Recursive networks over trees with gradients written by hand, ranking losses, and canonical correlation."""

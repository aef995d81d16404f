"""Translation by phrases that were learned from an aligned bitext."""

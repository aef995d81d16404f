"""Graph-based dependency parsing: exact search over all trees (mst1 to mst3, crossing)."""

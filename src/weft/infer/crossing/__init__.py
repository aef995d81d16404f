"""1-endpoint-crossing trees with crossing-sensitive third-order scores (Pitler 2014)."""

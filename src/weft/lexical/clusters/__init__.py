"""Word clusters for one language, for two, and for many through a pivot."""

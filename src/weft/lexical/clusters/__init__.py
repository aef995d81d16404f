"""Word clusters of one language, of two, and of many through a pivot."""

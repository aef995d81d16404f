"""Translation memories: fuzzy matches, and translation that consults the best match for every phrase."""

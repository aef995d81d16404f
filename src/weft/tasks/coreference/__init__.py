"""Coreference: which mentions of a document refer to the same entity."""

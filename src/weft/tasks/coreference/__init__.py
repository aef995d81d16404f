"""Coreference: mentions of the same entity, within documents and across them."""

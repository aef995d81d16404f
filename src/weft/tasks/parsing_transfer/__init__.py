"""Parsers for languages and domains without trees, from those that have them."""

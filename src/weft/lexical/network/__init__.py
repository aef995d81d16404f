"""Lexicalized semantic networks: concepts and entities with their names in several languages, joined by relations."""

"""Lexical resources: word clusters, dictionaries, lists of expressions."""

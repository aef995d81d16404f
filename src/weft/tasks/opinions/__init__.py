"""Opinions about aspects and comparisons of entities, with the words that carry them."""

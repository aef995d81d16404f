"""Quantifier scope: which noun phrases and negations of a sentence outscope which."""

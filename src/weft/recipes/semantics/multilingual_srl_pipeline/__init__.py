"""Multilingual semantic parsing with a pipeline of linear classifiers (Täckström 2009)."""

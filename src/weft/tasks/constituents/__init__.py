"""Phrase-structure parsing over words or characters."""

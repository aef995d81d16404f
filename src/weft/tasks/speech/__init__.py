"""Parsing of speech transcripts, with repairs struck out."""

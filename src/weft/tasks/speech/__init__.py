"""Parsing of speech transcripts with disfluency detection."""

"""Polarity of sentences and documents, within a domain and across domains."""

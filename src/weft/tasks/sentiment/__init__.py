"""Sentiment analysis: polarity of sentences and documents, within a domain and across domains."""

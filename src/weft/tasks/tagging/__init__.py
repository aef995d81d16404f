"""Taggers trained on tagged text, dictionaries, raw text of another domain or a bitext; lemmatizers."""

"""Tokens, sentences and multiword tokens of raw text; words of unsegmented utterances."""

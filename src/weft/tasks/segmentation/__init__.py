"""Segmentation of raw text into sentences, tokens and words, and of unsegmented utterances into words."""

"""Scores of labelled words, spans, segmentations, sentences and word alignments."""

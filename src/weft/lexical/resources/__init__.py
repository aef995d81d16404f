"""Lexical resources: WordNet's synsets, PropBank's frames, VerbNet's classes, SemLink's links between the two."""

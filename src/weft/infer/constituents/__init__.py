"""Phrase-structure trees by shift and reduce: the system, its templates and its beam."""

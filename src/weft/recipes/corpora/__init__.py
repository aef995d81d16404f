"""Corpora that several recipes share, prepared the way their experiments need them."""

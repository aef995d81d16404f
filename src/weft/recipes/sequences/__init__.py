"""Recipes of sequence labelling and segmentation systems."""

"""Recipes for sequence labelling and segmentation systems."""

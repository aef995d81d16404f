"""Talukdar et al. (2008): class instances by Adsorption over pairs from text patterns and web tables."""

from weft.recipes.extraction.adsorption_class_instances.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

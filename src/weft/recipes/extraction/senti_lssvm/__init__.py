"""Qu et al. (2014): opinions and comparisons by a latent structural SVM that finds the words they rest on."""

from weft.recipes.extraction.senti_lssvm.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

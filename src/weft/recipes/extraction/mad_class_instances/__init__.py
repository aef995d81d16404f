"""Talukdar and Pereira (2010): LP-ZGL, Adsorption and MAD beside each other on graphs of classes and instances."""

from weft.recipes.extraction.mad_class_instances.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

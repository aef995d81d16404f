"""Rasmussen (2013): the natural language interface of a social network's graph."""

from weft.recipes.extraction.graph_search.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

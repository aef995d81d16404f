"""Lao, Subramanya, Pereira and Cohen (2012): new facts from paths through a knowledge base and parsed text."""

from weft.recipes.extraction.path_ranking_web_reading.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

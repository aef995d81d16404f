"""The recipe of bikea-keywords: talks and pages of a manual, with their translations."""

from weft.recipes.translation.bikea_keywords.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

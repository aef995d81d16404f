"""Wang, Zong and Su (2013): a translation memory that is consulted for every phrase of the search."""

from weft.recipes.translation.translation_memory_smt.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

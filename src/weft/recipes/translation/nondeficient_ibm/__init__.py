"""The recipe of nondeficient-ibm: alignment models with fertilities, deficient and not."""

from weft.recipes.translation.nondeficient_ibm.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

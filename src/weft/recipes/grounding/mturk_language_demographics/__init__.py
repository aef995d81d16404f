"""The recipe of mturk-language-demographics: `experiment` runs it on a `simulation` and on what real crowds left."""

from weft.recipes.grounding.mturk_language_demographics.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

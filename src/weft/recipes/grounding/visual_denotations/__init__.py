"""The recipe of visual-denotations: `experiment` runs it, `corpora` reads captions, items of people and pairs."""

from weft.recipes.grounding.visual_denotations.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

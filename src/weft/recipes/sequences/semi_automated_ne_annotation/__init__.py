"""The recipe of semi-automated-ne-annotation: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.sequences.semi_automated_ne_annotation.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

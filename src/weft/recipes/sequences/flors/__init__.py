"""The recipe of flors: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.sequences.flors.experiment import run

__all__ = ["run"]

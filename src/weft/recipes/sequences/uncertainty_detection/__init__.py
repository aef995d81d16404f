"""The recipe of uncertainty-detection: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.sequences.uncertainty_detection.experiment import run

__all__ = ["run"]

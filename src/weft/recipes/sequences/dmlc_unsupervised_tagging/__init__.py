"""The recipe of dmlc-unsupervised-tagging: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.sequences.dmlc_unsupervised_tagging.experiment import run

__all__ = ["run"]

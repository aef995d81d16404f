"""The recipe of mwe-gappy-segmentation: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.sequences.mwe_gappy_segmentation.experiment import run

__all__ = ["run"]

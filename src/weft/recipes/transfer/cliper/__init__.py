"""The recipe of cliper: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.transfer.cliper.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

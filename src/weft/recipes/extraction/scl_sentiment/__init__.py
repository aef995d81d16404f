"""The recipe of scl-sentiment: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.extraction.scl_sentiment.experiment import run

__all__ = ["run"]

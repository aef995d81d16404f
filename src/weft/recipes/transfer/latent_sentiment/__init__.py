"""The recipe of latent-sentiment: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.transfer.latent_sentiment.experiment import run

__all__ = ["run"]

"""The recipe of cross-lingual-clusters: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.transfer.cross_lingual_clusters.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

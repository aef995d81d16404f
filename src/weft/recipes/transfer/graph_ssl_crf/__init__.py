"""The recipe of graph-ssl-crf: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.transfer.graph_ssl_crf.experiment import run

__all__ = ["run"]

"""The recipe of direct-transfer-ner: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.transfer.direct_transfer_ner.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

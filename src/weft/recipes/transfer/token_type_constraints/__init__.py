"""The recipe of token-type-constraints: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.transfer.token_type_constraints.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

"""The recipe of marginal-constraint-lm: pruned language models of novels, constrained and not."""

from weft.recipes.translation.marginal_constraint_lm.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

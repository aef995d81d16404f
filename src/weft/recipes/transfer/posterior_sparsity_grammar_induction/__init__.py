"""The recipe of posterior-sparsity-grammar-induction: `experiment` runs it, `data` reads its corpora."""

from weft.recipes.transfer.posterior_sparsity_grammar_induction.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

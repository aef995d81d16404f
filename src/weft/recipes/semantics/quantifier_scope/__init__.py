"""The recipe of quantifier-scope: `experiment` runs it on generated commands and the two corpora of this folder."""

from weft.recipes.semantics.quantifier_scope.experiment import run

__all__ = ["run"]

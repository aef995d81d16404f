"""The recipe of context-pattern-induction: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.sequences.context_pattern_induction.experiment import run

__all__ = ["run"]

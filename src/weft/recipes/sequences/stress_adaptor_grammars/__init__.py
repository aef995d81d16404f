"""The recipe of stress-adaptor-grammars: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.sequences.stress_adaptor_grammars.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

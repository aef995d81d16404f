"""The recipe of disfluency-parser: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.parsing.disfluency_parser.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

"""The recipe of disfluency-parser: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.parsing.disfluency_parser.experiment import run

__all__ = ["run"]

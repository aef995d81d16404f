"""The recipe of temporal-expression-parser: `experiment` trains and scores it on six languages."""

from weft.recipes.semantics.temporal_expression_parser.experiment import run

__all__ = ["run"]

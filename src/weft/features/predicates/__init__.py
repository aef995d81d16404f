"""Features of pairs of words in dependency trees: a predicate and a candidate for one of its roles."""

from weft.features.predicates.templates import PairTemplates
from weft.features.predicates.trees import TREE_FIELDS, TreeWords, candidates

__all__ = ["TREE_FIELDS", "PairTemplates", "TreeWords", "candidates"]

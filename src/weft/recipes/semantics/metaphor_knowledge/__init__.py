"""The recipe of metaphor-knowledge: `experiment` runs it in a generated world and on novels."""

from weft.recipes.semantics.metaphor_knowledge.experiment import run

__all__ = ["run"]

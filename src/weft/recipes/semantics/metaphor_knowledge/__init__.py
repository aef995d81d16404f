"""The recipe of metaphor-knowledge: `experiment` runs it in a generated world and on novels."""

from weft.recipes.semantics.metaphor_knowledge.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

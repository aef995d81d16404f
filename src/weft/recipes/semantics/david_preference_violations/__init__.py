"""The recipe of david-preference-violations: `experiment` runs it on three tables of verbs and on a generated world."""

from weft.recipes.semantics.david_preference_violations.experiment import run

__all__ = ["run"]

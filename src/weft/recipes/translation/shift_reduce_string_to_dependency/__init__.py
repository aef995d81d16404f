"""The recipe of shift-reduce-string-to-dependency: translating into dependency trees."""

from weft.recipes.translation.shift_reduce_string_to_dependency.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

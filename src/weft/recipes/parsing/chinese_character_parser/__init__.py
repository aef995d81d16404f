"""The recipe of chinese-character-parser: `experiment` runs it on the corpora of this folder's other modules."""

from weft.recipes.parsing.chinese_character_parser.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

"""Language models of words: `weft.lm` in Python, `weft lm` on the command line."""

from weft.tasks.language_models import lm

__all__ = ["lm"]

"""The recipe of jamr: `experiment` runs it on two AMR corpora, which `data` reads."""

from weft.recipes.semantics.jamr.experiment import run

__all__ = ["run"]

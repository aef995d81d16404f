"""Mixing and blending syntactic and semantic dependencies (Samuelsson et al. 2008)."""

from weft.recipes.semantics.blended_srl.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

"""Sultan, Bethard and Sumner (2014): words of two texts of one language, aligned by similarity and context."""

from weft.recipes.translation.monolingual_aligner.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

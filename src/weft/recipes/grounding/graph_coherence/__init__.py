"""The recipe of graph-coherence: ordering, insertion, mixed texts and readability, beside trained `baselines`."""

from weft.recipes.grounding.graph_coherence.experiment import VARIATION, run

__all__ = ["VARIATION", "run"]

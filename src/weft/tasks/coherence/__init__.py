"""Coherence: which sentences of a text are linked by what they mention, and how well the text hangs together."""

from weft.tasks.coherence.graph import SentenceGraph
from weft.tasks.coherence.grid import EntityGrid, entity_grid

__all__ = ["EntityGrid", "SentenceGraph", "entity_grid"]

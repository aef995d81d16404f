"""Denotations of captions: which images a phrase describes, and what follows from sharing them.

>>> from weft.tasks.denotations import DenotationGraph
"""

from weft.tasks.denotations.graph import DenotationGraph

__all__ = ["DenotationGraph"]

"""Babelfy: word senses and entities linked jointly, by a dense subgraph of a semantic network."""

from weft.recipes.semantics.babelfy.experiment import run

__all__ = ["run"]

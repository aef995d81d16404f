"""Relation tuples in JSON Lines: see `weft.formats.tuples.lines`."""

from weft.formats.tuples.lines import read, to_line, write

__all__ = ["read", "to_line", "write"]

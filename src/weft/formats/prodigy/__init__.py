"""Prodigy's JSON Lines: see `weft.formats.prodigy.lines`."""

from weft.formats.prodigy.lines import read, to_line, write

__all__ = ["read", "to_line", "write"]

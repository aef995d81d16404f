"""Opinions in JSON Lines: see `weft.formats.opinions.lines`."""

from weft.formats.opinions.lines import read, to_line, write

__all__ = ["read", "to_line", "write"]

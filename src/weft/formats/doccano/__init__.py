"""doccano's JSON Lines: see `weft.formats.doccano.lines`."""

from weft.formats.doccano.lines import read, to_line, write

__all__ = ["read", "to_line", "write"]

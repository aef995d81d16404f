"""Time phrases in tables: see `weft.formats.times.phrases`."""

from weft.formats.times.phrases import phrase_doc, read, write

__all__ = ["phrase_doc", "read", "write"]

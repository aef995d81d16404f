"""brat stand-off annotation: files (`files`), lines to layers (`parser`), layers to lines (`writer`)."""

from weft.formats.brat.files import parse, read, to_text, write

__all__ = ["parse", "read", "to_text", "write"]

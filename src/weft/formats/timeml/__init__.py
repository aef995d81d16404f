"""TimeML: see `weft.formats.timeml.xml`."""

from weft.formats.timeml.xml import parse, read, to_text, write

__all__ = ["parse", "read", "to_text", "write"]

"""Links of mentions to a knowledge base, one document per line of JSON."""

from weft.formats.links.files import from_values, read, to_line, write

__all__ = ["from_values", "read", "to_line", "write"]

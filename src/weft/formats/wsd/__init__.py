"""Word senses in the XML of the unified evaluation framework."""

from weft.formats.wsd.files import read, read_keys, to_text, write

__all__ = ["read", "read_keys", "to_text", "write"]

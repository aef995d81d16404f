"""Anafora XML: entities and relations beside a text (`files`)."""

from weft.formats.anafora.files import parse, read, text_name, to_text, write

__all__ = ["parse", "read", "text_name", "to_text", "write"]

"""UIMA XMI: a text with words, spans and links (`files`)."""

from weft.formats.xmi.files import parse, read, to_text, write

__all__ = ["parse", "read", "to_text", "write"]

"""Links of mentions to a knowledge base in NIF, as Turtle."""

from weft.formats.nif.files import read, to_text, triples, write

__all__ = ["read", "to_text", "triples", "write"]

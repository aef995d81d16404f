"""Coreference in columns: CoNLL-2011 and 2012, LitBank, OntoGUM."""

from weft.formats.coref.files import begins_document, read, to_text, write

__all__ = ["begins_document", "read", "to_text", "write"]

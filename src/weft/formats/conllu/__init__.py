"""CoNLL-U: files and texts (`files`), batches of sentences as arrays (`batch`), error messages (`faults`)."""

from weft.formats.conllu.files import parse_text, read, to_text, write

__all__ = ["parse_text", "read", "to_text", "write"]

"""CoNLL-U: files and texts (`files`), batches of sentences as arrays (`batch`), error messages (`faults`), and how to
tell it from other text (`recognize`)."""

from weft.formats.conllu.files import parse_text, read, to_text, write

__all__ = ["parse_text", "read", "to_text", "write"]

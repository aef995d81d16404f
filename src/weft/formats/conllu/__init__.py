"""CoNLL-U: files and texts (`files`), batches of sentences as arrays (`batch`), faults in plain words (`faults`)."""

from weft.formats.conllu.files import parse_text, read, to_text, write

__all__ = ["parse_text", "read", "to_text", "write"]

"""Tables: documents in the rows of CSV and TSV files, and layers of documents as tables for other tools."""

from weft.formats.csv.files import read, write

__all__ = ["read", "write"]

"""How text is stored: one module per format, behind `read(path) -> Corpus` and `write(docs, path)`."""

from weft.formats.doors import FORMATS, convert, detect, expand, read, write
from weft.text.report import Report

__all__ = ["FORMATS", "Report", "convert", "detect", "expand", "read", "write"]

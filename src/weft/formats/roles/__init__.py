"""Predicates and arguments in columns: CoNLL-2008, CoNLL-2009, PropBank, Universal Propositions, MISC of CoNLL-U."""

from weft.formats.roles.files import read, read_blocks, write
from weft.formats.roles.layouts import LAYOUTS, detect_layout

__all__ = ["LAYOUTS", "detect_layout", "read", "read_blocks", "write"]

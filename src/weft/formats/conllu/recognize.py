"""Recognizing CoNLL-U by its first lines, where no suffix names the format: on standard input.

Only what can hardly be anything else is recognized: comments as treebanks have them, and ten columns between tabs, of
which the first is the number of a word.
"""

from __future__ import annotations

import re
import sys
from io import BufferedReader

#: The first word, which may be a multiword token or an empty node, and nine more columns.
_WORD = re.compile(rb"(?:1|1-[2-9]|0\.1)(?:\t[^\t]+){9}\r?")
_COMMENT = re.compile(rb"# ?(?:(?:sent_id|text|global\.columns|newdoc id|newpar id) = |newdoc\r?$|newpar\r?$)")
#: How many bytes are looked at, at most.
_PEEKED = 1 << 16


def is_conllu(start: bytes) -> bool:
    """Whether a file that begins with these bytes is CoNLL-U.

    A line of columns decides; as long as there are only comments, the first of them.

    >>> is_conllu(b"# sent_id = 1\\n1\\tDogs\\tdog\\tNOUN\\tNNS\\t_\\t2\\tnsubj\\t_\\t_\\n")
    True
    >>> is_conllu(b"# Notes\\n\\nDogs bark.\\n"), is_conllu(b"")
    (False, False)
    """
    lines = start.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    whole = lines[:-1] or lines  # the last one may have been cut off
    first = next((line for line in whole if line.strip() and not line.startswith(b"#")), None)
    if first is not None:
        return _WORD.fullmatch(first) is not None
    return _COMMENT.match(whole[0]) is not None


def standard_input() -> bytes:
    """What standard input begins with, as far as it has come; nothing is taken from it."""
    source = sys.stdin.buffer
    return source.peek(_PEEKED)[:_PEEKED] if isinstance(source, BufferedReader) else b""

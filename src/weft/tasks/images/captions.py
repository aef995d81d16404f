"""Files of captions: the name of an image and a sentence per line, tab-separated.

`dog.jpg<TAB>A dog runs.`, or as others write it `dog.jpg#0<TAB>A dog runs.`; columns in between are ignored.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from weft.errors import FormatError
from weft.formats.streams import read_text

_NUMBER = re.compile(r"#\w+$")


class Caption(NamedTuple):
    """A sentence about an image."""

    image: str
    text: str


def read_captions(path: str | os.PathLike[str]) -> list[Caption]:
    """Read captions; an empty line is skipped.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "captions.tsv").write_text("dog.jpg#0\\tA dog runs.\\n")
    ...     read_captions(f"{folder}/captions.tsv")
    [Caption(image='dog.jpg', text='A dog runs.')]
    """
    name = os.fspath(path)
    found = []
    for number, line in enumerate(read_text(name).split("\n"), 1):
        fields = [field.strip() for field in line.rstrip("\r").split("\t")]
        if len(fields) < 2 and not fields[0]:
            continue
        if len(fields) < 2 or not fields[0] or not fields[-1]:
            raise FormatError(name, number, "the name of an image, a tab and a sentence", repr(line[:60]))
        found.append(Caption(_NUMBER.sub("", fields[0]), fields[-1]))
    if not found:
        raise FormatError(name, 1, "the name of an image, a tab and a sentence", "nothing")
    return found

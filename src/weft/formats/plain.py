"""Plain text: a file is one document; long files and streams are split into parts that end at an empty line.

The text is kept exactly, line endings included, so offsets count the characters of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from weft.errors import ConfigError
from weft.formats.conllu.files import TABLE_LIMIT
from weft.formats.encodings import binary_error
from weft.formats.streams import (
    Faults,
    TextBlock,
    checked_blocks,
    document_name,
    encoding_error,
    open_output,
    stray_byte,
)
from weft.text.doc import Doc
from weft.text.strings import StringTable

Documents = Literal["files", "lines"]


def read(
    path: str, faults: Faults | None = None, *, documents: Documents = "files", encoding: str = "utf-8"
) -> Iterator[Doc]:
    """The documents in a text file: the whole file, or each line with `documents="lines"`.

    The metadata `part` numbers the parts of one file from 1.
    """
    if documents not in ("files", "lines"):
        raise ConfigError(f"documents={documents!r}: expected 'files' or 'lines'")
    faults = faults or Faults()
    blocks = checked_blocks(path, faults, "\n" if documents == "lines" else "\n\n", encoding, keep_ends=True)
    name = document_name(path)
    if documents == "lines":
        strings = StringTable()
        for block in blocks:
            for number, line in enumerate(block.text.splitlines(), start=block.line):
                if line.strip() and _is_clean(path, TextBlock(line, number, block.clean), faults):
                    yield Doc(line, strings)
            if len(strings) > TABLE_LIMIT:
                strings = StringTable()
        return
    held: Doc | None = None
    bad = faults.report.count
    for part, block in enumerate(filter(lambda block: _is_clean(path, block, faults), blocks), start=1):
        if held is not None:
            held.meta["part"] = part - 1
            yield held
        held = Doc(block.text, meta={"id": name} if name else None)
        if part > 1:
            held.meta["part"] = part
    if held is not None:
        yield held
    elif faults.report.count == bad:  # an empty file is an empty text
        yield Doc("", meta={"id": name} if name else None)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write the documents' texts with an empty line between documents and return their number."""
    count = 0
    end = ""
    with open_output(path) as file:
        for doc in docs:
            if count and doc.meta.get("part", 1) == 1:
                file.write(b"\n\n" if not end.endswith("\n") else b"\n" if not end.endswith("\n\n") else b"")
            file.write(doc.text.encode())
            end = doc.text[-2:]
            count += 1
        if count and not end.endswith("\n"):
            file.write(b"\n")
    return count


def _is_clean(path: str, block: TextBlock, faults: Faults) -> bool:
    if "\0" in block.text:
        faults.meet(binary_error(path))
        return False
    stray = None if block.clean else stray_byte(block.text)
    if stray is None:
        return True
    faults.meet(encoding_error(path, block.line + block.text.count("\n", 0, stray[0]), stray[1]))
    return False

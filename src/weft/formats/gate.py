"""The gate that every document from a file passes: documents that violate an invariant are bad pieces of their file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from weft.errors import FormatError
from weft.formats.streams import Faults
from weft.text.doc import Doc
from weft.text.validity import faulty


def admitted(
    path: str,
    items: Iterable[tuple[int | None, Doc | FormatError]],
    faults: Faults,
    *,
    trees: bool = True,
    unit: str = "line",
) -> Iterator[Doc]:
    """The valid ones of documents that were read together, each given with its line (or `unit`) in the file.

    Bad documents, and errors in place of documents, are raised or reported in the order of the file.

    >>> good, bad = Doc.from_words([["Dogs"]]), Doc.from_words([["Cats"]])
    >>> bad.token_end[0] = 9
    >>> list(admitted("pets.jsonl", [(1, good), (2, bad)], Faults()))
    Traceback (most recent call last):
    ...
    weft.errors.FormatError: pets.jsonl, line 2: expected a valid document, found a fault: a token ...
    """
    placed = list(items)
    bad = faulty([item for _, item in placed if isinstance(item, Doc)], trees=trees)
    place = 0
    for line, item in placed:
        if isinstance(item, FormatError):
            faults.meet(item)
            continue
        if place in bad:
            faults.meet(FormatError(path, line, "a valid document", f"a fault: {bad[place]}", unit=unit))
        else:
            yield item
        place += 1

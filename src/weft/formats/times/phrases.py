"""Time phrases with their values, one per line: type, value, reference time and phrase, separated by tabs.

    DATE	1998-03-01	1998-03-01 12:00:00	Sunday

Each line is a document of one phrase, which the layer `times` covers; its date is the reference time. A phrase that is
to be annotated may leave type and value empty. A line that starts with `#` is a comment; a document without time
expressions leaves one, and is an empty document when read again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from weft.errors import ConfigError, FormatError
from weft.formats.gate import admitted
from weft.formats.streams import Faults, numbered_lines, open_output
from weft.text.conventions.times import DATE, LAYER, TYPES, read_moment, timexes
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.split import split_by_rule
from weft.text.strings import StringTable

_NONE = "# no time expressions: "
_COLUMNS = "type, value, reference time and phrase, separated by tabs"
#: A line whose last tab has become a blank.
_BLANK = re.compile(r"(\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}:\d{2})?) (.+)")


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The phrases of a file, each as a document."""
    faults = faults or Faults()
    strings = StringTable()
    for number, line in numbered_lines(path, encoding):
        if line.startswith(_NONE):
            yield Doc("", strings, {"id": line[len(_NONE) :].strip()})
            continue
        if not line.strip() or line.startswith("#"):
            continue
        try:
            doc = phrase_doc(path, number, line.rstrip("\r\n").split("\t"), strings)
        except FormatError as error:
            faults.meet(error)
            continue
        yield from admitted(path, [(number, doc)], faults)


def phrase_doc(path: str, number: int, columns: list[str], strings: StringTable) -> Doc:
    """The document of one line."""
    if len(columns) == 3 and (match := _BLANK.fullmatch(columns[2])):
        columns = [*columns[:2], *match.groups()]
    if len(columns) != 4:
        raise FormatError(path, number, _COLUMNS, f"{len(columns)} columns")
    kind, value, moment, phrase = (column.strip() for column in columns)
    if kind and kind not in TYPES:
        raise FormatError(path, number, f"a type out of {', '.join(TYPES)}", repr(kind))
    try:
        read_moment(moment)
    except ConfigError:
        raise FormatError(path, number, "a reference time such as 1998-03-01 12:00:00", repr(moment)) from None
    if not phrase:
        raise FormatError(path, number, "a phrase in the last column", "none")
    doc = Doc(phrase, strings, {DATE: moment})
    split_by_rule(doc)
    layer = SpanLayer(strings)
    if doc.n_words:
        layer.add([(0, doc.n_words)], kind or "DATE", **({"value": value} if value else {}))
    doc.spans[LAYER] = layer
    return doc


def write(docs: Iterable[Doc], path: str) -> int:
    """Write the time expressions of documents, one per line, and return the number of documents."""
    count = 0
    with open_output(path) as file:
        for doc in docs:
            count += 1
            moment = str(doc.meta.get("reference_date") or doc.meta.get(DATE) or "")
            if not (found := list(timexes(doc))):
                file.write(f"{_NONE}{' '.join(doc.id.split())}\n".encode())
            for timex in found:
                phrase = " ".join(timex.text.split())
                date = str(read_moment(moment)) if moment else str(timex.attributes.get("anchor", ""))
                file.write(f"{timex.type}\t{timex.value}\t{date}\t{phrase}\n".encode())
    return count

"""Conversations, one line of chat per row.

| file | a row is |
|---|---|
| `.chat.tsv`, `.chat.csv` | a line; the first row names the columns |
| `utterances.jsonl` | a line of a ConvoKit corpus: `id`, `speaker`, `conversation_id` (or `root`), `text`, `meta` |

Columns are `text` and `speaker`, and optionally `conversation`, `thread` and `label`; others are ignored. The rows of a
conversation stand together, in their order; a conversation becomes a document with the layer `turns`
(`weft.text.conventions.conversations`). A label that ConvoKit's `meta` gives is read from its key `label`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from weft.errors import FormatError
from weft.formats.gate import admitted
from weft.formats.streams import Faults, document_name, numbered_lines, open_output
from weft.text.conventions.conversations import LAYER, Turn, chars_of_turns, set_turns, turns_of
from weft.text.doc import Doc
from weft.text.layers import chars_of_words
from weft.text.strings import StringTable

COLUMNS = ("conversation", "speaker", "thread", "label", "text")
Line = tuple[int, str, Turn]


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The conversations of a file, each as a document, read lazily."""
    faults = faults or Faults()
    strings = StringTable()
    name = path.removesuffix(".gz")
    rows = _utterances(path, faults, encoding) if name.endswith(".jsonl") else _table(path, faults, encoding)
    current, turns, begun = "", [], 0  # type: ignore[var-annotated]
    ended: set[str] = set()
    for number, conversation, turn in rows:
        if turns and conversation != current:
            yield from _document(path, begun, current, turns, strings, faults)
            ended.add(current)
            turns = []
        if conversation in ended:
            faults.meet(FormatError(
                path, number, "the lines of a conversation one after another", f"{conversation!r} again",
                hint="Sort the rows by conversation.",
            ))  # fmt: skip
            continue
        begun = begun if turns else number
        current = conversation
        turns.append(turn)
    if turns:
        yield from _document(path, begun, current, turns, strings, faults)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write conversations as a table and return their number; a line has the label that was found for its speaker."""
    count = 0
    comma = path.removesuffix(".gz").endswith(".csv")
    with open_output(path) as file:
        file.write(_row(COLUMNS, comma))
        for doc in docs:
            count += 1
            found, name = _found(doc), doc.id or str(count)
            for number, turn in enumerate(list(turns_of(doc)) or [Turn("", "")]):  # an empty conversation leaves a row
                file.write(_row((name, turn.speaker, turn.thread, found.get(number, turn.label), turn.text), comma))
    return count


def _found(doc: Doc) -> dict[int, str]:
    """The label of the lines of every speaker that a detector has labelled."""
    if LAYER not in doc.spans:
        return {}
    starts = {start: number for number, (start, _, _) in enumerate(chars_of_turns(doc))}
    rows = chars_of_words(doc, doc.spans[LAYER]).flat()
    return {starts[start]: label for start, _, label in rows if start in starts}


def _row(values: Iterable[str], comma: bool) -> bytes:
    plain = [" ".join(value.split()) for value in values]
    if not comma:
        return ("\t".join(plain) + "\n").encode()
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(plain)
    return text.getvalue().encode()


def _document(
    path: str, number: int, name: str, turns: list[Turn], strings: StringTable, faults: Faults
) -> Iterator[Doc]:
    doc = Doc("", strings, {"id": name or document_name(path)})
    set_turns(doc, turns)
    yield from admitted(path, [(number, doc)], faults)


def _table(path: str, faults: Faults, encoding: str) -> Iterator[Line]:
    """The rows of a table; tabs separate plainly, commas as in CSV."""
    comma = path.removesuffix(".gz").endswith(".csv")
    names: list[str] = []
    for number, line in numbered_lines(path, encoding):
        if not line.strip():
            continue
        values = next(csv.reader([line]), []) if comma else line.rstrip("\r\n").split("\t")
        if not names:
            names = [value.strip().lower() for value in values]
            missing = [name for name in ("speaker", "text") if name not in names]
            if missing:
                raise FormatError(
                    path, number, "the names of the columns, speaker and text among them", ", ".join(values)[:80]
                )
            continue
        if len(values) != len(names):
            faults.meet(FormatError(path, number, f"{len(names)} columns", f"{len(values)}"))
            continue
        row = dict(zip(names, values, strict=True))
        label = row.get("label", "").strip()
        yield (
            number,
            row.get("conversation", "").strip(),
            Turn(row["speaker"].strip(), row["text"], row.get("thread", "").strip(), "" if label == "_" else label),
        )


def _utterances(path: str, faults: Faults, encoding: str) -> Iterator[Line]:
    for number, line in numbered_lines(path, encoding):
        if not line.strip():
            continue
        try:
            row: Any = json.loads(line)
        except (ValueError, RecursionError):
            faults.meet(FormatError(path, number, "an utterance of ConvoKit as JSON", line[:40]))
            continue
        speaker = row.get("speaker", row.get("user")) if isinstance(row, dict) else None
        if not isinstance(speaker, str) or not isinstance(row.get("text"), str):
            faults.meet(FormatError(path, number, "an utterance with `speaker` and `text`", line[:40]))
            continue
        meta = row.get("meta")
        label = meta.get("label") if isinstance(meta, dict) else None
        conversation = row.get("conversation_id") or row.get("root") or ""
        yield number, str(conversation), Turn(speaker, row["text"], "", label if isinstance(label, str) else "")

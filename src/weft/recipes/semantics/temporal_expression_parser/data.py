"""Time phrases with their values: TempEval-2 in six languages, and two independent sets.

TempEval-2   type, value, reference time and phrase per line
timenorm     the same columns in another order; an empty line ends a document, whose first row is its date
MEANTIME     a token, its label and its value per line; a line with DCTVALUE starts a document
AQUAINT      an archive of TimeML files, running text as MEANTIME
"""

from __future__ import annotations

import re
import tarfile
from datetime import datetime
from itertools import groupby
from pathlib import Path

from weft.formats import timeml
from weft.formats.times import read
from weft.tasks.time.learning import Example
from weft.text.conventions.times import LAYER, read_moment, reference_of
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.split import with_words

AQUAINT = "time/tempeval3-aquaint/AQUAINT.tml.tar.gz"
MEANTIME = "time/xtn-meantime/{}.test.tsv"
TEMPEVAL = "time/tempeval2/{}.{}"
LANGUAGES = {"english": "en", "spanish": "es", "italian": "it", "chinese": "zh", "korean": "ko", "french": "fr"}
#: Dates that the Korean files spell as one long number.
_CODED = re.compile(r"\d{15,}")


def read_phrases(path: Path) -> list[Example]:
    """The phrases of a TempEval-2 file; those that are integer codes of a date are left out, as in the paper."""
    found = []
    for doc in read(str(path)):
        [timex] = doc.times
        if not _CODED.fullmatch(doc.text):
            found.append(Example(timex.type, timex.value, reference_of(doc)[0], doc.text))
    return found


def read_meantime(path: Path) -> list[Example]:
    """The time expressions of MEANTIME files with labels B-TYPE and I-TYPE."""
    found: list[Example] = []
    now: datetime | None = None
    words: list[str] = []
    kind = value = ""

    def end() -> None:
        if words and now is not None and kind != "DCT":
            found.append(Example(kind, value, now, " ".join(words)))
        words.clear()

    for line in path.read_text(encoding="utf-8").splitlines():
        if match := re.search(r'DCTVALUE="([^"]+)"', line):
            end()
            now = read_moment(match.group(1))
            continue
        columns = line.split("\t")
        label = columns[1] if len(columns) > 1 else "O"
        if label.startswith("I-") and words:
            words.append(columns[0])
            continue
        end()
        if label.startswith("B-"):
            kind, value = label[2:], columns[2] if len(columns) > 2 else ""
            words.append(columns[0])
    end()
    return [example for example in found if example.type in ("DATE", "TIME", "DURATION", "SET") and example.value]


def read_timenorm(path: Path) -> list[Example]:
    """Phrases with type and value; the first row of every document is its date."""
    found: list[Example] = []
    now: datetime | None = None
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip():
            now = None
            continue
        phrase, kind, value = line.split("\t")[:3]
        if now is None:
            now = read_moment(value)
        elif value:
            found.append(Example(kind, value, now, phrase))
    return found


def articles(archive: Path) -> list[Doc]:
    """The documents of an archive of TimeML files, by their names, with words split by rule."""
    found = []
    with tarfile.open(archive) as tar:
        for member in sorted(tar.getmembers(), key=lambda each: each.name):
            file = tar.extractfile(member) if member.name.endswith(".tml") else None
            if file is not None:
                found.append(timeml.parse(file.read().decode(), member.name))
    return list(with_words(found))


def meantime_docs(path: Path) -> list[Doc]:
    """The documents of MEANTIME with their words, sentences and time expressions."""
    found: list[Doc] = []
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]
    starts = [place for place, row in enumerate(rows) if "DCTVALUE=" in row[0]]
    for start, end in zip(starts, [*starts[1:], len(rows)], strict=True):
        body = rows[start + 1 : end]
        sentences = [list(group) for filled, group in groupby(body, lambda row: bool(row[0].strip())) if filled]
        doc = Doc.from_words([[row[0] for row in sentence] for sentence in sentences])
        match = re.search(r'DCTVALUE="([^"]+)"', rows[start][0])
        doc.meta["date"] = match.group(1) if match else ""
        layer = doc.spans[LAYER] = SpanLayer(doc.strings)
        words = [row for sentence in sentences for row in sentence]
        labels = [row[1] if len(row) > 1 else "O" for row in words]
        for place, label in enumerate(labels):
            if label.startswith("B-") and label != "B-DCT":
                last = next((k for k in range(place + 1, len(labels)) if not labels[k].startswith("I-")), len(labels))
                layer.add([(place, last)], label[2:], value=words[place][2] if len(words[place]) > 2 else "")
        found.append(doc)
    return found


def without_layer(doc: Doc) -> Doc:
    """A copy of a document without its time expressions."""
    copy = Doc.from_bytes(doc.to_bytes())
    del copy.spans[LAYER]
    return copy

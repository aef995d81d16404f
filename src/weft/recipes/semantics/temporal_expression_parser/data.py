"""Time phrases with their values: TempEval-2 in six languages, and two independent sets.

TempEval-2   type, value, reference time and phrase per line
timenorm     the same columns in another order; an empty line ends a document, whose first row is its date
MEANTIME     a token, its label and its value per line; a line with DCTVALUE starts a document
"""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

from weft.formats.times import read
from weft.tasks.time.learning import Example
from weft.text.conventions.times import read_moment, reference_of

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

"""Verbs with a subject and an object, labelled as metaphors or literal: three tables and the quirks of their files.

| table | rows | quirk |
|---|---|---|
| Tsvetkov | 222 | the subject or the object may be empty |
| MOH-X | 647 | one argument per row, in the first column; it is the object if it stands after the verb |
| TroFi-X | 1,444 | the header is permuted: the columns are subject, verb form, object, sentence, lemma, label |
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from weft.errors import DataError

TSVETKOV = ("metaphor/tsvetkov-svo/lit_svo.csv", "metaphor/tsvetkov-svo/met_svo.csv")
MOH_X = "metaphor/moh-x/MOH-X_formatted_svo_cleaned.csv"
TROFI_X = "metaphor/trofi-x/TroFi-X_formatted_svo.csv.gz"


class Example(NamedTuple):
    """A verb in a sentence with its subject and object ("" if there is none), and whether it is a metaphor.

    `form` is the verb as the sentence has it, "" if the table does not say; `place` is its number in the sentence.
    """

    verb: str
    subject: str
    object: str
    sentence: str
    metaphor: bool
    form: str = ""
    place: int = -1


def read_tsvetkov(literal: Path, metaphors: Path) -> list[Example]:
    """The two tables of subject, verb and object."""
    found = []
    for path, metaphor in ((literal, False), (metaphors, True)):
        for number, row in _rows(path, 9):
            if not row[6].strip() or not (row[5].strip() or row[7].strip()):
                raise DataError(f"{path}, line {number}: expected a verb with a subject or an object, got {row[5:8]}")
            found.append(Example(row[6].strip(), row[5].strip(), row[7].strip(), row[8].strip(), metaphor))
    return found


def read_moh_x(path: Path) -> list[Example]:
    """The table of verbs with one argument each."""
    found = []
    for number, row in _rows(path, 6):
        words = row[3].split()
        if not row[4].isdigit() or int(row[4]) >= len(words) or row[5] not in ("0", "1"):
            raise DataError(f"{path}, line {number}: expected the place of a verb and a label, got {row[4:]}")
        place, noun = int(row[4]), row[0].strip()
        after = _place_of(noun, words[place + 1 :]) is not None or _place_of(noun, words[:place]) is None
        subject, object = ("", noun) if after else (noun, "")
        found.append(Example(row[2].strip(), subject, object, row[3].strip(), row[5] == "1", words[place], place))
    return found


def read_trofi_x(path: Path) -> list[Example]:
    """The table of TroFi-X, by the places of its columns."""
    found = []
    for number, row in _rows(path, 6):
        subject, form, object, sentence, lemma, label = (cell.strip() for cell in row)
        if label not in ("0", "1") or not lemma:
            raise DataError(f"{path}, line {number}: expected a lemma and a label, got {row[4:]}")
        found.append(Example(lemma, subject, object, sentence, label == "1", form))
    return found


def development_verbs(examples: list[Example], seed: int = 0) -> set[str]:
    """A third of the verbs, at random: resources are patched on their examples."""
    verbs = sorted({example.verb for example in examples})
    drawn = np.random.default_rng(seed).permutation(len(verbs))[: len(verbs) // 3]
    return {verbs[i] for i in drawn.tolist()}


def _rows(path: Path, width: int) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table below its header, with their lines."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8", "replace")
    reader = csv.reader(io.StringIO(text))
    for row in reader:
        if len(row) != width:
            raise DataError(f"{path}, line {reader.line_num}: expected {width} columns, got {len(row)}")
        if reader.line_num > 1:
            yield reader.line_num, row


def _place_of(noun: str, words: list[str]) -> int | None:
    """The first word that has a noun as its stem."""
    stem = noun.lower()[: max(3, len(noun) - 2)]
    return next((i for i, word in enumerate(words) if word.lower().startswith(stem)), None)

"""Readers of real test sets: "A is a B", verbs with arguments, sentences with a verb, mappings with examples."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from weft.errors import DataError
from weft.lexical.harvest.clauses import OBJECT, SUBJECT

ANOMALY, LITERAL, METAPHOR = 0, 1, 2


class Predication(NamedTuple):
    """A sentence "A is a B" with the characters of A and B, its label, and the folds that test it."""

    sentence: str
    a: tuple[int, int]
    b: tuple[int, int]
    label: int
    fold: int


class Verbal(NamedTuple):
    """A verb, its arguments as (noun, relation), and whether it is used metaphorically."""

    verb: str
    arguments: tuple[tuple[str, str], ...]
    metaphor: bool


class Example(NamedTuple):
    """A sentence and the mapping that it is an example of."""

    sentence: str
    source: str
    target: str


def _lines(path: Path) -> Iterator[str]:
    with (
        gzip.open(path, "rt", encoding="utf-8", errors="replace")
        if path.suffix == ".gz"
        else path.open(encoding="utf-8", errors="replace") as file
    ):
        yield from file


def read_predications(path: Path) -> list[Predication]:
    """The sentences of all sets of a file; a set has one fold in which it is tested."""
    found = []
    for number, line in enumerate(_lines(path), 1):
        try:
            row = json.loads(line)
            fold = row["5-folds"].index("test") if "test" in row["5-folds"] else 0
            columns = zip(row["sentences"], row["A_positions"], row["B_positions"], row["labels"], strict=True)
            for sentence, a, b, label in columns:
                if label not in (ANOMALY, LITERAL, METAPHOR):
                    raise ValueError(f"a label {label!r}")
                found.append(Predication(sentence, (int(a[0]), int(a[1])), (int(b[0]), int(b[1])), label, fold))
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise DataError(f"{path}, line {number}: expected a set of labelled sentences ({error})") from error
    return found


def _table(path: Path, width: int, separator: str = ",") -> Iterator[tuple[int, list[str]]]:
    """The rows of a table after its header, with the numbers of their lines; blank lines are left out."""
    rows = csv.reader(_lines(path), delimiter=separator)
    next(rows, None)
    for row in rows:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) < width:
            raise DataError(f"{path}, line {rows.line_num}: expected {width} columns, found {len(row)}")
        yield rows.line_num, [cell.strip() for cell in row]


def read_trofi_x(path: Path) -> list[Verbal]:
    """Rows of subject, verb form, object, sentence, lemma, label: the header names them wrongly."""
    return [
        Verbal(row[4].lower(), _arguments(row[0], row[2]), _flag(path, number, row[5]))
        for number, row in _table(path, 6)
    ]


def read_moh_x(path: Path) -> list[Verbal]:
    """Rows of an argument, nothing, the verb, the sentence, the place of the verb, label.

    An argument that stands before the verb is its subject, one after it its object.
    """
    found = []
    for number, row in _table(path, 6):
        words, noun = row[3].lower().split(), row[0].lower()
        if not row[4].isdigit() or int(row[4]) >= len(words):
            raise DataError(f"{path}, line {number}: the verb is word {row[4]!r} of {len(words)}")
        place = next((k for k, word in enumerate(words) if word.startswith(noun[:4])), len(words))
        relation = SUBJECT if place < int(row[4]) else OBJECT
        found.append(Verbal(row[2].lower(), ((noun, relation),), _flag(path, number, row[5])))
    return found


def read_tsvetkov(literal: Path, metaphoric: Path) -> list[Verbal]:
    """Rows of five judges, subject, verb, object, sentence; one file per label."""
    return [
        Verbal(row[6].lower(), _arguments(row[5], row[7]), path is metaphoric)
        for path in (literal, metaphoric)
        for _, row in _table(path, 9)
    ]


def read_trofi(path: Path) -> list[tuple[str, str, bool]]:
    """Verbs, their sentences, and whether the verb is used in a nonliteral way."""
    found = []
    for number, row in _table(path, 3):
        if row[2] not in ("literal", "metaphorical"):
            raise DataError(f"{path}, line {number}: expected literal or metaphorical, found {row[2]!r}")
        found.append((row[0].lower(), row[1], row[2] == "metaphorical"))
    return found


def read_mappings(path: Path) -> list[Example]:
    """Examples with the domains of source and target."""
    return [
        Example(row[5], row[1].lower(), row[2].lower())
        for _, row in _table(path, 6, ";")
        if row[5] and row[1] and row[2]
    ]


def _arguments(subject: str, thing: str) -> tuple[tuple[str, str], ...]:
    return tuple((noun.lower(), relation) for noun, relation in ((subject, SUBJECT), (thing, OBJECT)) if noun)


def _flag(path: Path, number: int, cell: str) -> bool:
    if cell not in ("0", "1"):
        raise DataError(f"{path}, line {number}: expected the label 0 or 1, found {cell!r}")
    return cell == "1"

"""Everyday sentences with what is right about them, and whether a pipeline agrees.

`read_sentences` reads a file such as `seen.txt`:

    == News

    Kenya's William Ruto flew to Paris.
      entities: LOC Kenya | PER William Ruto | LOC Paris
      root: flew
      tags: 's PART, flew VERB, to ADP

`score` compares a pipeline with it. A sentence counts as right if all its entities and no others are predicted, it is
one sentence with the given root, and every given word has its tag. All of them are compared by their characters in the
text, so that words which the segmenter cuts differently are wrong only where they matter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from weft.errors import FormatError
from weft.text.doc import Doc

FOLDER = Path(__file__).resolve().parent
SEEN, HELD = FOLDER / "seen.txt", FOLDER / "held.txt"
#: The share of sentences that a shipped model must have right, in each half.
FLOOR = 0.95
LABELS = ("PER", "LOC", "ORG")
TAGS = (
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "SYM", "VERB", "X",
)  # fmt: skip
FIELDS = ("entities", "root", "tags")


class Piece(NamedTuple):
    """Characters `start` to `end` (exclusive) of a sentence, and their label or tag."""

    start: int
    end: int
    label: str = ""


@dataclass(frozen=True)
class Expectation:
    """A sentence and what is right about it."""

    category: str
    line: int
    text: str
    entities: tuple[Piece, ...]
    root: Piece
    tags: tuple[Piece, ...]


@dataclass(frozen=True)
class Verdict:
    """How an analysis differs from what was expected; no faults if it is right."""

    expected: Expectation
    faults: tuple[str, ...]

    @property
    def right(self) -> bool:
        return not self.faults


@dataclass(frozen=True)
class Report:
    """The verdicts on all sentences of a file."""

    verdicts: tuple[Verdict, ...]

    @property
    def right(self) -> int:
        return sum(verdict.right for verdict in self.verdicts)

    @property
    def share(self) -> float:
        return self.right / len(self.verdicts)

    @property
    def failures(self) -> list[Verdict]:
        return [verdict for verdict in self.verdicts if not verdict.right]

    def categories(self) -> dict[str, tuple[int, int]]:
        """How many sentences of each category are right, and how many there are."""
        right, total = Counter[str](), Counter[str]()
        for verdict in self.verdicts:
            right[verdict.expected.category] += verdict.right
            total[verdict.expected.category] += 1
        return {category: (right[category], total[category]) for category in total}

    def __str__(self) -> str:
        lines = [f"{self.right} of {len(self.verdicts)} sentences are right"]
        lines += [f"  {category}: {right} of {total}" for category, (right, total) in self.categories().items()]
        for verdict in self.failures:
            lines += ["", f"line {verdict.expected.line}: {verdict.expected.text}"]
            lines += [f"  {fault}" for fault in verdict.faults]
        return "\n".join(lines)


def read_sentences(path: Path) -> list[Expectation]:
    """The sentences of a file in the format above; blank lines and lines that begin with `#` are skipped."""
    sentences: list[Expectation] = []
    category, text, begun = "", "", 0
    fields: dict[str, tuple[int, str]] = {}

    def finish() -> None:
        if text:
            sentences.append(_expectation(path, category, begun, text, fields))

    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith(" "):
            name, _, value = line.strip().partition(":")
            if not text:
                raise FormatError(str(path), number, "a sentence before what is right about it", repr(line.strip()))
            if name not in FIELDS or name in fields:
                raise FormatError(str(path), number, f"each of {', '.join(FIELDS)} once", repr(line.strip()))
            fields[name] = (number, value.strip())
            continue
        finish()
        text, begun, fields = "", number, {}
        if line.startswith("=="):
            category = line.strip("= ")
        elif not category:
            raise FormatError(str(path), number, "a category (== NAME) before the first sentence", repr(line))
        else:
            text = line.strip()
    finish()
    return sentences


def _expectation(path: Path, category: str, begun: int, text: str, fields: dict[str, tuple[int, str]]) -> Expectation:
    if missing := [name for name in FIELDS if not fields.get(name, (0, ""))[1]]:
        raise FormatError(str(path), begun, f"{', '.join(missing)} below the sentence", repr(text))
    (entity_line, named), (root_line, root), (tag_line, tagged) = (fields[name] for name in FIELDS)

    def piece(line: int, words: str, label: str, labels: Iterable[str] = ("",)) -> Piece:
        if label not in labels:
            raise FormatError(str(path), line, f"one of {', '.join(labels)}", repr(label))
        place = find_words(text, words)
        if place is None:
            raise FormatError(str(path), line, "words of the sentence", f"{words!r}, which it does not contain")
        return Piece(*place, label)

    spans = [] if named == "none" else [item.strip().partition(" ") for item in named.split("|")]
    pairs = [item.strip().rpartition(" ") for item in tagged.split(", ")]
    return Expectation(
        category,
        begun,
        text,
        tuple(piece(entity_line, words, label, LABELS) for label, _, words in spans),
        piece(root_line, root, ""),
        tuple(piece(tag_line, word, tag, TAGS) for word, _, tag in pairs),
    )


def find_words(text: str, words: str) -> tuple[int, int] | None:
    """The characters of some words in a text, the n-th time they occur if they end in `#n`.

    Only whole words are found; contractions are cut as in UD (do n't, ca n't, it 's).

    >>> find_words("It is what it is.", "is#2"), find_words("I don't.", "do"), find_words("I don't.", "n't")
    ((14, 16), (2, 4), (4, 7))
    >>> find_words("Romans", "Roman") is None
    True
    """
    numbered = re.fullmatch(r"(.+)#(\d+)", words)
    words, number = (numbered[1], int(numbered[2])) if numbered else (words, 1)
    before = r"(?<!\w)" if words[:1].isalnum() and words.lower() != "n't" else ""
    after = r"(?:(?!\w)|(?=n't\b))" if words[-1:].isalnum() else ""
    places = [match.span() for match in re.finditer(f"{before}{re.escape(words)}{after}", text)] if words else []
    return places[number - 1] if 0 < number <= len(places) else None


def score(annotate: Callable[[str], Doc], sentences: Iterable[Expectation]) -> Report:
    """Compare what a pipeline says about each sentence with what is right."""
    return Report(tuple(Verdict(each, tuple(faults(each, annotate(each.text)))) for each in sentences))


def faults(expected: Expectation, doc: Doc) -> list[str]:
    """What an analysis gets wrong, in words."""
    places = word_places(doc)
    return [
        *_entity_faults(expected, doc, places),
        *_root_faults(expected, doc, places),
        *_tag_faults(expected, doc, places),
    ]


def word_places(doc: Doc) -> list[tuple[int, int]]:
    """The characters of every word; parts of a contraction have their own, if its text consists of their forms."""
    places, position = [], 0
    for word in doc.words:
        begin = doc.text.find(word.form, max(position, word.start), word.end)
        places.append((begin, begin + len(word.form)) if begin >= 0 else (word.start, word.end))
        position = places[-1][1]
    return places


def _entity_faults(expected: Expectation, doc: Doc, places: list[tuple[int, int]]) -> list[str]:
    layer = doc.spans.get("entities", ())
    predicted = {Piece(places[row.pieces[0][0]][0], places[row.pieces[-1][1] - 1][1], row.label) for row in layer}
    wanted = set(expected.entities)
    if predicted == wanted:
        return []
    missed = [f"no {_entity(doc.text, piece)}" for piece in sorted(wanted - predicted)]
    return missed + [f"wrong {_entity(doc.text, piece)}" for piece in sorted(predicted - wanted)]


def _entity(text: str, piece: Piece) -> str:
    return f"{piece.label} {text[piece.start : piece.end]}"


def _root_faults(expected: Expectation, doc: Doc, places: list[tuple[int, int]]) -> list[str]:
    roots = [place for place, word in zip(places, doc.words, strict=True) if word.is_root]
    if roots == [expected.root[:2]]:
        return []
    wanted = doc.text[expected.root.start : expected.root.end]
    if doc.n_sentences != 1:
        return [f"root {wanted}: cut into {doc.n_sentences} sentences"]
    return [f"root {wanted}: is {', '.join(doc.text[start:end] for start, end in roots) or 'missing'}"]


def _tag_faults(expected: Expectation, doc: Doc, places: list[tuple[int, int]]) -> list[str]:
    tags = {place: word.upos for place, word in zip(places, doc.words, strict=True)}
    differing = []
    for piece in expected.tags:
        tag = tags.get(piece[:2])
        if tag != piece.label:
            word = doc.text[piece.start : piece.end]
            differing.append(f"{word} {piece.label}: is {'not a word' if tag is None else tag or 'not tagged'}")
    return differing


def as_record(report: Report, with_failures: bool) -> dict[str, Any]:
    """The report as plain values for `results/everyday.json`; without failures only how many are right."""
    record: dict[str, Any] = {"sentences": len(report.verdicts), "right": report.right}
    if with_failures:
        record["categories"] = {name: list(counts) for name, counts in report.categories().items()}
        record["failures"] = [
            {"category": verdict.expected.category, "text": verdict.expected.text, "faults": list(verdict.faults)}
            for verdict in report.failures
        ]
    return record

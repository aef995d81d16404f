"""Sentences with mentions and tuples, as the models of relations see them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from weft.errors import DataError
from weft.text.conventions.tuples import tuple_rows
from weft.text.doc import Doc
from weft.text.layers import words_of_chars

#: A gold tuple: the relation, and the slots with the mentions of the sentence that fill them.
Gold = tuple[str, frozenset[tuple[str, int]]]


class Mention(NamedTuple):
    """The words of a mention, counted in its sentence, and its type."""

    start: int
    end: int
    type: str


@dataclass
class Sample:
    """A sentence: words, tags and heads (if they are used), mentions in text order, and gold tuples."""

    words: list[str]
    mentions: list[Mention]
    tags: list[str] = field(default_factory=list)
    heads: list[int] = field(default_factory=list)  # numbers of words, -1 for a root
    relations: list[str] = field(default_factory=list)  # of words to their heads
    tuples: list[Gold] = field(default_factory=list)
    spans: list[int] = field(default_factory=list)  # numbers of the mentions in their layer
    context: bool = False  # whether pairs have features of other mentions

    @property
    def types(self) -> list[str]:
        return [mention.type for mention in self.mentions]

    def is_together(self, label: str, one: tuple[str, int], other: tuple[str, int]) -> bool:
        """Whether two filled slots are part of one gold tuple."""
        return any(name == label and one in members and other in members for name, members in self.tuples)

    def first(self, most: int) -> Sample:
        """The sentence with its first mentions only, and with the gold tuples between them.

        >>> sample = Sample(["a", "b", "c"], [Mention(k, k + 1, "X") for k in range(3)],
        ...                 tuples=[("r", frozenset([("x", 0), ("y", 2)]))])
        >>> len(sample.first(2).mentions), sample.first(2).tuples
        (2, [])
        """
        if len(self.mentions) <= most:
            return self
        kept = [each for each in self.tuples if all(mention < most for _, mention in each[1])]
        return replace(self, mentions=self.mentions[:most], spans=self.spans[:most], tuples=kept)


@dataclass(frozen=True)
class Reading:
    """What of a document is read: the layers, and the columns of tags and trees, if they are used."""

    mentions: str
    layer: str
    tags: str = ""
    trees: bool = False
    context: bool = False


def samples_of(doc: Doc, reading: Reading, gold: bool = False) -> tuple[list[Sample], int]:
    """The sentences of a document, and how many gold tuples are not within one sentence.

    Mentions that go beyond their sentence belong to none.
    """
    if reading.mentions not in doc.spans:
        known = ", ".join(doc.spans) or "none"
        raise DataError(
            f"{doc.id or 'a document'} has no span layer {reading.mentions!r} of mentions (it has: {known})"
        )
    bounds = doc.sentence_offsets.tolist()
    forms = [form.lower() for form in doc.column("form")]
    tags = doc.column(reading.tags) if reading.tags else []
    samples = [
        Sample(forms[first:end], [], tags[first:end], *_tree(doc, first, end, reading.trees), context=reading.context)
        for first, end in pairwise(bounds)
    ]
    spans = words_of_chars(doc, doc.spans[reading.mentions])
    placed: dict[int, tuple[int, int]] = {}
    rows = sorted((row.pieces[0][0], row.pieces[-1][1], row.label, number) for number, row in enumerate(spans))
    for start, end, label, number in rows:
        sentence = bisect_right(bounds, start) - 1
        if 0 <= sentence < len(samples) and end <= bounds[sentence + 1]:
            own, first = samples[sentence], bounds[sentence]
            placed[number] = sentence, len(own.mentions)
            own.mentions.append(Mention(start - first, end - first, label))
            own.spans.append(number)
    lost = 0
    for row in tuple_rows(doc, reading.layer) if gold else ():
        places = [placed.get(span) for _, span in row.members]
        if None in places or len({place[0] for place in places if place}) > 1:
            lost += 1
            continue
        members = frozenset(
            (slot, place[1]) for (slot, _), place in zip(row.members, places, strict=True) if place is not None
        )
        samples[places[0][0]].tuples.append((row.label, members))  # type: ignore[index]
    return samples, lost


def _tree(doc: Doc, first: int, end: int, wanted: bool) -> tuple[list[int], list[str]]:
    if not wanted or doc.head is None:
        return [], []
    heads = [head - 1 if head > 0 else -1 for head in doc.head[first:end].tolist()]
    relations: Sequence[str] = doc.strings.strings(doc.columns["deprel"][first:end]) if "deprel" in doc.columns else []
    return heads, [name.split(":")[0] for name in relations] or [""] * len(heads)

"""From documents to the arrays of the search: open words, candidates, features, gold structures."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Halves, Ints
from weft.errors import DataError
from weft.features.lexicon import Lexicon, LowerCase
from weft.hashing import hash_strings
from weft.infer.slots.problem import Batch
from weft.kernel import kernel
from weft.lexical.clusters.monolingual import load_clusters
from weft.lexical.relatives import Relatives
from weft.tasks.events.atoms import (
    FAR,
    Spans,
    Words,
    child_features,
    contexts_of,
    joint_of,
    label_features,
    role_features,
    synonymous,
)
from weft.tasks.events.templates import CLASS_ATOMS, FORM_ATOMS, WORD_ATOMS, compiled
from weft.text.conventions.events import anchors_of_events
from weft.text.doc import Doc
from weft.text.frames import head_of_span
from weft.text.layers import words_of_chars

#: Relations whose dependents begin a clause.
CLAUSES = ("ccomp", "xcomp", "advcl", "acl", "csubj", "parataxis", "SBAR", "conj")
#: The type of a filler that is an event, as a string of features.
EVENT = "event"
_LEMMA, _TAG, _REL, _NORM = (WORD_ATOMS.index(name) for name in ("lemma", "tag", "rel", "norm"))
_SYNSET, _VERB, _CLUSTERS = (WORD_ATOMS.index(name) for name in CLASS_ATOMS[:3])


class Candidate(tuple[int, int, str]):
    """A candidate of a document: its words `start:end` and its type."""

    __slots__ = ()


@dataclass(frozen=True)
class Reading:
    """What of documents is read: layers, columns, and how far from its trigger an argument may stand."""

    mentions: str = "entities"
    layer: str = "events"
    tags: str = ""
    lemmas: bool = False
    trees: bool = False
    reach: int = 0
    nested: bool = False


@dataclass
class Places:
    """The sentences of a batch: their positions and candidates, as numbers of words of the documents."""

    doc: list[int] = field(default_factory=list)  # by sentence
    positions: list[list[int]] = field(default_factory=list)
    candidates: list[list[Candidate]] = field(default_factory=list)


def candidates_of(doc: Doc, reading: Reading) -> list[Candidate]:
    """The mentions of a document that are no triggers, in text order.

    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["Ada", "left"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "person")])
    >>> candidates_of(doc, Reading())
    [(0, 1, 'person')]
    """
    layer = doc.spans.get(reading.mentions)
    if layer is None:
        known = ", ".join(doc.spans) or "none"
        raise DataError(
            f"{doc.id or 'a document'} has no span layer {reading.mentions!r} of mentions (it has: {known})"
        )
    triggers = anchors_of_events(doc, reading.layer).get(reading.mentions, set())
    rows = {
        (row.pieces[0][0], row.pieces[-1][1], row.label)
        for number, row in enumerate(words_of_chars(doc, layer))
        if number not in triggers
    }
    return [Candidate(row) for row in sorted(rows)]


def places_of(docs: Sequence[Doc], reading: Reading, opened: Sequence[Bools]) -> Places:
    """The sentences that have open words; candidates of a sentence are those whose first word is within reach."""
    places = Places()
    for number, doc in enumerate(docs):
        bounds = doc.sentence_offsets.tolist()
        every = candidates_of(doc, reading)
        starts = [each[0] for each in every]
        for index, (first, end) in enumerate(pairwise(bounds)):
            words = np.flatnonzero(opened[number][first:end]) + first
            if not len(words):
                continue
            low = bounds[max(0, index - reading.reach)]
            high = bounds[min(len(bounds) - 1, index + 1 + reading.reach)]
            places.doc.append(number)
            places.positions.append(words.tolist())
            own = every[bisect_right(starts, low - 1) : bisect_right(starts, high - 1)]
            places.candidates.append([each for each in own if each[1] <= high])
    return places


class Atoms:
    """Computes the atoms of words; what forms have is computed once per form."""

    def __init__(self, relatives: Relatives | None = None, clusters: Mapping[str, str] | None = None) -> None:
        self.relatives, self.clusters = relatives or Relatives(), dict(clusters or {})
        self._paths = Lexicon(CLASS_ATOMS[2:], clusters=self.clusters)
        self._lower = Lexicon(["form", *FORM_ATOMS[1:-1]], classes=LowerCase())
        self._shape = Lexicon(["brief"])

    @classmethod
    def for_words(cls, docs: Sequence[Doc], reading: Reading, wordnet: str = "", clusters: str = "") -> Atoms:
        """Atoms with classes of words from a WordNet database and from word clusters: those that documents have."""
        relatives, kept = None, {}
        if wordnet:
            from weft.lexical.resources.synsets import open_wordnet

            column = "lemma" if reading.lemmas else "form"
            relatives = Relatives.of(open_wordnet(wordnet), {each for doc in docs for each in doc.column(column)})
        if clusters:
            paths = load_clusters(clusters)
            beginnings = {paths[form][:13] for doc in docs for form in doc.column("form") if form in paths}
            kept = {word: path for word, path in paths.items() if path[:13] in beginnings}
        return cls(relatives, kept)

    def of(
        self, docs: Sequence[Doc], reading: Reading, candidates: Sequence[Sequence[Candidate]]
    ) -> tuple[Words, Ints]:
        """The words of documents, and where those of each document begin; `candidates` by document."""
        offsets = np.cumsum([0, *(doc.n_words for doc in docs)])
        total = int(offsets[-1])
        atoms = np.zeros((total, len(WORD_ATOMS)), np.uint64)
        heads, first, end = np.full(total, -1, np.int64), np.zeros(total, np.int64), np.zeros(total, np.int64)
        marks, clauses = np.zeros(total, np.uint8), np.zeros(total, np.uint8)
        for number, doc in enumerate(docs):
            base, own = int(offsets[number]), slice(int(offsets[number]), int(offsets[number + 1]))
            ids = doc.columns["form"]
            rows, values = self._lower.lookup(doc.strings, ids)
            atoms[own, : len(FORM_ATOMS) - 1] = values[rows]
            rows, values = self._shape.lookup(doc.strings, ids)
            atoms[own, len(FORM_ATOMS) - 1] = values[rows][:, 0]
            for at in (1, 2, 3):  # words shorter than a prefix are their own
                missing = atoms[own, at] == 0
                atoms[own, at][missing] = atoms[own, 0][missing]
            atoms[own, _LEMMA] = _hashed(doc, "lemma") if reading.lemmas else atoms[own, 3]
            if reading.tags:
                atoms[own, _TAG] = _hashed(doc, reading.tags)
            sizes = np.diff(doc.sentence_offsets)
            starts = np.repeat(doc.sentence_offsets[:-1], sizes)
            first[own], end[own] = starts + base, np.repeat(doc.sentence_offsets[1:], sizes) + base
            marks[own] = _is_mark(doc)
            if reading.trees and doc.head is not None:
                heads[own] = np.where(doc.head > 0, starts + doc.head - 1 + base, -1)
                atoms[own, _REL] = _hashed(doc, "deprel")
                clauses[own] = _is_clause(doc)
            norm = atoms[own, _LEMMA].copy()
            if candidates[number]:
                names = hash_strings([f"<{each[2]}>" for each in candidates[number]])
                for (start, stop, _), name in zip(candidates[number], names, strict=True):
                    norm[start:stop] = name
            atoms[own, _NORM] = norm
            if self.relatives:
                column = "lemma" if reading.lemmas else "form"
                atoms[own, _SYNSET] = _hashed(doc, column, self.relatives.synset)
                atoms[own, _VERB] = _hashed(doc, column, self.relatives.verb)
            if self.clusters:
                rows, values = self._paths.lookup(doc.strings, ids)
                atoms[own, _CLUSTERS:] = values[rows]
        return Words(atoms, heads, first, end, marks, clauses), offsets

    @property
    def classes(self) -> bool:
        """Whether words have classes: of a network, or clusters."""
        return bool(self.relatives) or bool(self.clusters)


def _hashed(doc: Doc, column: str, classes: Mapping[str, str] | None = None) -> NDArray[np.uint64]:
    """The strings of a column as keys, or the classes of its strings; 0 for a string that has none."""
    ids, places = np.unique(doc.columns[column], return_inverse=True)
    strings = doc.strings.strings(ids)
    if classes is None:
        return hash_strings(strings)[places]
    found = [classes.get(each.lower(), "") for each in strings]
    return np.where([bool(each) for each in found], hash_strings(found), np.uint64(0))[places]


def _is_mark(doc: Doc) -> NDArray[np.uint8]:
    ids, places = np.unique(doc.columns["form"], return_inverse=True)
    marks = [not any(map(str.isalnum, form)) for form in doc.strings.strings(ids)]
    return np.array(marks, np.uint8)[places]


def _is_clause(doc: Doc) -> NDArray[np.uint8]:
    ids, places = np.unique(doc.columns["deprel"], return_inverse=True)
    return np.array([name.split(":")[0] in CLAUSES for name in doc.strings.strings(ids)], np.uint8)[places]


def encode(docs: Sequence[Doc], reading: Reading, places: Places, types: dict[str, int], atoms: Atoms) -> Batch:
    """The arrays of the sentences of some documents; a type that is not known is that of no table: `len(types)`."""
    own: list[list[Candidate]] = [[] for _ in docs]
    for number, doc in enumerate(docs):
        own[number] = candidates_of(doc, reading)
    words, offsets = atoms.of(docs, reading, own)
    positions, spans, counts = [], [], []
    for number, words_of, candidates in zip(places.doc, places.positions, places.candidates, strict=True):
        base = int(offsets[number])
        positions += [word + base for word in words_of]
        for start, end, label in candidates:
            head = head_of_span(docs[number], start, end)[0] if reading.trees else end - 1
            spans.append((start + base, end + base, head + base, types.get(label, len(types)), f"<{label}>"))
        if reading.nested:
            spans += [(word + base, word + base + 1, word + base, -1, EVENT) for word in words_of]
        counts.append((len(words_of), len(candidates)))
    table = np.array([row[:4] for row in spans], np.int64).reshape(-1, 4)
    names = hash_strings([row[4] for row in spans]) if spans else np.zeros(0, np.uint64)
    columns = [np.ascontiguousarray(table[:, k]) for k in range(3)]
    laid = Spans(columns[0], columns[1], columns[2], table[:, 3].astype(np.int32), names)
    sizes = np.array(counts, np.int64).reshape(-1, 2)
    return _batch(words, laid, np.array(positions, np.int64), sizes, int(reading.nested), atoms.classes)


def _batch(words: Words, spans: Spans, positions: Ints, sizes: Ints, nested: int, classes: bool) -> Batch:
    s, m = sizes[:, 0], sizes[:, 1]
    width = m + nested * s
    starts = [np.concatenate([[0], np.cumsum(each)]).astype(np.int64) for each in (s, m, s * width, s * s, m * m)]
    first_span = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
    triggers, pairs = compiled("triggers", classes), compiled("pairs", classes)
    n_cells = int(starts[2][-1])
    label_keys = np.zeros(int(s.sum()) * len(triggers) + 4 * len(words.heads), np.uint32)
    label_offsets = np.zeros(int(s.sum()) + 1, np.int64)
    cell_offsets = np.zeros(n_cells + 1, np.int64)
    room = _room_of_cells(words, spans, positions, sizes, first_span, nested, len(pairs))
    cell_keys = np.zeros(room, np.uint32)
    links, alike = np.zeros((int(starts[3][-1]), 3), np.uint32), np.zeros(int(starts[3][-1]), np.uint8)
    joints, overlaps = np.zeros((int(starts[4][-1]), 2), np.uint32), np.zeros(int(starts[4][-1]), np.uint8)
    used = _fill(
        words, spans, positions, sizes, first_span, nested, triggers, pairs, label_offsets, label_keys, cell_offsets,
        cell_keys, links, alike, joints, overlaps,
    )  # fmt: skip
    none = np.zeros(0, np.int64)
    kept = np.concatenate([none, *(np.arange(a, a + n) for a, n in zip(first_span[:-1], m, strict=True))])
    return Batch(
        starts[0], starts[1], label_offsets, label_keys[: used[0]].copy(), np.full(len(positions), -1, np.int16),
        spans.kind[kept], starts[2], cell_offsets,
        cell_keys[: used[1]].copy(), starts[3][:-1], links, alike, starts[4][:-1], joints, overlaps, nested,
    )  # fmt: skip


@kernel
def _room_of_cells(
    words: Words, spans: Spans, positions: Ints, sizes: Ints, first_span: Ints, nested: int, templates: int
) -> int:
    """How many features all slots have at most."""
    room = 0
    position = 0
    for number in range(len(sizes)):
        for _ in range(sizes[number, 0]):
            word = positions[position]
            position += 1
            for c in range(first_span[number], first_span[number + 1]):
                gap = max(spans.start[c] - word, word - spans.end[c])
                room += templates + (2 * (gap + 1) if 0 <= gap <= FAR else 0)
    return room


@kernel
def _fill(
    words: Words, spans: Spans, positions: Ints, sizes: Ints, first_span: Ints, nested: int,
    triggers: NDArray[np.int16], pairs: NDArray[np.int16], label_offsets: Ints, label_keys: Halves,
    cell_offsets: Ints, cell_keys: Halves, links: Halves, alike: NDArray[np.uint8], joints: Halves,
    overlaps: NDArray[np.uint8],
) -> tuple[int, int]:  # fmt: skip
    """Fill the arrays of a batch; how many features of labels and of roles there are."""
    position, cell, square, block = 0, 0, 0, 0
    labels, roles = 0, 0
    row = np.zeros((1, 3), np.uint32)
    for number in range(len(sizes)):
        s, m = sizes[number, 0], sizes[number, 1]
        low = first_span[number]
        for i in range(s):
            word = positions[position + i]
            labels = label_features(words, spans, low, low + m, word, triggers, label_keys, labels)
            labels = child_features(words, word, label_keys, labels)
            label_offsets[position + i + 1] = labels
            for c in range(low, first_span[number + 1]):
                if c < low + m or c - low - m != i:
                    roles = role_features(words, spans, low, low + m, word, c, pairs, cell_keys, roles)
                cell += 1
                cell_offsets[cell] = roles
            for j in range(i):
                other = positions[position + j]
                contexts_of(words, other, word, row[0], 0)
                at = square + i * s + j
                links[at, 0], links[at, 1], links[at, 2] = row[0, 0], row[0, 1], row[0, 2]
                alike[at] = synonymous(words, word, other)
        for a in range(m):
            for b in range(a + 1, m):
                at = block + a * m + b
                row[0, 0] = row[0, 1] = 0
                overlaps[at] = joint_of(words, spans, low + a, low + b, row[0], 0)
                joints[at, 0], joints[at, 1] = row[0, 0], row[0, 1]
        position += s
        square += s * s
        block += m * m
    return labels, roles

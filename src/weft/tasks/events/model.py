"""The model of events: a schema, weights, and what they predict for documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.declared import Array, Stored
from weft.errors import ModelError
from weft.infer.slots.beam import best
from weft.infer.slots.problem import Batch, Labels, Roles, Weights
from weft.infer.slots.weights import averaged, keys_of, rows_of
from weft.lexical.relatives import Relatives
from weft.storage import Arrays
from weft.tasks.events.encode import Atoms, Candidate, Places, Reading, encode, places_of
from weft.tasks.events.schema import Schema
from weft.text.conventions.events import EventRow, Filler
from weft.text.doc import Doc

_KEYS = Array("keys", "uint32", ("rows",), low=1, rising=True)
_PARTS = ("labels", "roles", "whole")
_BONUS = Array("bonus", "float64", (2,), within=(-1e6, 1e6))
#: Longest trigger, in words, that is put together again.
LONGEST_TRIGGER = 6


class Found(NamedTuple):
    """An event as numbers: its word, label, and arguments as (role, candidate or -1, word of an inner event or -1)."""

    sentence: int
    word: int
    label: int
    arguments: tuple[tuple[int, int, int], ...]


@dataclass
class Encoded:
    """Documents as arrays, with what the arrays stand for."""

    docs: Sequence[Doc]
    places: Places
    batch: Batch


@dataclass
class EventModel:
    """A schema and weights."""

    schema: Schema
    reading: Reading
    weights: Weights
    atoms: Atoms = field(default_factory=Atoms)

    def encode(self, docs: Sequence[Doc]) -> Encoded:
        """The arrays of documents."""
        return encode_docs(docs, self.schema, self.reading, self.atoms)

    def predict(self, encoded: Encoded, width: int) -> list[list[EventRow]]:
        """The events of every document."""
        labels, roles, _ = best(encoded.batch, self.schema.table, self.weights, width)
        return rows_of_events(encoded, self.schema, labels, roles)

    def arrays(self) -> Arrays:
        """The arrays of a model file."""
        found: Arrays = {"bonus": self.weights.bonus}
        if self.atoms.relatives:
            found["relatives"] = _packed(self.atoms.relatives.lines())
        if self.atoms.clusters:
            found["clusters"] = _packed(f"{word}\t{path}" for word, path in sorted(self.atoms.clusters.items()))
        for part in _PARTS:
            keys, values = averaged(getattr(self.weights, part), 1.0)
            found |= {f"{part}.keys": keys, f"{part}.values": values}
        return found

    @classmethod
    def from_arrays(cls, stored: Stored, schema: Schema, reading: Reading, use_global: bool) -> EventModel:
        """Restore a model from checked arrays."""
        table = schema.table
        parts = []
        for part, width in zip(_PARTS, (table.label_width, table.role_width, 1), strict=True):
            values = Array("values", "float32", ("rows", width), within=(-1e6, 1e6))
            taken = stored.under(f"{part}.").take(_KEYS, values)
            parts.append(rows_of(taken["keys"], taken["values"]))
        bonus: Floats = np.array(stored.take(_BONUS)["bonus"])
        files = stored.take(*(Array(name, "uint8", ("*",), optional=True) for name in ("relatives", "clusters")))
        relatives = Relatives.from_lines(_unpacked(files["relatives"])) if "relatives" in files else None
        pairs = (line.partition("\t") for line in _unpacked(files["clusters"])) if "clusters" in files else ()
        atoms = Atoms(relatives, {word: path for word, _, path in pairs})
        return cls(schema, reading, Weights(parts[0], parts[1], parts[2], bonus, int(use_global)), atoms)

    @property
    def size(self) -> int:
        """The number of features that have weights."""
        return sum(len(keys_of(getattr(self.weights, part))) for part in _PARTS)


def _packed(lines: Iterable[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(lines).encode(), dtype=np.uint8)


def _unpacked(array: NDArray[Any]) -> list[str]:
    try:
        return array.tobytes().decode().splitlines()
    except UnicodeDecodeError as error:
        raise ModelError("the model file holds a list of words that is not UTF-8; it is damaged") from error


def encode_docs(docs: Sequence[Doc], schema: Schema, reading: Reading, atoms: Atoms) -> Encoded:
    """Documents as arrays under a schema."""
    places = places_of(docs, reading, [schema.opened(doc) for doc in docs])
    types = {name: number for number, name in enumerate(schema.types)}
    return Encoded(docs, places, encode(docs, reading, places, types, atoms))


def found_events(encoded: Encoded, labels: Labels, roles: Roles) -> list[Found]:
    """Predicted structures as events, by sentence and word."""
    batch, places = encoded.batch, encoded.places
    found = []
    for number, words in enumerate(places.positions):
        first = int(batch.positions[number])
        own = labels[first : first + len(words)]
        if not (own > 0).any():
            continue
        matrix = roles[int(batch.cells[number]) : int(batch.cells[number + 1])].reshape(len(words), -1)
        m = len(places.candidates[number])
        for at in np.flatnonzero(own > 0).tolist():
            arguments = tuple(
                (int(matrix[at, k]), k if k < m else -1, words[k - m] if k >= m else -1)
                for k in np.flatnonzero(matrix[at] > 0).tolist()
            )
            found.append(Found(number, words[at], int(own[at]), arguments))
    return found


def rows_of_events(encoded: Encoded, schema: Schema, labels: Labels, roles: Roles) -> list[list[EventRow]]:
    """Predicted structures as events of documents."""
    rows: list[list[EventRow]] = [[] for _ in encoded.docs]
    by_sentence: dict[int, list[Found]] = {}
    for each in found_events(encoded, labels, roles):
        by_sentence.setdefault(each.sentence, []).append(each)
    for sentence, events in by_sentence.items():
        number = encoded.places.doc[sentence]
        own, candidates = rows[number], encoded.places.candidates[sentence]
        place = {each.word: len(own) + at for at, each in enumerate(events)}
        for each in events:
            fillers = tuple(
                _filler(schema.roles[role], candidates[c]) if c >= 0 else Filler(schema.roles[role], place[inner])
                for role, c, inner in each.arguments
            )
            span = spelled_out(encoded.docs[number], each.word, schema)
            own.append(EventRow(schema.labels[each.label], (span,), fillers))
    return rows


def _filler(role: str, candidate: Candidate) -> Filler:
    start, end, label = candidate
    return Filler(role, -1, ((start, end),), label)


def spelled_out(doc: Doc, word: int, schema: Schema) -> tuple[int, int]:
    """The words of a trigger: the longest one of training data that stands here with this word as its trigger word."""
    if schema.spelled:
        bounds = doc.sentence_offsets
        sentence = int(np.searchsorted(bounds, word, side="right"))
        low, high = int(bounds[sentence - 1]), int(bounds[sentence])
        forms = [form.lower() for form in doc.strings.strings(doc.columns["form"][low:high])]
        for length in range(LONGEST_TRIGGER, 1, -1):
            for start in range(max(low, word - length + 1), min(word, high - length) + 1):
                if schema.spelled.get(" ".join(forms[start - low : start - low + length])) == word - start:
                    return start, start + length
    return word, word + 1

"""What is known of events from training data: types, roles, the role table, closed words, triggers of several words.

    Attack.Target may be a person, a weapon ...           a hard constraint: nothing else is ever predicted

Types of events back off to coarse ones: what stands before the first point or colon (`Life.Die`), else the last word of
the name (`Positive_regulation`). Roles such as Place and Time mean the same for all events and share their weights.
Frequent words that never were a trigger are closed: they are not searched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Bools
from weft.errors import DataError
from weft.headers import Many, Record, Table, Text, Whole
from weft.infer.slots.problem import Labels, Roles, make_table
from weft.infer.slots.problem import Table as RoleTable
from weft.tasks.events.encode import Candidate, Places, Reading
from weft.text.conventions.events import EventRow
from weft.text.doc import Doc
from weft.text.frames import head_of_span
from weft.text.layers import Pieces

NONE = ""
#: Letters of a name before the first point or colon; its last word.
_BEFORE, _LAST = re.compile(r"^[^.:]+(?=[.:])"), re.compile(r"(?<![A-Za-z])[A-Za-z]+$")
_SHARED = re.compile(r"^(place|time)", re.IGNORECASE)
SCHEMA = Record(
    labels=Many(Text(), least=2, distinct=True), types=Many(Text(), distinct=True), roles=Many(Text(), distinct=True),
    allowed=Many(Many(Whole(0, 30_000), 3), 0), closed=Many(Text()), spelled=Table(),
)  # fmt: skip


@dataclass
class Schema:
    """The names behind the numbers, and what is possible.

    >>> schema = Schema(["", "Die"], ["person"], ["", "Victim"], [(1, 0, 1)], set(), {})
    >>> schema.table.columns[1, 0].tolist()
    [0, 2]
    """

    labels: list[str]  # the first is "", no event
    types: list[str]
    roles: list[str]  # the first is "", no role
    allowed: list[tuple[int, int, int]]  # label, type (labels follow types), role
    closed: set[str]  # in lower case
    spelled: dict[str, int]  # triggers of several words in lower case: which of them is the trigger word

    @property
    def table(self) -> RoleTable:
        """The role table as columns of weights."""
        labels, types = len(self.labels), len(self.types) + 1  # and one for unknown types
        possible = np.zeros((labels, types + labels, len(self.roles)), np.bool_)
        for label, kind, role in self.allowed:
            possible[label, kind if kind < len(self.types) else kind + 1, role] = True
        names: dict[str, int] = {}
        coarse = [-1] + [names.setdefault(coarse_of(label), len(names)) for label in self.labels[1:]]
        return make_table(possible, coarse, [bool(_SHARED.match(role)) for role in self.roles])

    def opened(self, doc: Doc) -> Bools:
        """The words of a document that may be triggers."""
        ids, places = np.unique(doc.columns["form"], return_inverse=True)
        forms = doc.strings.strings(ids)
        known = [any(map(str.isalnum, form)) and form.lower() not in self.closed for form in forms]
        return np.array(known, np.bool_)[places]

    def told(self) -> list[str]:
        """The role table as lines: type of event, role, types of fillers."""
        rows: dict[tuple[int, int], list[str]] = {}
        for label, kind, role in sorted(self.allowed):
            of_event = kind >= len(self.types)
            name = f"event {self.labels[kind - len(self.types)]}" if of_event else self.types[kind]
            rows.setdefault((label, role), []).append(name)
        return [f"{self.labels[a]}.{self.roles[b]}: {', '.join(names)}" for (a, b), names in rows.items()]

    def to_dict(self) -> dict[str, Any]:
        """The schema as plain values."""
        return {
            "labels": self.labels, "types": self.types, "roles": self.roles,
            "allowed": [list(each) for each in self.allowed], "closed": sorted(self.closed), "spelled": self.spelled,
        }  # fmt: skip

    @classmethod
    def from_dict(cls, values: Any) -> Schema:
        """Restore a schema from the header of a model."""
        SCHEMA.check(values)
        sizes = len(values["labels"]), len(values["types"]) + len(values["labels"]), len(values["roles"])
        for row in values["allowed"]:
            if any(number >= size for number, size in zip(row, sizes, strict=True)):
                raise DataError(f"the role table names {row}, beyond the sizes {sizes}; train the model again")
        spelled = {key: place for key, place in values["spelled"].items() if isinstance(place, int)}
        allowed = [(int(a), int(b), int(c)) for a, b, c in values["allowed"]]
        return cls(values["labels"], values["types"], values["roles"], allowed, set(values["closed"]), spelled)


def coarse_of(label: str) -> str:
    """The coarse type of an event.

    >>> coarse_of("Life.Die"), coarse_of("Positive_regulation"), coarse_of("Attack")
    ('Life', 'regulation', 'attack')
    """
    before = _BEFORE.match(label)
    last = _LAST.search(label)
    return before[0] if before else last[0].lower() if last else label


def trigger_word(doc: Doc, pieces: Pieces, trees: bool) -> int:
    """The one word of a trigger that is labelled: its head in the tree, else its last word."""
    start, end = pieces[-1]
    return head_of_span(doc, start, end)[0] if trees else end - 1


def learn_schema(docs: Sequence[Doc], rows: Sequence[Sequence[EventRow]], reading: Reading, common: int = 10) -> Schema:
    """What training documents with events tell; words met at least `common` times that are no trigger are closed."""
    labels, types, roles = {NONE: 0}, dict[str, int](), {NONE: 0}
    table: set[tuple[str, str, bool, str]] = set()
    counts: Counter[str] = Counter()
    triggers: set[str] = set()
    spelled: dict[str, int] = {}
    for doc, events in zip(docs, rows, strict=True):
        forms = [form.lower() for form in doc.column("form")]
        counts.update(forms)
        for event in events:
            labels.setdefault(event.type, len(labels))
            word = trigger_word(doc, event.trigger, reading.trees)
            triggers.add(forms[word])
            if len(event.trigger) == 1 and event.trigger[0][1] - event.trigger[0][0] > 1:
                start, end = event.trigger[0]
                spelled.setdefault(" ".join(forms[start:end]), word - start)
            for filler in event.arguments:
                if filler.event < 0:
                    types.setdefault(filler.label, len(types))
                    table.add((event.type, filler.label, False, filler.role))
                elif reading.nested:
                    table.add((event.type, events[filler.event].type, True, filler.role))
                else:
                    continue
                roles.setdefault(filler.role, len(roles))
    allowed = [
        (labels[event], len(types) + labels[kind] if inner else types[kind], roles[role])
        for event, kind, inner, role in table
    ]
    closed = {form for form, count in counts.items() if count >= common and form not in triggers}
    return Schema(list(labels), list(types), list(roles), sorted(allowed), closed if common else set(), spelled)


def gold_of(
    docs: Sequence[Doc], rows: Sequence[Sequence[EventRow]], reading: Reading, places: Places, schema: Schema
) -> tuple[Labels, Roles, Counter[str]]:
    """Gold labels by position and roles by slot, and what of the events has no place among them.

    A word has one label: that of its first event. Events of one type on one word are joined.
    """
    label_of = {name: number for number, name in enumerate(schema.labels)}
    role_of = {name: number for number, name in enumerate(schema.roles)}
    possible = set(schema.allowed)
    type_of = {name: number for number, name in enumerate(schema.types)}
    lost: Counter[str] = Counter()
    by_word: list[dict[int, list[int]]] = []
    for doc, events in zip(docs, rows, strict=True):
        own: dict[int, list[int]] = {}
        for number, event in enumerate(events):
            own.setdefault(trigger_word(doc, event.trigger, reading.trees), []).append(number)
        by_word.append(own)
    lost["triggers"] = sum(len({rows[d][n].type for n in ns}) for d, own in enumerate(by_word) for ns in own.values())
    lost["arguments"] = sum(
        len({(event.type, filler) for n in ns for event in [rows[d][n]] for filler in event.arguments
             if filler.event < 0 or reading.nested})
        for d, own in enumerate(by_word) for ns in own.values()
    )  # fmt: skip
    labels: list[int] = []
    cells: list[np.ndarray] = []
    for doc_number, words, candidates in zip(places.doc, places.positions, places.candidates, strict=True):
        doc, events, own = docs[doc_number], rows[doc_number], by_word[doc_number]
        place = {word: at for at, word in enumerate(words)}
        slot = _slots(candidates)
        s, m = len(words), len(candidates)
        matrix = np.zeros((s, m + (s if reading.nested else 0)), np.int16)
        found = [events[own[word][0]].type if word in own else NONE for word in words]
        numbers = [label_of.get(name, 0) for name in found]
        labels += numbers
        lost["triggers"] -= sum(number > 0 for number in numbers)
        for at, word in enumerate(words):
            for number in own.get(word, ()) if numbers[at] else ():
                event = events[number]
                if event.type != found[at]:
                    continue
                for filler in event.arguments:
                    if filler.event >= 0:
                        inner = trigger_word(doc, events[filler.event].trigger, reading.trees)
                        if not reading.nested or inner not in place or not numbers[place[inner]] or inner == word:
                            continue
                        column, kind = m + place[inner], len(schema.types) + numbers[place[inner]]
                    else:
                        span = (filler.pieces[0][0], filler.pieces[-1][1], filler.label)
                        if span not in slot:
                            continue
                        column, kind = slot[span], type_of.get(filler.label, -1)
                    role = role_of.get(filler.role, 0)
                    if (numbers[at], kind, role) in possible and not matrix[at, column]:
                        back = column >= m and _reaches(matrix, m, column - m, at)
                        if not back:
                            matrix[at, column] = role
                            lost["arguments"] -= 1
        cells.append(matrix.ravel())
    flat = np.concatenate([np.zeros(0, np.int16), *cells])
    return np.array(labels, np.int16), flat, +lost


def _slots(candidates: Sequence[Candidate]) -> dict[tuple[int, int, str], int]:
    return {(each[0], each[1], each[2]): number for number, each in enumerate(candidates)}


def _reaches(matrix: Roles, m: int, start: int, goal: int) -> bool:
    """Whether one position is reached from another over nested roles."""
    waiting, seen = [start], {start}
    while waiting:
        at = waiting.pop()
        if at == goal:
            return True
        new = [int(k) for k in np.flatnonzero(matrix[at, m:]) if int(k) not in seen]
        seen.update(new)
        waiting += new
    return False

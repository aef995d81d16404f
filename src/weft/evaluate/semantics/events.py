"""Scores of events: triggers and arguments, identified and classified.

    a trigger is identified if its words match a gold trigger, and right if the type does too
    an argument is identified if trigger type and filler match a gold argument, and right if the role does too

Repeated predictions count once. Arguments that are events are compared by the trigger and type of the inner event.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence

from weft.errors import WeftError
from weft.evaluate.counts import Counts
from weft.text.conventions.events import LAYER, EventRow, event_rows
from weft.text.doc import Doc

#: The metrics, the main one last but for the types.
NAMES = ("triggers identified", "triggers", "arguments identified", "arguments")


def sets_of(rows: Sequence[EventRow]) -> tuple[set[Hashable], ...]:
    """What each metric compares, in the order of `NAMES`.

    >>> from weft.text.conventions.events import Filler
    >>> row = EventRow("Die", ((3, 4),), (Filler("Victim", -1, ((0, 1),), "person"),))
    >>> [len(each) for each in sets_of([row, row])]
    [1, 1, 1, 1]
    """
    found: list[set[Hashable]] = [set(), set(), set(), set()]
    for row in rows:
        found[0].add(row.trigger)
        found[1].add((row.trigger, row.type))
        for filler in row.arguments:
            inner = rows[filler.event] if filler.event >= 0 else None
            what: Hashable = filler.pieces if inner is None else (inner.type, inner.trigger)
            found[2].add((row.type, what))
            found[3].add((row.type, row.trigger, filler.role, what))
    return tuple(found)


def score_rows(gold: Sequence[Sequence[EventRow]], system: Sequence[Sequence[EventRow]]) -> dict[str, Counts]:
    """Counts of every metric, per document.

    >>> row = EventRow("Die", ((3, 4),))
    >>> score_rows([[row]], [[row._replace(type="Attack")]])["triggers identified"].total().f1
    1.0
    """
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} documents, system has {len(system)}; both must have the same")
    sides = [(sets_of(one), sets_of(other)) for one, other in zip(gold, system, strict=True)]
    return {name: _counts([(one[k], other[k]) for one, other in sides]) for k, name in enumerate(NAMES)}


def _counts(sides: Sequence[tuple[Collection[Hashable], Collection[Hashable]]]) -> Counts:
    return Counts.of(
        [len(one) for one, _ in sides], [len(two) for _, two in sides], [len(set(one) & set(two)) for one, two in sides]
    )


def evaluate_events(gold: Sequence[Doc], system: Sequence[Doc], layer: str = LAYER) -> dict[str, Counts]:
    """Counts of the documents of two sides: all metrics, then triggers by type; spans are compared by characters."""
    ours, theirs = ([event_rows(doc, layer, "chars") for doc in docs] for docs in (gold, system))
    counts = score_rows(ours, theirs)
    types = sorted({row.type for rows in ours for row in rows})
    if len(types) > 1:
        for name in types:
            own = [[{row.trigger for row in rows if row.type == name} for rows in side] for side in (ours, theirs)]
            counts[name] = _counts(list(zip(own[0], own[1], strict=True)))
    return counts

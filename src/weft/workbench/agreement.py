"""What people agree on: the value that counts for every item, and how far two people agree.

The value of an item is the adjudicator's if there is one; else the one that most people gave; else, of those that
equally many gave, the one that shares most parts with all others. Agreement is measured on items that two people
answered:

    kappa    of every pair of people, over units (words, or whole texts), averaged by units
    alpha    Krippendorff's, over all people at once
    F1       2 * parts that both gave / parts of both, of every pair; of spans this is the span F
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from weft.evaluate.agreement import krippendorff_alpha
from weft.evaluate.kappa import cohen_kappa
from weft.workbench.answers import Schema, Units, Value, parts, units
from weft.workbench.store import FINAL, Answer


class Decision(NamedTuple):
    """The value that counts for an item, and whether people differ on it without an adjudicator."""

    value: Value
    disputed: bool


class Pair(NamedTuple):
    """How far two people agree."""

    first: str
    second: str
    items: int
    kappa: float
    f1: float


class Agreement(NamedTuple):
    """How far people agree; None where nobody answered the same item."""

    items: int
    same: int  # items on which all agree
    kappa: float | None
    alpha: float | None
    f1: float | None
    pairs: list[Pair]


def by_item(standing: Iterable[Answer]) -> dict[int, list[Answer]]:
    """What people say of each item."""
    found: dict[int, list[Answer]] = defaultdict(list)
    for answer in standing:
        if answer.value is not None:
            found[answer.item].append(answer)
    return dict(found)


def decide(schema: Schema, answers: Sequence[Answer]) -> Decision | None:
    """The value that counts for an item.

    >>> said = [Answer(str(n), 1, str(n), "answer", {"labels": [x]}) for n, x in enumerate("aba")]
    >>> decide(Schema("labels", ("a", "b")), said)
    Decision(value={'labels': ['a']}, disputed=True)
    """
    final = [answer.value for answer in answers if answer.kind == FINAL and answer.value is not None]
    if final:
        return Decision(final[-1], False)
    values = [answer.value for answer in answers if answer.kind != FINAL and answer.value is not None]
    if not values:
        return None
    votes = Counter(map(_text, values))
    most = max(votes.values())
    best = [value for value in values if votes[_text(value)] == most]
    shared = [sum(overlap(schema, value, other)[0] for other in values) for value in best]
    return Decision(best[shared.index(max(shared))], len(votes) > 1)


def decisions(schema: Schema, standing: Iterable[Answer]) -> dict[int, Decision]:
    """The values that count, by item."""
    found = {item: decide(schema, answers) for item, answers in by_item(standing).items()}
    return {item: decision for item, decision in found.items() if decision is not None}


def overlap(schema: Schema, one: Value, other: Value) -> tuple[int, int]:
    """The parts that two values share, and the number of parts of both.

    >>> overlap(Schema("labels", ("a", "b"), several=True), {"labels": ["a", "b"]}, {"labels": ["b"]})
    (1, 3)
    """
    first, second = parts(schema, one), parts(schema, other)
    return len(first & second), len(first) + len(second)


def f1(rows: Iterable[tuple[int, int]]) -> float:
    """F1 of sums of `overlap`; 1 if nobody gave any part."""
    shared, total = map(sum, zip(*rows, strict=True)) if (rows := list(rows)) else (0, 0)
    return 2 * shared / total if total else 1.0


def agreement(schema: Schema, words: Mapping[int, int], standing: Iterable[Answer]) -> Agreement:
    """The agreement of annotators; `words` are the numbers of words of the items.

    >>> said = [Answer(f"{n}{p}", n, p, "answer", {"accept": x}) for n, p, x in [(1, "a", True), (1, "b", True)]]
    >>> agreement(Schema("questions", ()), {1: 2}, said).kappa
    1.0
    """
    shared = {
        item: given
        for item, answers in by_item(standing).items()
        if len(given := {answer.person: answer.value for answer in answers if answer.kind != FINAL}) > 1
    }
    said: dict[int, dict[str, Units]] = {}
    rows: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    labels: dict[tuple[str, str], list[tuple[Hashable, Hashable]]] = defaultdict(list)
    for item, given in shared.items():
        said[item] = {person: units(schema, value, words[item]) for person, value in given.items() if value is not None}
        for a, b in combinations(sorted(said[item]), 2):
            rows[a, b].append(overlap(schema, given[a] or {}, given[b] or {}))
            labels[a, b] += [(said[item][a][unit], said[item][b][unit]) for unit in said[item][a]]
    pairs = [Pair(a, b, len(rows[a, b]), _kappa(labels[a, b]), f1(rows[a, b])) for a, b in sorted(rows)]
    if not pairs:
        return Agreement(0, 0, None, None, None, [])
    weights = [len(labels[pair.first, pair.second]) for pair in pairs]
    mean = sum(weight * pair.kappa for weight, pair in zip(weights, pairs, strict=True)) / max(1, sum(weights))
    values = [
        [own[unit] for own in of_item.values()] for of_item in said.values() for unit in next(iter(of_item.values()))
    ]
    same = sum(len(set(map(_text, given.values()))) == 1 for given in shared.values())
    total = f1(row for each in rows.values() for row in each)
    return Agreement(len(shared), same, mean, krippendorff_alpha(values) if values else 1.0, total, pairs)


def _kappa(labels: Sequence[tuple[Hashable, Hashable]]) -> float:
    if not labels:
        return 1.0
    numbers: dict[Hashable, int] = {}
    coded = [[numbers.setdefault(value, len(numbers)) for value in pair] for pair in labels]
    return float(cohen_kappa([one for one, _ in coded], [other for _, other in coded]))


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)

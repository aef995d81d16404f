"""The three models as features of phrase-based search.

An option is repeated for every candidate of the match that it can be compared with, so that a hypothesis stands for
one candidate per phrase and recombination keeps the best. What does not depend on the phrase before is a score of the
option. The order of candidates, which does, is a feature whose state is the last candidate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.infer.decoding.features import Batch, Control, Feature, no_end
from weft.infer.decoding.options import Options
from weft.infer.fuzzy.distance import banded
from weft.kernel import kernel
from weft.tasks.memory.counterparts import Counterpart, MatchedSentence
from weft.tasks.memory.status import HIGH, LOW, NO_ORDER, NONE, ORDERS, SAME
from weft.tasks.memory.tables import CONTENT, CONTENT_EXTENDED, EXTENSION, FEATURES, ORDER, MemoryTables


@dataclass(frozen=True, eq=False)
class MemoryOptions:
    """Options with the candidate of each: the options of one sentence, and the scores that do not need a context.

    The label of an option is its row here, so that options that are left out later take nothing else with them.
    """

    options: Options
    origin: Ids  #: the row of the option before it was repeated
    left: Ids  #: the candidate's span on the match's target side, -1 for none
    right: Ids
    content: Ids  #: TCM
    extension: Ids  #: LTC
    counterpart: list[Counterpart]
    first_equal: Bools
    last_equal: Bools
    order: Floats  #: log P(CPM), a column per value

    def features(self, model: str) -> list[Feature]:
        """The features of the search, besides the scores of the options."""
        return [MemoryOrder(self)] if model == "III" else []


def memory_scores(
    options: Options, match: MatchedSentence | None, tables: MemoryTables, model: str, most: int = 0
) -> MemoryOptions:
    """Repeat options for the candidates of a match and score them by a model.

    Models I and II keep one candidate of those with the same scores. With `most`, at most so many candidates are kept
    per option, the ones nearest to its words. Without a match nothing is repeated and all scores are 0.
    """
    names = [name for name in FEATURES[model] if name != ORDER]
    if match is None or not len(options):
        n = len(options)
        none, no = np.full(n, -1, np.int32), np.zeros(n, np.bool_)
        return MemoryOptions(
            options.with_scores(names, np.zeros((n, len(names)))).labelled(np.arange(n)), np.arange(n, dtype=np.int32),
            none, none,
            np.full(n, NONE, np.int32), none, [], no, no, np.zeros((n, len(ORDERS))),
        )  # fmt: skip
    spans = list(zip(options.start.tolist(), options.end.tolist(), strict=True))
    parts = [match.counterpart(*span) for span in spans]
    sizes = np.array([len(part.candidates) for part in parts])
    origin = np.repeat(np.arange(len(options), dtype=np.int32), sizes)
    candidates = [candidate for part in parts for candidate in part.candidates]
    left = np.array([-1 if each.span is None else each.span[0] for each in candidates], np.int32)
    right = np.array([-1 if each.span is None else each.span[1] for each in candidates], np.int32)
    extension = np.array([each.extension for each in candidates], np.int32)
    target = np.asarray(match.target, np.int32)
    distance = np.zeros(len(origin), np.int32)
    longest = max(len(target), int(options.sizes().max(initial=0)))
    _distances(options.offsets, options.words, origin, target, left, right, np.empty(longest + 1, np.int64), distance)
    words = options.sizes()[origin]
    score = 1 - distance / np.maximum(np.maximum(words, right - left), 1)
    content = np.where(left < 0, NONE, np.where(distance == 0, SAME, np.where(score > 0.5 + 1e-9, HIGH, LOW)))
    kept = _chosen(origin, content, extension, right - left, score, model, most)
    origin, left, right, extension, content = (
        each[kept] for each in (origin, left, right, extension, content)
    )  # fmt: skip
    of = [parts[row] for row in origin.tolist()]
    factors = np.array([(each.content, each.neighbours, each.set, each.length, each.ends) for each in of], np.int64)
    scm, nln, css, spl, sep = factors.reshape(-1, 5).T
    z = np.full(len(of), match.interval)
    columns = {
        CONTENT: lambda: tables.of[CONTENT].probabilities[scm, nln, spl, sep, z, content],
        CONTENT_EXTENDED: lambda: tables.of[CONTENT_EXTENDED].probabilities[scm, nln, extension, spl, sep, z, content],
        EXTENSION: lambda: tables.of[EXTENSION].probabilities[css, scm, nln, sep, z, extension],
    }
    scores = np.log(np.stack([columns[name]() for name in names], axis=1))
    grown = options.take(origin).with_scores(names, scores).labelled(np.arange(len(origin)))
    first, last = _ends_equal(grown, target, left, right)
    order = np.log(tables.of[ORDER].of(content, scm, nln, z))
    return MemoryOptions(
        grown, origin, left, right, content.astype(np.int32), extension, of, first, last, order
    )  # fmt: skip


def _chosen(
    origin: Ids, content: Ids, extension: Ids, size: Ids, score: Floats, model: str, most: int
) -> Ints:  # fmt: skip
    """Which pairs of an option and a candidate stay, in the order of options."""
    kinds: Sequence[Ids] = (content,) if model == "I" else (content, extension) if model == "II" else ()
    rank = np.lexsort((size, -score, origin))
    if kinds:
        keys = np.stack([origin[rank], *(kind[rank] for kind in kinds)], axis=1)
        rank = rank[np.sort(np.unique(keys, axis=0, return_index=True)[1])]
    if most:
        begin = np.searchsorted(origin[rank], origin[rank], "left")
        rank = rank[np.arange(len(rank)) - begin < most]
    return rank


def _ends_equal(options: Options, target: Ids, left: Ids, right: Ids) -> tuple[Bools, Bools]:
    """Whether the first words of option and candidate are the same, and whether the last ones are."""
    said = (left >= 0) & (options.sizes() > 0)
    words = np.append(options.words, -1)
    first = words[np.where(said, options.offsets[:-1], -1)]
    last = words[np.where(said, options.offsets[1:] - 1, -1)]
    padded = np.append(target, -2)
    return (
        first == padded[np.where(said, left, len(target))],
        last == padded[np.where(said, right - 1, len(target))],
    )


@kernel
def _distances(
    offsets: Ints, words: Ids, origin: Ids, target: Ids, left: Ids, right: Ids, row: Ints, distance: Ids
) -> None:
    """The edit distances between the words of options and candidates."""
    for k in range(len(origin)):
        if left[k] < 0:
            continue
        first, end = offsets[origin[k]], offsets[origin[k] + 1]
        limit = max(end - first, right[k] - left[k])
        distance[k] = banded(words, first, end, target, left[k], right[k], limit, row)


@dataclass(frozen=True, eq=False)
class MemoryOrder:
    """How the candidates of successive phrases follow each other: log P(CPM | TCM, SCM, NLN, z).

    The state: the last candidate's span, whether it belongs to the phrase before, and whether both end in the same
    word. The sentence's beginning counts as a phrase that ends where the match's target side begins.
    """

    of: MemoryOptions
    name: str = field(default=ORDER)

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    def bind(self, options: Options) -> _Bound:
        """The scorer of one sentence."""
        return _Bound(self.of, options)


class _Bound:
    control: Control | None = None

    def __init__(self, of: MemoryOptions, options: Options) -> None:
        rows = np.full(len(options), -1) if options.label is None else options.label
        none, no = np.full(1, -1, np.int32), np.zeros(1, np.bool_)  # what has no row has no candidate
        self._left, self._right = np.append(of.left, none)[rows], np.append(of.right, none)[rows]
        self._first, self._last = np.append(of.first_equal, no)[rows], np.append(of.last_equal, no)[rows]
        self._order = np.vstack([of.order, np.zeros((1, len(ORDERS)))])[rows]
        self.start = np.array([0, 0, 1, 1], np.int32)
        self.estimate = self._order.max(axis=1)[:, None]

    def expand(self, batch: Batch, states: Ids) -> tuple[Floats, Ids]:
        after = states.copy()
        scores = np.zeros((len(batch), 1))
        real = np.flatnonzero(batch.option < batch.n_options)
        option, before = batch.option[real], states[real]
        kind = orders(before, self._left[option], self._right[option], self._first[option])
        scores[real, 0] = self._order[option, kind]
        there = self._left[option] >= 0
        after[real, 0] = np.where(there, self._left[option], before[:, 0])
        after[real, 1] = np.where(there, self._right[option], before[:, 1])
        after[real, 2] = there
        after[real, 3] = there & self._last[option]
        return scores, after

    def finish(self, states: Ids) -> Floats:
        return no_end(self, states)


def orders(before: Ids, left: Ids, right: Ids, first_equal: Bools) -> Ids:
    """The values of CPM after states, as `weft.tasks.memory.status.order_status` defines them.

    >>> states = np.array([[0, 2, 1, 1], [0, 2, 0, 0]], np.int32)
    >>> [ORDERS[kind] for kind in orders(states, np.array([2, 4]), np.array([6, 6]), np.array([True, False]))]
    ['adjacent same', 'skip forward']
    """
    follows, last_equal = before[:, 2] == 1, before[:, 3] == 1
    forward = left >= before[:, 1]
    cross = ~forward & (right > before[:, 0])
    place = np.where(forward, 0, np.where(cross, 1, 2))
    adjacent = follows & (left == before[:, 1])
    kind = np.where(follows, 2 + place, 5 + place)
    kind = np.where(adjacent, np.where(last_equal & first_equal, 0, 1), kind)
    return np.where(left < 0, NO_ORDER, kind).astype(np.int32)

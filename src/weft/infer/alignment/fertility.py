"""Alignments of sentence pairs under models with fertilities: IBM-3, IBM-4 and IBM-5, deficient or not.

With f(i) the number of target words of source word i, f(0) that of words from none, and n = J - f(0),

    p(target, a) = prod over j of t[j, a(j)]  x  prod over i of fert(f(i) | i)
                   x  C(n, f(0)) p0^f(0) (1 - p0)^(n - f(0))
                   x  the placement factors (`weft.infer.alignment.placement`)

The deficient models pay for the positions of words from none too, f(0)! / J^f(0), and IBM-3 for the order of the words
of each source word, f(i)!. There is no exact search: `best` climbs from a start to an alignment without better
neighbours (`weft.infer.alignment.neighbours`), and expectations are those over it and its neighbours, or over all
alignments where `exact` (Brown et al. 1993, Schoenemann 2013).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import InferenceError
from weft.infer.alignment.links import Alignments, jump_steps
from weft.infer.alignment.neighbours import (
    Pair,
    alignment_score,
    climb,
    note_neighbours,
    score_neighbours,
)
from weft.infer.alignment.placement import Events, Placing, Types, Walk, note_cept, survey
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States, one_block

#: A neighbour this much less probable than the alignment (natural logarithm) counts for nothing.
LEAST = -12.0
#: Choices of neighbours with a smaller posterior are counted as those of the alignment itself.
RARE = 1e-3
#: Steps of a climb.
MOST_STEPS = 1000
#: The logarithm of what is impossible, above minus infinity so that differences stay numbers.
NEVER = -600.0
_ROOM = 1 << 21
_MOST_ALIGNMENTS = 200_000


@dataclass(frozen=True, slots=True)
class FertilityMarginals:
    """Expectations of a batch: `link` per cell, `null` per target word, fertilities per row of the fertility table,
    [words from none, words from source words], and the logarithm of the probability covered, per pair."""

    link: Floats
    null: Floats
    fertility: Floats
    empty: Floats
    log_partition: Floats


class PlacementSums:
    """Choices of positions noted so far: how often each cell of a table was chosen, and among which columns.

    Equal choices are merged as they come in.
    """

    def __init__(self, model: Placing, room: int = _ROOM) -> None:
        self.model = model
        self.counts = np.zeros_like(model.table)
        self._events = Events.room(room)
        self._parts: list[tuple[Types, Floats, Indices, Indices, np.ndarray]] = []

    @property
    def events(self) -> Events:
        return self._events

    def enlarge(self) -> None:
        """Make twice as much room, empty."""
        self._events = Events.room(2 * len(self._events.column))

    def merge(self) -> None:
        """Take the events noted since the last time out of the room."""
        events = self._events
        n, n_columns = (int(each) for each in events.used)
        if n:
            sizes = np.diff(events.start[: n + 1])
            part = (events.row[:n].copy(), events.weight[:n].copy(), events.key[:n].copy(), sizes,
                    events.column[:n_columns].copy())  # fmt: skip
            self._parts.append(_merged([part]))
        events.used[:] = 0
        if len(self._parts) > 8:
            self._parts = [_merged(self._parts)]

    def choices(self) -> Choices:
        """All that was noted."""
        self.merge()
        if not self._parts:
            nothing = np.zeros(0, np.int32), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64)
            self._parts = [(*nothing, np.zeros(0, np.int16))]
        row, weight, _, sizes, column = _merged(self._parts)
        order = np.argsort(row, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return Choices(
            self.counts,
            np.searchsorted(row[order], np.arange(len(self.counts) + 1)).astype(np.int64),
            weight[order],
            np.concatenate([[0], np.cumsum(sizes[order])]).astype(np.int64),
            column[_runs(starts[:-1][order], sizes[order])],
        )


@dataclass(frozen=True, slots=True)
class Choices:
    """Chosen cells, and sets they were chosen from: sets `rows[r]:rows[r + 1]` belong to row r, set e has a weight and
    columns `starts[e]:starts[e + 1]`."""

    counts: Floats
    rows: Indices
    weight: Floats
    starts: Indices
    column: np.ndarray


def _runs(starts: Indices, sizes: Indices) -> Indices:
    """The numbers of all elements of runs."""
    ends = np.cumsum(sizes)
    offsets = np.repeat(starts - (ends - sizes), sizes)
    return offsets + np.arange(int(ends[-1]) if len(ends) else 0)


def _merged(parts: list) -> tuple:
    """Parts as one, in which every key is there once."""
    row, weight, key, sizes, column = (np.concatenate(each) for each in zip(*parts, strict=True))
    _, first, group = np.unique(key, return_index=True, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(sizes)])[:-1]
    weight = np.bincount(group.ravel(), weights=weight, minlength=len(first))
    return row[first], weight, key[first], sizes[first], column[_runs(starts[first], sizes[first])]


class FertilityAlignments:
    """A batch of sentence pairs: `words` gives the probabilities of their words, and the HMM if `placing` is one.

    `given` is the row of each source word in the table of fertilities, `alpha` the class of each target word, `beta`
    that of each source word.

    >>> words = Alignments([0.9, 0.1, 0.2, 0.7], [0.1, 0.1], [2], [0, 2])
    >>> fertility = np.array([[0.1, 0.8, 0.1], [0.1, 0.8, 0.1]])
    >>> from weft.infer.alignment.placement import new_placing
    >>> pairs = FertilityAlignments(words, new_placing("ibm3-nd", 2, 2), fertility, [0, 1], p_null=0.1)
    >>> pairs.best(np.array([1, 1], np.int32)).tolist()
    [0, 1]
    >>> pairs.marginals(np.array([0, 1], np.int32)).link.round(2).tolist()
    [0.96, 0.03, 0.04, 0.96]
    """

    def __init__(
        self,
        words: Alignments,
        placing: Placing,
        fertility: Floats,
        given: ArrayLike,
        alpha: ArrayLike | None = None,
        beta: ArrayLike | None = None,
        *,
        p_null: float = 0.1,
    ) -> None:
        self.words, self.placing, self.p_null = words, placing, p_null
        self.fertility = one_block(fertility, np.float64)
        self.given = one_block(given, np.int32)
        self.alpha = one_block(np.zeros(len(words.null)) if alpha is None else alpha, np.int32)
        self.beta = one_block(np.zeros(len(self.given)) if beta is None else beta, np.int32)
        self.given_offsets = np.concatenate([[0], np.cumsum(words.source_sizes)]).astype(np.int64)
        if len(self.given) != self.given_offsets[-1] or len(self.beta) != len(self.given):
            raise InferenceError(f"expected the fertility row and class of {self.given_offsets[-1]:,} source words")
        if not 0 < p_null < 1:
            raise InferenceError(f"p_null is a probability between 0 and 1; given: {p_null}")

    def best(self, start: States) -> States:
        """The source word of every target word, -1 for none, after climbing from `start`."""
        return self._run(start)[0]

    def marginals(
        self, start: States, sums: PlacementSums | None = None, *, exact: bool = False, rare: float = RARE
    ) -> FertilityMarginals:
        """Expectations over the alignment to which the climb leads and its neighbours, or over all alignments.

        `start` becomes the alignments found; choices of positions are noted in `sums`, those of
        neighbours with a posterior up to `rare` as those of the alignment itself.
        """
        found, marginals = self._run(start, sums, exact, rare=rare)
        start[:] = found
        return marginals

    def score(self, alignment: States) -> Floats:
        """The logarithm of the joint probability of each pair's words and a given alignment."""
        return self._run(alignment, climbing=False)[1].log_partition

    def _run(
        self,
        start: States,
        sums: PlacementSums | None = None,
        exact: bool = False,
        climbing: bool = True,
        rare: float = RARE,
    ) -> tuple[States, FertilityMarginals]:
        words = self.words
        longest = int(words.source_sizes.max(initial=0))
        longest_target = int(np.diff(words.target_offsets).max(initial=0))
        found = FertilityMarginals(
            np.zeros_like(words.translation), np.zeros_like(words.null), np.zeros_like(self.fertility),
            np.zeros(2), np.zeros(len(words.source_sizes)),
        )  # fmt: skip
        owner = np.array(start, dtype=np.int32)
        noting = sums is not None
        kept = sums if sums is not None else PlacementSums(self.placing, 8)
        walk = Walk.of(longest, longest_target)
        if exact:
            most = float(np.max((words.source_sizes + 1.0) ** np.diff(words.target_offsets), initial=0))
            if most > _MOST_ALIGNMENTS:
                raise InferenceError(f"a pair has {most:,.0f} alignments; exact sums take up to {_MOST_ALIGNMENTS:,}")
        first, n_pairs = 0, len(words.source_sizes)
        given = (words.translation, words.null, words.cell_offsets, words.target_offsets, words.source_sizes,
                 self.given_offsets, self.fertility, self.given, self.alpha, self.beta)  # fmt: skip
        jumps = words.jumps if len(words.jumps) else np.zeros(1)
        p_null = words.p_null if self.placing.kind == 6 else self.p_null
        while True:
            first = _search(
                *given, jumps, p_null, self.placing, kept.model, walk, owner, first,
                climbing, exact, noting, rare, found.link, found.null, found.fertility, found.empty,
                found.log_partition, kept.counts, kept.events,
            )  # fmt: skip
            if first == n_pairs:
                break
            full = int(kept.events.used[0]) > 0
            kept.merge()
            if not full:
                kept.enlarge()
        if noting:
            kept.merge()
        return owner, found


@inner_kernel
def _fill(
    translation: Floats, null: Floats, cell: int, first: int, size: int, length: int, fertility: Floats, given: Types,
    first_given: int, kind: int, p_null: float, word: Floats, fertile: Floats, none: Floats,
) -> None:  # fmt: skip
    """Logarithms of one pair."""
    for j in range(length):
        word[j, 0] = max(math.log(null[first + j]), NEVER) if null[first + j] > 0 else NEVER
        for i in range(size):
            t = translation[cell + j * size + i]
            word[j, i + 1] = max(math.log(t), NEVER) if t > 0 else NEVER
    if kind == 6:
        none[1] = math.log(p_null)
        return
    deficient = kind == 0 or kind == 2 or kind == 3
    width = fertility.shape[1] - 1
    for i in range(size):
        row = given[first_given + i]
        for n in range(length + 1):
            p = fertility[row, min(n, width)]
            fertile[i + 1, n] = max(math.log(p), NEVER) if p > 0 else NEVER
            if kind == 0:
                fertile[i + 1, n] += math.lgamma(n + 1.0)
    for n in range(length // 2 + 1):
        m = length - n
        value = math.lgamma(m + 1.0) - math.lgamma(n + 1.0) - math.lgamma(m - n + 1.0)
        value += n * math.log(p_null) + (m - n) * math.log(1.0 - p_null)
        if deficient:
            value += math.lgamma(n + 1.0) - n * math.log(length)
        none[n] = value


@inner_kernel
def _start(pair: Pair, walk: Walk, owner: Types, first: int, size: int, length: int) -> None:
    """Take up an alignment; where too many words come from none, the surest find a source word."""
    for i in range(size + 2):
        walk.fertility[i] = 0
    for j in range(length):
        walk.owner[j] = owner[first + j] + 1
        walk.fertility[walk.owner[j]] += 1
    while walk.fertility[0] > pair.most_null:
        best, place, new = -np.inf, 0, 1
        for j in range(length):
            if walk.owner[j] == 0:
                for i in range(1, size + 1):
                    if pair.word[j, i] - pair.word[j, 0] > best:
                        best, place, new = pair.word[j, i] - pair.word[j, 0], j, i
        walk.fertility[0] -= 1
        walk.fertility[new] += 1
        walk.owner[place] = new


@kernel
def _search(
    translation: Floats, null: Floats, cell_offsets: Indices, target_offsets: Indices, source_sizes: Indices,
    given_offsets: Indices, fertility: Floats, given: Types, alpha: Types, beta: Types, jumps: Floats, p_null: float,
    model: Placing, noted_model: Placing, walk: Walk, owner: Types, start: int,
    climbing: bool, exact: bool, noting: bool, rare: float, link: Floats, null_link: Floats,
    fertilities: Floats, empty: Floats, log_z: Floats, counts: Floats, events: Events,
) -> int:  # fmt: skip
    """Climb, and sum over neighbours, from pair `start` on; the first pair for whose events there was no more room."""
    most, longest = 0, 0
    for s in range(len(source_sizes)):
        longest = max(longest, source_sizes[s])
        most = max(most, target_offsets[s + 1] - target_offsets[s])
    word = np.empty((most + 1, longest + 1))
    fertile = np.empty((longest + 1, most + 2))
    none = np.empty(most // 2 + 3)
    step = np.empty((longest + 1, longest + 1))
    moves, swaps = np.empty((most + 1, longest + 1)), np.empty((most + 1, most + 1))
    kept, nothing = np.empty(longest + 3), np.empty((1, 1))
    for s in range(start, len(source_sizes)):
        size, first = source_sizes[s], target_offsets[s]
        length = target_offsets[s + 1] - first
        if size == 0 or length == 0:
            for j in range(length):
                owner[first + j] = -1
            continue
        _fill(translation, null, cell_offsets[s], first, size, length, fertility, given, given_offsets[s],
              model.kind, p_null, word, fertile, none)  # fmt: skip
        if model.kind == 6:
            jump_steps(jumps, size, p_null, step)
            for b in range(size + 1):
                for i in range(size):
                    step[b, i] = math.log(step[b, i])
        pair = Pair(word, fertile, none, step, alpha[first:], beta[given_offsets[s] :], length // 2)
        _start(pair, walk, owner, first, size, length)
        if exact:
            n_noted = 1
            for _ in range(length):
                n_noted *= size + 1
            if noting and not _has_room(events, n_noted, length):
                return s
            log_z[s] = _sum_all(model, noted_model, pair, walk, size, length, given, given_offsets[s],
                                link, null_link, fertilities, empty, cell_offsets[s], first, noting, counts,
                                events)  # fmt: skip
            continue
        if climbing and model.kind != 6:
            climb(model, pair, walk, size, length, nothing, events, MOST_STEPS)
        else:
            survey(model, walk, size, length, pair.alpha, pair.beta, model.kind != 6)
        for j in range(length):
            owner[first + j] = walk.owner[j] - 1
        base = alignment_score(model, pair, walk, size, length)
        log_z[s] = base
        if not climbing:
            continue
        z = score_neighbours(model, pair, walk, size, length, LEAST, moves, swaps, nothing, events)
        n_noted = 1
        for j in range(length):
            for i in range(size + 1):
                moves[j, i] /= z
                n_noted += moves[j, i] > rare
            for k in range(j):
                swaps[k, j] /= z
                n_noted += swaps[k, j] > rare
        if noting and not _has_room(events, n_noted, length):
            return s
        log_z[s] = base + math.log(z)
        _expect(walk, size, length, moves, swaps, given, given_offsets[s],
                link, null_link, fertilities, empty, cell_offsets[s], first)  # fmt: skip
        if noting:
            survey(noted_model, walk, size, length, pair.alpha, pair.beta, False)
            note_neighbours(noted_model, pair, walk, size, length, rare, moves, swaps, counts, kept, events)
    return len(source_sizes)


@inner_kernel
def _has_room(events: Events, n_alignments: int, length: int) -> bool:
    """Whether there is room for the choices of so many alignments."""
    columns = events.used[1] + n_alignments * length * length <= len(events.column)
    return columns and events.used[0] + n_alignments * length <= len(events.row)


@inner_kernel
def _expect(
    walk: Walk, size: int, length: int, moves: Floats, swaps: Floats, given: Types, first_given: int,
    link: Floats, null_link: Floats, fertilities: Floats, empty: Floats, cell: int, first: int,
) -> None:  # fmt: skip
    """Expected links and fertilities, from the posteriors of neighbours."""
    width = fertilities.shape[1] - 1
    for j in range(length):
        rest = 1.0
        for i in range(size + 1):
            p = moves[j, i]
            if i == walk.owner[j] or p == 0.0:
                continue
            rest -= p
            _add_link(j, i, p, size, link, null_link, cell, first)
            old = walk.owner[j]
            _shift(walk, old, -1, p, given, first_given, fertilities, empty)
            _shift(walk, i, 1, p, given, first_given, fertilities, empty)
        for k in range(length):
            p = swaps[k, j] if k < j else (swaps[j, k] if k > j else 0.0)
            if k != j and walk.owner[k] != walk.owner[j] and p > 0.0:
                rest -= p
                _add_link(j, walk.owner[k], p, size, link, null_link, cell, first)
        _add_link(j, walk.owner[j], max(rest, 0.0), size, link, null_link, cell, first)
    for i in range(1, size + 1):
        fertilities[given[first_given + i - 1], min(walk.fertility[i], width)] += 1.0
    empty[0] += walk.fertility[0]
    empty[1] += length - walk.fertility[0]


@inner_kernel
def _shift(
    walk: Walk, owner: int, change: int, p: float, given: Types, first_given: int, fertilities: Floats, empty: Floats
) -> None:  # fmt: skip
    """With probability p, the fertility of a source word is another one."""
    if owner == 0:
        empty[0] += change * p
        empty[1] -= change * p
        return
    row, n, width = given[first_given + owner - 1], walk.fertility[owner], fertilities.shape[1] - 1
    fertilities[row, min(n + change, width)] += p
    fertilities[row, min(n, width)] -= p


@inner_kernel
def _add_link(j: int, i: int, p: float, size: int, link: Floats, null_link: Floats, cell: int, first: int) -> None:
    if i == 0:
        null_link[first + j] += p
    else:
        link[cell + j * size + i - 1] += p


@inner_kernel
def _sum_all(
    model: Placing, noted_model: Placing, pair: Pair, walk: Walk, size: int, length: int, given: Types,
    first_given: int, link: Floats, null_link: Floats, fertilities: Floats, empty: Floats, cell: int, first: int,
    noting: bool, counts: Floats, events: Events,
) -> float:  # fmt: skip
    """The logarithm of the sum over all alignments; expectations over them, all of whose choices are noted."""
    n = 1
    for _ in range(length):
        n *= size + 1
    total = 0.0
    for rounds in range(2):
        for number in range(n):
            rest = number
            for i in range(size + 2):
                walk.fertility[i] = 0
            for j in range(length):
                walk.owner[j] = rest % (size + 1)
                walk.fertility[walk.owner[j]] += 1
                rest //= size + 1
            if walk.fertility[0] > pair.most_null:
                continue
            survey(model, walk, size, length, pair.alpha, pair.beta, True)
            p = math.exp(alignment_score(model, pair, walk, size, length))
            if rounds == 0:
                total += p
                continue
            p /= total
            for j in range(length):
                _add_link(j, walk.owner[j], p, size, link, null_link, cell, first)
            for i in range(1, size + 1):
                row = given[first_given + i - 1]
                fertilities[row, min(walk.fertility[i], fertilities.shape[1] - 1)] += p
            empty[0] += walk.fertility[0] * p
            empty[1] += (length - walk.fertility[0]) * p
            if noting and p > 0.0:
                survey(noted_model, walk, size, length, pair.alpha, pair.beta, False)
                for i in range(1, size + 1):
                    if walk.fertility[i] > 0:
                        note_cept(
                            noted_model, i, walk.fertility[i], walk.owner, walk.opened[i], walk.n_open[i],
                            walk.centre[i], walk.before[i], pair.alpha, pair.beta, p, counts, events,
                        )  # fmt: skip
    return math.log(total)

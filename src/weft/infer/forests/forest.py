"""Packed forests: derivations D of a goal item,  score(D) = sum of the scores of its hyperedges.

A forest is an acyclic hypergraph. Item `v` is made by any one of the hyperedges `first[v]:first[v + 1]`, each from at
most two items before it, its *tails* (-1: none); an item without hyperedges cannot be made. The last item is the goal.
A derivation is a choice of one hyperedge for the goal and, again, for every tail: an int64 array of hyperedges, each
before those that make its tails. With w(e) = exp(score of e)

    inside(v)  = sum over e of v of     w(e) * product of inside(tails of e)
    outside(v) = sum over e with tail v w(e) * outside(item of e) * inside(other tail of e),  outside(goal) = 1

and the best derivation has maxima in place of the sums. The k best are found lazily (Huang & Chiang 2005, algorithm 3):
an item's next best derivation is computed only when a better-placed one asks for it, in O(log k) steps each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import InferenceError
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States, check_offsets, check_scores, check_shape, one_block

__all__ = ["Forest"]


class Forest:
    """An acyclic hypergraph with scores on its hyperedges.

    >>> forest = Forest([0, 1, 2, 4], tails=[[-1, -1], [-1, -1], [0, 1], [0, -1]], score=[0, 1, 2, 2.5])
    >>> forest.best().tolist(), forest.score(forest.best())  # hyperedge 2 from items 0 and 1
    ([2, 0, 1], 3.0)
    >>> [edges.tolist() for edges, _ in forest.kbest_scored(5)]
    [[2, 0, 1], [3, 0]]
    >>> forest.posteriors().round(3).tolist()
    [1.0, 0.622, 0.622, 0.378]
    """

    __slots__ = ("edge_score", "first", "tails")

    def __init__(self, first: ArrayLike, tails: ArrayLike, score: ArrayLike) -> None:
        self.edge_score = check_scores(score, "scores of hyperedges")
        self.first = check_offsets(first, len(self.edge_score))
        self.tails: States = one_block(tails, np.int32)
        check_shape(self.tails, (len(self.edge_score), 2), "tails")
        if self.n_items == 0:
            raise InferenceError("a forest has at least one item, its goal")
        if not _is_ordered(self.first, self.tails):
            raise InferenceError(
                "a hyperedge has at most two tails, the first in the first place, -1 for none; "
                "each is an item before the one that the hyperedge makes"
            )

    @property
    def n_items(self) -> int:
        return len(self.first) - 1

    def best(self) -> Indices:
        """The derivation with the highest score."""
        edges = np.empty(self._longest(), dtype=np.int64)
        return edges[: _unfold(self.tails, self._highest()[1], edges)]

    def kbest_scored(self, k: int) -> list[tuple[Indices, float]]:
        """The k best derivations with their scores, best first, all different; fewer where there are no more."""
        if k < 1:
            raise InferenceError(f"k must be at least 1; given: {k}")
        forest = _Hyperedges(self.first, self.tails, self.edge_score, self._highest()[0])
        edges = np.empty((k, self._longest()), dtype=np.int64)
        scores, lengths = np.empty(k), np.empty(k, dtype=np.int64)
        n = _k_best(forest, _new_ranking(self.first, k), edges, lengths, scores)
        return [(edges[i, : lengths[i]].copy(), float(scores[i])) for i in range(n)]

    def score(self, derivation: ArrayLike) -> float:
        """The sum of the scores of a derivation's hyperedges."""
        return float(self.edge_score[np.asarray(derivation, dtype=np.int64)].sum())

    def inside(self) -> Floats:
        """The logarithm of the sum of exp(score) over all derivations of every item; that of the last is log Z."""
        inside = np.empty(self.n_items)
        _inside(self.first, self.tails, self.edge_score, inside)
        if inside[-1] == -np.inf:
            raise _no_derivation()
        return inside

    def outside(self) -> Floats:
        """The logarithm of the sum of exp(score) over all that is around an item in derivations of the goal."""
        outside = np.empty(self.n_items)
        _outside(self.first, self.tails, self.edge_score, self.inside(), outside)
        return outside

    def posteriors(self, inside: Floats | None = None) -> Floats:
        """The probability of every hyperedge: of derivations that have it, each with probability exp(score) / Z."""
        probability = np.empty(len(self.edge_score))
        _posteriors(self.first, self.tails, self.edge_score, self.inside() if inside is None else inside, probability)
        return probability

    def sample(self, n: int, seed: int | np.random.Generator) -> list[Indices]:
        """`n` independent derivations, each drawn with its probability."""
        uniform = np.random.default_rng(seed).random((n, self._longest()))
        choice = np.empty(uniform.shape, dtype=np.int64)
        lengths = np.empty(n, dtype=np.int64)
        _draw(self.first, self.tails, self.edge_score, self.inside(), uniform, choice, lengths)
        return [choice[i, : lengths[i]].copy() for i in range(n)]

    def _highest(self) -> tuple[Floats, States]:
        top, edge = np.empty(self.n_items), np.empty(self.n_items, dtype=np.int32)
        _highest(self.first, self.tails, self.edge_score, top, edge)
        if top[-1] == -np.inf:
            raise _no_derivation()
        return top, edge

    def _longest(self) -> int:
        """A bound on the number of hyperedges in a derivation."""
        return int(_longest(self.first, self.tails))


def _no_derivation() -> InferenceError:
    return InferenceError("the goal of the forest has no derivation: every one has a forbidden hyperedge")


@kernel
def _is_ordered(first: Indices, tails: States) -> bool:
    for v in range(len(first) - 1):
        for e in range(first[v], first[v + 1]):
            if tails[e, 0] < -1 or tails[e, 0] >= v or tails[e, 1] < -1 or tails[e, 1] >= v:
                return False
            if tails[e, 0] < 0 and tails[e, 1] >= 0:
                return False
    return True


@kernel
def _longest(first: Indices, tails: States) -> int:
    size = np.zeros(len(first) - 1, dtype=np.int64)
    for v in range(len(size)):
        for e in range(first[v], first[v + 1]):
            total = 1
            for side in range(2):
                if tails[e, side] >= 0:
                    total += size[tails[e, side]]
            size[v] = max(size[v], total)
    return size[-1]


@inner_kernel
def _with_tails(tails: States, e: int, own: float, value: Floats) -> float:
    """A hyperedge's own number plus those of its tails."""
    if tails[e, 0] >= 0:
        own += value[tails[e, 0]]
    if tails[e, 1] >= 0:
        own += value[tails[e, 1]]
    return own


@kernel
def _highest(first: Indices, tails: States, score: Floats, top: Floats, edge: States) -> None:
    for v in range(len(top)):
        top[v], edge[v] = -np.inf, -1
        for e in range(first[v], first[v + 1]):
            total = _with_tails(tails, e, score[e], top)
            if total > top[v]:
                top[v], edge[v] = total, e


@kernel
def _unfold(tails: States, edge: States, out: Indices) -> int:
    """The derivation of the last item, given every item's hyperedge."""
    waiting = np.empty(len(out) + 1, dtype=np.int64)
    waiting[0], height, n = len(edge) - 1, 1, 0
    while height > 0:
        height -= 1
        e = edge[waiting[height]]
        out[n] = e
        n += 1
        for side in range(1, -1, -1):
            if tails[e, side] >= 0:
                waiting[height] = tails[e, side]
                height += 1
    return n


@kernel
def _inside(first: Indices, tails: States, score: Floats, inside: Floats) -> None:
    widest = 0
    for v in range(len(inside)):
        widest = max(widest, first[v + 1] - first[v])
    value = np.empty(widest)
    for v in range(len(inside)):
        top, n = -np.inf, first[v + 1] - first[v]
        for i in range(n):
            value[i] = _with_tails(tails, first[v] + i, score[first[v] + i], inside)
            top = max(top, value[i])
        inside[v] = top
        if n > 1 and top > -np.inf:
            mass = 0.0
            for i in range(n):
                mass += np.exp(value[i] - top)
            inside[v] += np.log(mass)


@kernel
def _outside(first: Indices, tails: States, score: Floats, inside: Floats, outside: Floats) -> None:
    outside[:] = -np.inf
    outside[-1] = 0.0
    for v in range(len(inside) - 1, -1, -1):
        if outside[v] == -np.inf:
            continue
        for e in range(first[v], first[v + 1]):
            for side in range(2):
                tail, other = tails[e, side], tails[e, 1 - side]
                if tail >= 0:
                    around = outside[v] + score[e] + (inside[other] if other >= 0 else 0.0)
                    outside[tail] = np.logaddexp(outside[tail], around)


@kernel
def _posteriors(first: Indices, tails: States, score: Floats, inside: Floats, probability: Floats) -> None:
    """From the goal down: an item's probability is shared out among its hyperedges."""
    of_item = np.zeros(len(inside))
    of_item[-1] = 1.0
    for v in range(len(inside) - 1, -1, -1):
        for e in range(first[v], first[v + 1]):
            probability[e] = 0.0
            if of_item[v] > 0.0:
                probability[e] = of_item[v] * np.exp(_with_tails(tails, e, score[e], inside) - inside[v])
                for side in range(2):
                    if tails[e, side] >= 0:
                        of_item[tails[e, side]] += probability[e]


@kernel
def _draw(
    first: Indices, tails: States, score: Floats, inside: Floats, uniform: Floats, out: Indices, lengths: Indices
) -> None:
    waiting = np.empty(uniform.shape[1] + 1, dtype=np.int64)
    for i in range(len(uniform)):
        waiting[0], height, n = len(inside) - 1, 1, 0
        while height > 0:
            height -= 1
            v = waiting[height]
            left, chosen = uniform[i, n], -1
            for e in range(first[v], first[v + 1]):
                share = np.exp(_with_tails(tails, e, score[e], inside) - inside[v])
                if share > 0.0:
                    chosen = e
                    left -= share
                    if left < 0.0:
                        break
            out[i, n] = chosen
            n += 1
            for side in range(1, -1, -1):
                if tails[chosen, side] >= 0:
                    waiting[height] = tails[chosen, side]
                    height += 1
        lengths[i] = n


@inner_kernel
def _push(value: Floats, entry: States, base: int, size: int, new: float, e: int, one: int, two: int) -> None:
    """Put a candidate, a hyperedge and the ranks of its tails' derivations, into the heap of `size` at `base`."""
    at = size
    while at > 0:
        up = (at - 1) // 2
        if value[base + up] >= new:
            break
        value[base + at] = value[base + up]
        for i in range(3):
            entry[base + at, i] = entry[base + up, i]
        at = up
    value[base + at] = new
    entry[base + at, 0], entry[base + at, 1], entry[base + at, 2] = e, one, two


@inner_kernel
def _remove_top(value: Floats, entry: States, base: int, size: int) -> None:
    """Take the best candidate out of the heap of `size` at `base`."""
    last = base + size - 1
    new, e, one, two = value[last], entry[last, 0], entry[last, 1], entry[last, 2]
    at, below = 0, 1
    while below < size - 1:
        if below + 1 < size - 1 and value[base + below + 1] > value[base + below]:
            below += 1
        if value[base + below] <= new:
            break
        value[base + at] = value[base + below]
        for i in range(3):
            entry[base + at, i] = entry[base + below, i]
        at, below = below, 2 * below + 1
    value[base + at] = new
    entry[base + at, 0], entry[base + at, 1], entry[base + at, 2] = e, one, two


class _Hyperedges(NamedTuple):
    """What the search for the k best reads of a forest, with the highest score of every item."""

    first: Indices
    tails: States
    score: Floats
    top: Floats


#: Columns of `_Ranking.state`: how many derivations of an item are known, how many candidates wait in its heap, how
#: many followers of its last derivation were not looked at yet, and whether it has no further derivation.
KNOWN, WAITING, FOLLOWERS, EXHAUSTED = range(4)


class _Ranking(NamedTuple):
    """The derivations known of every item, best first, and the candidates for its next one.

    A derivation is a hyperedge and the ranks of its tails' derivations: `chosen[item, rank]` has these three numbers.
    The heap of an item begins at `heap[item]`.
    """

    value: Floats
    chosen: NDArray[np.int32]
    state: States
    heap: Indices
    heap_value: Floats
    heap_entry: States


def _new_ranking(first: Indices, k: int) -> _Ranking:
    """Room for k derivations of every item: a heap holds its hyperedges and two followers of each derivation."""
    items = len(first) - 1
    room = int(first[-1]) + items * (k + 1)
    return _Ranking(
        np.empty((items, k)),
        np.empty((items, k, 3), dtype=np.int32),
        np.full((items, 4), -1, dtype=np.int32),
        first[:-1] + np.arange(items) * (k + 1),
        np.empty(room),
        np.empty((room, 3), dtype=np.int32),
    )


@inner_kernel
def _open(v: int, forest: _Hyperedges, ranking: _Ranking) -> None:
    """Fill the heap of an item with its hyperedges, each from the best derivations of its tails."""
    state = ranking.state[v]
    state[KNOWN], state[WAITING], state[FOLLOWERS], state[EXHAUSTED] = 0, 0, 0, 0
    for e in range(forest.first[v], forest.first[v + 1]):
        total = _with_tails(forest.tails, e, forest.score[e], forest.top)
        if total > -np.inf:
            _push(ranking.heap_value, ranking.heap_entry, ranking.heap[v], state[WAITING], total, e, 0, 0)
            state[WAITING] += 1


@inner_kernel
def _follower(v: int, side: int, forest: _Hyperedges, ranking: _Ranking) -> tuple[int, int]:
    """The tail that the last derivation of an item follows on at a side and the tail's next rank; tail -1 for none.

    A follower takes the next rank of the second tail or, so that each pair of ranks is reached in one way only, of the
    first while that of the second is 0.
    """
    last = ranking.state[v, KNOWN] - 1
    tail = forest.tails[ranking.chosen[v, last, 0], side]
    if side == 0 and ranking.chosen[v, last, 2] > 0:
        tail = -1
    return tail, ranking.chosen[v, last, 1 + side] + 1


@inner_kernel
def _push_follower(v: int, side: int, forest: _Hyperedges, ranking: _Ranking) -> None:
    """Make the follower of an item's last derivation at a side a candidate."""
    state = ranking.state[v]
    last = ranking.chosen[v, state[KNOWN] - 1]
    e, rank, other_rank = last[0], last[1 + side] + 1, last[2 - side]
    total = forest.score[e] + ranking.value[forest.tails[e, side], rank]
    other = forest.tails[e, 1 - side]
    if other >= 0:
        total += ranking.value[other, other_rank] if other_rank > 0 else forest.top[other]
    one, two = (rank, other_rank) if side == 0 else (other_rank, rank)
    _push(ranking.heap_value, ranking.heap_entry, ranking.heap[v], state[WAITING], total, e, one, two)
    state[WAITING] += 1


@inner_kernel
def _take_best(v: int, ranking: _Ranking) -> None:
    """The best candidate of an item becomes its next derivation."""
    state, base = ranking.state[v], ranking.heap[v]
    ranking.value[v, state[KNOWN]] = ranking.heap_value[base]
    for i in range(3):
        ranking.chosen[v, state[KNOWN], i] = ranking.heap_entry[base, i]
    _remove_top(ranking.heap_value, ranking.heap_entry, base, state[WAITING])
    state[KNOWN] += 1
    state[WAITING] -= 1
    state[FOLLOWERS] = 2


@inner_kernel
def _find(goal: int, rank: int, forest: _Hyperedges, ranking: _Ranking, asked: States) -> bool:
    """Whether an item has a derivation of a rank; it is computed if it was not before.

    The stack `asked` holds items and the ranks wanted of them: an item asks its tails for what its followers need.
    """
    asked[0, 0], asked[0, 1], height = goal, rank, 1
    while height > 0:
        v = asked[height - 1, 0]
        if ranking.state[v, KNOWN] < 0:
            _open(v, forest, ranking)
        state = ranking.state[v]
        if state[KNOWN] > asked[height - 1, 1] or state[EXHAUSTED]:
            height -= 1
        elif state[FOLLOWERS] > 0:
            side = state[FOLLOWERS] - 1
            tail, next_rank = _follower(v, side, forest, ranking)
            if tail >= 0 and ranking.state[tail, KNOWN] <= next_rank and ranking.state[tail, EXHAUSTED] != 1:
                asked[height, 0], asked[height, 1] = tail, next_rank
                height += 1
                continue
            if tail >= 0 and ranking.state[tail, KNOWN] > next_rank:
                _push_follower(v, side, forest, ranking)
            state[FOLLOWERS] -= 1
        elif state[WAITING] > 0:
            _take_best(v, ranking)
        else:
            state[EXHAUSTED] = 1
    return ranking.state[goal, KNOWN] > rank


@kernel
def _k_best(forest: _Hyperedges, ranking: _Ranking, out: Indices, lengths: Indices, scores: Floats) -> int:
    """Write the derivations of the goal and their scores; gives how many there are."""
    goal = len(forest.top) - 1
    waiting = np.empty((out.shape[1] + 1, 2), dtype=np.int64)
    asked = np.zeros((len(forest.top) + 1, 2), dtype=np.int32)
    for rank in range(len(out)):
        if not _find(goal, rank, forest, ranking, asked):
            return rank
        scores[rank] = ranking.value[goal, rank]
        waiting[0, 0], waiting[0, 1], height, n = goal, rank, 1, 0
        while height > 0:
            height -= 1
            v, of_item = waiting[height, 0], waiting[height, 1]
            _find(v, of_item, forest, ranking, asked)
            e = ranking.chosen[v, of_item, 0]
            out[rank, n] = e
            n += 1
            for side in range(1, -1, -1):
                if forest.tails[e, side] >= 0:
                    waiting[height, 0], waiting[height, 1] = forest.tails[e, side], ranking.chosen[v, of_item, 1 + side]
                    height += 1
        lengths[rank] = n
    return len(out)

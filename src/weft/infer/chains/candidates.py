"""Chains over lists of candidates:  score(y) = sum over i of node_i(y_i) + edge_i(y_{i-1}, y_i), edge_0 = 0.

Where a position has a few candidates of its own out of hundreds of labels, nothing need be computed for the others. All
candidates of a batch stand in one array of *slots*: position `i` owns slots `slots[i]:slots[i + 1]`, sentence `s` owns
positions `offsets[s]:offsets[s + 1]`. The transitions into position `i` are `pairs[i]:pairs[i + 1]` of the edge scores,
row by row: a row is a candidate of the position before, a column one of this position; first positions have none. What
the candidates stand for is the caller's business. A solution is an int32 array: the number of the chosen candidate at
every position, counted from 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import InferenceError
from weft.infer.chains.candidate_sums import run_sums
from weft.infer.parts import ArrayParts
from weft.kernel import inner_kernel, kernel
from weft.ragged import (
    Indices,
    States,
    check_offsets,
    check_scores,
    check_shape,
    one_block,
    sentence_of,
    sentence_weights,
    sum_by_sentence,
)

__all__ = ["CandidateChain", "CandidateParts", "pair_offsets"]


@dataclass(frozen=True, slots=True)
class CandidateParts(ArrayParts):
    """One number per candidate (`node`, by slots) and one per transition (`edge`, by pairs).

    >>> parts = CandidateParts(np.ones(3), np.zeros(2))
    >>> (parts + parts).scale(0.25).inner(parts)
    1.5
    """

    numbers = ("node", "edge")

    node: Floats
    edge: Floats


def pair_offsets(slots: Indices, offsets: Indices) -> Indices:
    """Where the transitions into every position stand: nowhere for first positions.

    >>> pair_offsets(np.array([0, 2, 5, 6]), np.array([0, 2, 3])).tolist()
    [0, 0, 6, 6]
    """
    sizes = np.diff(slots)
    pairs = np.zeros(len(slots), dtype=np.int64)
    pairs[2:] = sizes[:-1] * sizes[1:]
    starts = offsets[:-1]
    pairs[1:][starts[starts < len(sizes)]] = 0
    return np.cumsum(pairs)


class CandidateChain:
    """A batch of chains whose positions have candidates of their own.

    >>> chain = CandidateChain([0, 1, 0, 5, 0], [0, 0, 4, 0, 0, 0], [0, 2, 5], [0, 2])
    >>> chain.best().tolist()  # the second candidate, then the second of three
    [1, 1]
    >>> [path.tolist() for path in chain.kbest(2)[0]]
    [[1, 1], [0, 1]]
    >>> chain.marginals().node.round(2).tolist()
    [0.33, 0.67, 0.01, 0.9, 0.09]
    """

    __slots__ = ("edge", "node", "offsets", "pairs", "slots")

    def __init__(
        self, node: ArrayLike, edge: ArrayLike, slots: ArrayLike, offsets: ArrayLike, pairs: Indices | None = None
    ) -> None:
        self.node = check_scores(node, "node scores")
        self.slots = check_offsets(slots, len(self.node))
        self.offsets = check_offsets(offsets, len(self.slots) - 1)
        sizes = np.diff(self.slots)
        if len(sizes) and sizes.min() == 0:
            raise InferenceError(f"position {int(sizes.argmin())} has no candidate; give every position at least one")
        self.pairs = pair_offsets(self.slots, self.offsets) if pairs is None else pairs
        self.edge = check_scores(edge, "edge scores")
        check_shape(self.edge, (int(self.pairs[-1]),), "edge scores")

    def best(self) -> States:
        """The highest-scoring path of every sentence."""
        path = np.zeros(len(self.slots) - 1, dtype=np.int32)
        score = np.zeros(len(self.offsets) - 1)
        came_from = np.zeros(len(self.node), dtype=np.int32)
        _best(self.node.copy(), self.edge, self.slots, self.pairs, self.offsets, came_from, path, score)
        self._check_possible(score)
        return path

    def kbest(self, k: int) -> list[list[States]]:
        """For every sentence its k best paths, best first, all different; fewer where there are no more."""
        return [[path for path, _ in paths] for paths in self.kbest_scored(k)]

    def kbest_scored(self, k: int) -> list[list[tuple[States, float]]]:
        """The k best paths of every sentence with their scores."""
        if k < 1:
            raise InferenceError(f"k must be at least 1; given: {k}")
        paths = np.zeros((k, len(self.slots) - 1), dtype=np.int32)
        scores = np.full((k, len(self.offsets) - 1), -np.inf)
        count = np.zeros(len(self.offsets) - 1, dtype=np.int64)
        _kbest(self.node, self.edge, self.slots, self.pairs, self.offsets, k, paths, scores, count)
        self._check_possible(scores[0])
        return [
            [(paths[rank, first:end], float(scores[rank, s])) for rank in range(count[s])]
            for s, (first, end) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True))
        ]

    def score(self, path: ArrayLike) -> Floats:
        """The score of a path, one number per sentence."""
        slot, pair, inside = self._places(path)
        total = self.node[slot]
        total[inside] += self.edge[pair]
        return sum_by_sentence(total, self.offsets)

    def parts(self, path: ArrayLike, weight: Floats | None = None) -> CandidateParts:
        """A path as indicators of its parts, times the weight of each sentence if weights are given."""
        slot, pair, inside = self._places(path)
        node, edge = np.zeros(len(self.node)), np.zeros(len(self.edge))
        each = 1.0 if weight is None else sentence_weights(weight, self.offsets)[sentence_of(self.offsets)]
        node[slot] = each
        edge[pair] = each if isinstance(each, float) else each[inside]
        return CandidateParts(node, edge)

    def log_partition(self) -> Floats:
        """log Z of every sentence."""
        return self.log_partition_and_marginals()[0]

    def marginals(self, weight: Floats | None = None) -> CandidateParts:
        """Probabilities of all parts, times the weight of each sentence if weights are given."""
        return self.log_partition_and_marginals(weight)[1]

    def log_partition_and_marginals(self, weight: Floats | None = None) -> tuple[Floats, CandidateParts]:
        """Both at the cost of one; the weights do not affect log Z."""
        each = sentence_weights(weight, self.offsets)
        total, node, edge = run_sums(self.node, self.edge, self.slots, self.pairs, self.offsets, each)
        self._check_possible(total)
        return total, CandidateParts(node, edge)

    def augment(self, parts: CandidateParts) -> CandidateChain:
        """The same chain with numbers added to its scores."""
        return CandidateChain(self.node + parts.node, self.edge + parts.edge, self.slots, self.offsets, self.pairs)

    def temper(self, temperature: float) -> CandidateChain:
        """The same chain with its scores divided by a temperature."""
        return CandidateChain(self.node / temperature, self.edge / temperature, self.slots, self.offsets, self.pairs)

    def restrict(self, allowed: ArrayLike) -> CandidateChain:
        """The same chain with only the candidates of a mask over slots."""
        mask = np.asarray(allowed, dtype=np.bool_)
        check_shape(mask, self.node.shape, "allowed")
        return CandidateChain(np.where(mask, self.node, -np.inf), self.edge, self.slots, self.offsets, self.pairs)

    def hamming(self, path: ArrayLike, weight: float = 1.0) -> CandidateParts:
        """Parts that charge `weight` for every position whose candidate differs from the path's."""
        node = np.full(len(self.node), float(weight))
        node[self._places(path)[0]] = 0.0
        return CandidateParts(node, np.zeros(len(self.edge)))

    def differs(self, one: ArrayLike, other: ArrayLike) -> Floats:
        """At how many positions two paths differ, one number per sentence."""
        return sum_by_sentence((np.asarray(one) != np.asarray(other)).astype(np.float64), self.offsets)

    def _places(self, path: ArrayLike) -> tuple[Indices, Indices, NDArray[np.bool_]]:
        """The slot of every position, the pair of every transition, and which positions have one."""
        chosen = one_block(path, np.int64)
        sizes = np.diff(self.slots)
        check_shape(chosen, sizes.shape, "path")
        if chosen.size and not (chosen.min() >= 0 and (chosen < sizes).all()):
            raise InferenceError("a path names, at every position, one of its candidates, counted from 0")
        inside = np.diff(self.pairs) > 0
        before = np.zeros(len(chosen), dtype=np.int64)
        before[1:] = chosen[:-1]
        pair = self.pairs[:-1] + before * sizes + chosen
        return self.slots[:-1] + chosen, pair[inside], inside

    def _check_possible(self, score: Floats) -> None:
        if np.isneginf(score).any():
            sentence = int(np.flatnonzero(np.isneginf(score))[0])
            raise InferenceError(f"sentence {sentence} (counting from 0) has no path; allow more candidates in it")


@inner_kernel
def _best(
    delta: Floats, edge: Floats, slots: Indices, pairs: Indices, offsets: Indices, came_from: States, path: States,
    score: Floats,
) -> None:  # fmt: skip
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        if first == end:
            continue
        for i in range(first + 1, end):
            before, here = slots[i - 1], slots[i]
            n = slots[i + 1] - here
            for b in range(n):
                top, source = -np.inf, 0
                for a in range(here - before):
                    total = delta[before + a] + edge[pairs[i] + a * n + b]
                    if total > top:
                        top, source = total, a
                delta[here + b] += top
                came_from[here + b] = source
        last, choice = slots[end - 1], 0
        for b in range(slots[end] - last):
            if delta[last + b] > delta[last + choice]:
                choice = b
        score[s] = delta[last + choice]
        for i in range(end - 1, first - 1, -1):
            path[i] = choice
            choice = came_from[slots[i] + choice]


@kernel
def _kbest(
    node: Floats, edge: Floats, slots: Indices, pairs: Indices, offsets: Indices, k: int,
    paths: States, scores: Floats, count: Indices,
) -> None:  # fmt: skip
    widest = 1
    for i in range(len(slots) - 1):
        widest = max(widest, slots[i + 1] - slots[i])
    delta = np.full((len(node), k), -np.inf)
    source = np.zeros((len(node), k), dtype=np.int32)
    rank_before = np.zeros((len(node), k), dtype=np.int32)
    taken = np.zeros(widest, dtype=np.int64)
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        if first == end:
            scores[0, s] = 0.0
            count[s] = 1
            continue
        for b in range(slots[first], slots[first + 1]):
            delta[b, 0] = node[b]
        for i in range(first + 1, end):
            before, here = slots[i - 1], slots[i]
            n = slots[i + 1] - here
            for b in range(n):
                taken[:] = 0
                for rank in range(k):
                    top, chosen = -np.inf, -1
                    for a in range(here - before):
                        if taken[a] < k:
                            total = delta[before + a, taken[a]] + edge[pairs[i] + a * n + b]
                            if total > top:
                                top, chosen = total, a
                    if chosen < 0:
                        break
                    delta[here + b, rank] = top + node[here + b]
                    source[here + b, rank] = chosen
                    rank_before[here + b, rank] = taken[chosen]
                    taken[chosen] += 1
        last = slots[end - 1]
        taken[:] = 0
        for rank in range(k):
            top, chosen = -np.inf, -1
            for b in range(slots[end] - last):
                if taken[b] < k and delta[last + b, taken[b]] > top:
                    top, chosen = delta[last + b, taken[b]], b
            if chosen < 0:
                break
            scores[rank, s] = top
            count[s] += 1
            y, r = chosen, taken[chosen]
            taken[chosen] += 1
            for i in range(end - 1, first - 1, -1):
                paths[rank, i] = y
                y, r = source[slots[i] + y, r], rank_before[slots[i] + y, r]

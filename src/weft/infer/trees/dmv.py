"""Projective trees whose heads count their dependents (the dependency model with valence, Klein & Manning 2004):

    score(y) = sum over words m of   arc(h, m, v)       h the head of m, v its dependents nearer than m on that side
             + sum over h, sides d   stop(h, d, v)      v all dependents of h on that side

with v cut at V - 1. Every sentence has one root r, and arc(r, r, 0) is the score of ROOT taking it. The chart is that
of split heads, O(n^3 V). On the right of h, and likewise on its left,

    open(h, h, 0)   = 0
    part(h, m, v)   = arc(h, m, v) + log-sum over k from h to m - 1  of  open(h, k, v) + closed(m, k + 1)
    open(h, j, v')  = log-sum over v, m with min(v + 1, V - 1) = v'  of  part(h, m, v) + closed(m, j)
    closed(h, j)    = log-sum over v                                 of  open(h, j, v) + stop(h, right, v)
    log Z           = log-sum over r                                 of  arc(r, r, 0) + closed(r, 1) + closed(r, n)

and probabilities are handed down from log Z: each item shares its own among the ways to make it
(`weft.infer.trees.dmv_sums`).

Arcs of a batch are numbered by squares, one after the other: the arc from word h to word m of sentence s, both counted
from 0, has the number `squares[s] + h * n + m`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats
from weft.errors import InferenceError
from weft.infer.parts import ArrayParts
from weft.infer.trees.dmv_sums import LEFT, RIGHT, sum_trees
from weft.kernel import kernel
from weft.ragged import Indices, States, check_offsets, check_scores, check_shape, one_block

__all__ = ["ValenceParts", "ValenceTrees", "squares_of"]


@dataclass(frozen=True, slots=True)
class ValenceParts(ArrayParts):
    """A number for every part: arcs by valence `[arcs of squares, V]`, stops `[words, left and right, V]`."""

    numbers = ("arc", "stop")

    arc: Floats
    stop: Floats


def squares_of(offsets: ArrayLike) -> Indices:
    """Where the square of arcs of every sentence begins, and where the last one ends.

    >>> squares_of([0, 2, 5]).tolist()
    [0, 4, 13]
    """
    return np.concatenate([[0], np.cumsum(np.square(np.diff(one_block(offsets, np.int64))))])


class ValenceTrees:
    """A batch of sentences with scores of the parts of their trees.

    Two words; the second is more likely to be the root, and both would rather have no dependents:

    >>> arc = np.log([[0.3, 1], [0.5, 0.5], [0.5, 0.5], [0.7, 1]])
    >>> stop = np.log(np.full((2, 2, 2), [0.8, 0.9]))
    >>> trees = ValenceTrees([0, 2], arc, stop)
    >>> trees.best().tolist()
    [2, 0]
    >>> parts = trees.marginals()
    >>> parts.arc[:, 0].round(2).tolist(), parts.stop[0].round(2).tolist()
    ([0.3, 0.3, 0.7, 0.7], [[1.0, 0.0], [0.7, 0.3]])
    """

    __slots__ = ("arc", "offsets", "squares", "stop")

    def __init__(self, offsets: ArrayLike, arc: ArrayLike, stop: ArrayLike) -> None:
        self.stop = check_scores(stop, "scores of stops")
        if self.stop.ndim != 3 or self.stop.shape[1] != 2:
            raise InferenceError(f"scores of stops have the shape (words, 2, valences); given: {self.stop.shape}")
        self.offsets = check_offsets(offsets, len(self.stop))
        self.squares = squares_of(self.offsets)
        self.arc = check_scores(arc, "scores of arcs")
        check_shape(self.arc, (int(self.squares[-1]), self.stop.shape[2]), "scores of arcs")

    def best(self) -> States:
        """The heads of the best tree of every sentence, counted from 1, ROOT being 0."""
        heads, score = np.zeros(len(self.stop), dtype=np.int32), np.zeros(len(self.offsets) - 1)
        _best(self.offsets, self.squares, self.arc, self.stop, heads, score)
        self._check(score)
        return heads

    def score(self, heads: ArrayLike) -> Floats:
        """The scores of trees with one root per sentence."""
        given, total = np.asarray(heads, dtype=np.int32), np.zeros(len(self.offsets) - 1)
        check_shape(given, (len(self.stop),), "heads")
        _score(self.offsets, self.squares, self.arc, self.stop, given, total)
        return total

    def log_partition(self) -> Floats:
        """log Z of every sentence."""
        return self.log_partition_and_marginals()[0]

    def marginals(self) -> ValenceParts:
        """The probabilities of all parts."""
        return self.log_partition_and_marginals()[1]

    def log_partition_and_marginals(self) -> tuple[Floats, ValenceParts]:
        """Both at the cost of one."""
        log_z, arc, stop = sum_trees(self.offsets, self.squares, self.arc, self.stop)
        self._check(log_z)
        return log_z, ValenceParts(arc, stop)

    def _check(self, score: Floats) -> None:
        if np.isneginf(score).any():
            raise InferenceError(
                f"sentence {int(np.isneginf(score).argmax())} (counting from 0) has no tree: all have a part of score "
                "minus infinity; smooth the probabilities that the scores were computed from"
            )


@kernel
def _best(offsets: Indices, squares: Indices, arc: Floats, stop: Floats, heads: States, score: Floats) -> None:
    """The same chart with maxima; `of_part`, `of_open` and `of_closed` remember k, t with v, and v."""
    longest, n_valences = 1, stop.shape[2]
    for s in range(len(score)):
        longest = max(longest, offsets[s + 1] - offsets[s])
    shape = (2, longest, longest, n_valences)
    open_, part, closed = np.empty(shape), np.empty(shape), np.empty((2, longest, longest))
    of_part, of_open = np.zeros(shape, dtype=np.int32), np.zeros((2, longest, longest, n_valences, 2), dtype=np.int32)
    of_closed, waiting = np.zeros((2, longest, longest), dtype=np.int32), np.zeros((2 * longest + 2, 3), np.int32)
    for s in range(len(score)):
        first, n, square = offsets[s], offsets[s + 1] - offsets[s], squares[s]
        if n == 0:
            continue
        for length in range(n):
            for h in range(n):
                for d in range(2):
                    side = 2 * d - 1
                    m = h + side * length
                    if m < 0 or m >= n:
                        continue
                    for v in range(n_valences):
                        open_[d, h, length, v] = 0.0 if length == 0 and v == 0 else -np.inf
                        part[d, h, length, v] = -np.inf
                    for v in range(min(n_valences, length)):
                        for k in range(length):
                            value = open_[d, h, k, v] + closed[1 - d, m, length - 1 - k] + arc[square + h * n + m, v]
                            if value > part[d, h, length, v]:
                                part[d, h, length, v], of_part[d, h, length, v] = value, k
                    for v in range(n_valences if length > 0 else 0):
                        after = min(v + 1, n_valences - 1)
                        for t in range(1, length + 1):
                            value = part[d, h, t, v] + closed[d, h + side * t, length - t]
                            if value > open_[d, h, length, after]:
                                open_[d, h, length, after] = value
                                of_open[d, h, length, after, 0], of_open[d, h, length, after, 1] = t, v
                    closed[d, h, length] = -np.inf
                    for v in range(n_valences):
                        value = open_[d, h, length, v] + stop[first + h, d, v]
                        if value > closed[d, h, length]:
                            closed[d, h, length], of_closed[d, h, length] = value, v
        score[s], root = -np.inf, 0
        for r in range(n):
            value = arc[square + r * n + r, 0] + closed[LEFT, r, r] + closed[RIGHT, r, n - 1 - r]
            if value > score[s]:
                score[s], root = value, r
        if score[s] == -np.inf:
            continue
        heads[first + root] = 0
        waiting[0, 0], waiting[0, 1], waiting[0, 2] = LEFT, root, root
        waiting[1, 0], waiting[1, 1], waiting[1, 2] = RIGHT, root, n - 1 - root
        height = 2
        while height > 0:
            height -= 1
            d, h, length = waiting[height, 0], waiting[height, 1], waiting[height, 2]
            v = of_closed[d, h, length]
            while length > 0:
                t, v = of_open[d, h, length, v, 0], of_open[d, h, length, v, 1]
                m = h + (2 * d - 1) * t
                heads[first + m] = h + 1
                k = of_part[d, h, t, v]
                waiting[height, 0], waiting[height, 1], waiting[height, 2] = d, m, length - t
                waiting[height + 1, 0], waiting[height + 1, 1], waiting[height + 1, 2] = 1 - d, m, t - 1 - k
                height += 2
                length = k


@kernel
def _score(offsets: Indices, squares: Indices, arc: Floats, stop: Floats, heads: States, total: Floats) -> None:
    last = stop.shape[2] - 1
    for s in range(len(total)):
        first, n = offsets[s], offsets[s + 1] - offsets[s]
        for h in range(n):
            if heads[first + h] == 0:
                total[s] += arc[squares[s] + h * n + h, 0]
            for d in range(2):
                v = 0
                m = h + 2 * d - 1
                while 0 <= m < n:
                    if heads[first + m] == h + 1:
                        total[s] += arc[squares[s] + h * n + m, min(v, last)]
                        v += 1
                    m += 2 * d - 1
                total[s] += stop[first + h, d, min(v, last)]

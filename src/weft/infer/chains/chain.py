"""Linear chains:  p(y) = exp score(y) / Z,  score(y) = sum over i of node_i(y_i) + edge_i(y_{i-1}, y_i), edge_0 = 0.

A `Chain` holds the scores of a batch of sentences and answers every question about their paths exactly. Second-order
chains are chains over pairs of tags (`weft.infer.chains.pairs`). All of N positions stand in one array; sentence `s` is
rows `offsets[s]:offsets[s + 1]`. Edge scores are one matrix for all positions or one matrix per position.

What is forbidden has the score minus infinity, or is False in a mask, which is the same said with booleans.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Bools, Floats
from weft.errors import InferenceError
from weft.infer.chains.edge_scores import Transitions
from weft.infer.chains.forward_backward import Messages, run_log_partition, run_marginals, run_messages
from weft.infer.chains.moments import draw_paths, run_covariance
from weft.infer.chains.pairs import PairStates, pair_states
from weft.infer.chains.viterbi import run_best, run_kbest
from weft.infer.parts import ArrayParts
from weft.ragged import (
    Indices,
    States,
    check_offsets,
    check_scores,
    check_shape,
    first_positions,
    last_positions,
    one_block,
    sentence_of,
    sentence_weights,
    sum_by_sentence,
)

__all__ = ["Chain", "ChainParts", "PairStates", "boundary_mask", "pair_states"]


@dataclass(frozen=True, slots=True)
class ChainParts(ArrayParts):
    """One number per part of a batch of chains: states at positions `node[N, L]`, transitions `edge`.

    `edge[N, L, L]` has one number per transition into each position, zeros at first positions. `edge[L, L]` belongs
    to chains whose positions share their edge scores: in results it is the sum over all positions of the batch; in
    what is given to `augment` and `covariance` it is one number for every use of a transition.

    >>> parts = ChainParts(np.ones((3, 2)), np.zeros((3, 2, 2)), np.array([0, 1, 3]))
    >>> (parts + parts).scale(0.25).node.tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    >>> parts.inner(parts)
    6.0
    """

    numbers = ("node", "edge")

    node: Floats
    edge: Floats
    offsets: Indices

    @property
    def shared(self) -> bool:
        """Whether one matrix of edges stands for all positions."""
        return self.edge.ndim == 2


class Chain:
    """A batch of chains. A solution (here: path) is an int32 array of N states.

    `node[N, L]` and `edge[L, L]` or `edge[N, L, L]` are scores, row i of the latter for the transition into position i.
    `allowed[N, L]` and `legal[L, L]` forbid states and transitions. Empty sentences have one empty path.

    >>> chain = Chain([[0, 3], [1, 0], [0, 1]], np.zeros((2, 2)), [0, 3], legal=[[True, True], [False, True]])
    >>> chain.best()
    array([1, 1, 1], dtype=int32)
    >>> [path.tolist() for path in chain.kbest(2)[0]]
    [[1, 1, 1], [0, 0, 1]]
    >>> np.exp(chain.log_probability([1, 1, 1])).round(3)
    array([0.81])
    >>> chain.marginals().node.round(2).tolist()
    [[0.19, 0.81], [0.15, 0.85], [0.04, 0.96]]
    """

    def __init__(
        self,
        node: ArrayLike,
        edge: ArrayLike,
        offsets: ArrayLike,
        allowed: ArrayLike | None = None,
        legal: ArrayLike | None = None,
    ) -> None:
        self.node = check_scores(node, "node scores")
        if self.node.ndim != 2 or self.node.shape[1] == 0:
            raise InferenceError(
                f"node scores must be one row per position and one column per state; given: {self.node.shape}"
            )
        self.offsets = check_offsets(offsets, len(self.node))
        if allowed is not None:
            self.node = self._masked(allowed)
        scores = check_scores(edge, "edge scores")
        states = self.n_states
        shared = scores.ndim == 2
        check_shape(scores, (states, states) if shared else (len(self.node), states, states), "edge scores")
        if legal is not None:
            mask = np.asarray(legal, dtype=np.bool_)
            check_shape(mask, (states, states), "legal")
            scores = np.where(mask, scores, -np.inf)
        self._transitions = Transitions(scores[None] if shared else scores, shared)

    @property
    def n_states(self) -> int:
        return self.node.shape[1]

    @property
    def n_sentences(self) -> int:
        return len(self.offsets) - 1

    @property
    def shared(self) -> bool:
        """Whether all positions share one matrix of edge scores."""
        return self._transitions.shared

    @property
    def edge(self) -> Floats:
        """Edge scores, masks included."""
        return self._transitions.scores[0] if self.shared else self._transitions.scores

    def best(self) -> States:
        """The highest-scoring path of every sentence; among equals the one with the lower last state, and so on."""
        return self._best()[0]

    def best_scores(self) -> Floats:
        """The score of the best path of every sentence."""
        return self._best()[1]

    def _best(self) -> tuple[States, Floats]:
        path, score = run_best(self.node, self._transitions, self.offsets)
        self._check_possible(score)
        return path, score

    def kbest(self, k: int) -> list[list[States]]:
        """For every sentence its k best paths, best first, all different; fewer where no more are allowed."""
        return [[path for path, _ in paths] for paths in self.kbest_scored(k)]

    def kbest_scored(self, k: int) -> list[list[tuple[States, float]]]:
        """The k best paths of every sentence with their scores.

        >>> Chain([[0, 1]], np.zeros((2, 2)), [0, 1]).kbest_scored(5)
        [[(array([1], dtype=int32), 1.0), (array([0], dtype=int32), 0.0)]]
        """
        if k < 1:
            raise InferenceError(f"k must be at least 1; given: {k}")
        paths, scores, count = run_kbest(self.node, self._transitions, self.offsets, k)
        self._check_possible(scores[0])
        return [
            [(paths[rank, first:end], float(scores[rank, s])) for rank in range(count[s])]
            for s, (first, end) in enumerate(zip(self.offsets[:-1], self.offsets[1:], strict=True))
        ]

    def score(self, path: ArrayLike) -> Floats:
        """The score of a path, one number per sentence; minus infinity where it uses what is forbidden."""
        states = self._path(path)
        total = self.node[np.arange(len(states)), states]
        inside = self._inside()
        edge = self._transitions.scores
        total[inside] += edge[inside * self._transitions.step, states[inside - 1], states[inside]]
        return sum_by_sentence(total, self.offsets)

    def parts(self, path: ArrayLike, weight: Floats | None = None) -> ChainParts:
        """A path as indicators of its parts, times the weight of each sentence if weights are given."""
        states = self._path(path)
        each = sentence_weights(weight, self.offsets)[sentence_of(self.offsets)]
        node = np.zeros(self.node.shape)
        node[np.arange(len(states)), states] = each
        inside = self._inside()
        size = self.n_states
        if self.shared:
            pairs = states[inside - 1].astype(np.int64) * size + states[inside]
            edge = np.zeros((size, size))
            np.add.at(edge.reshape(-1), pairs, each[inside])
        else:
            edge = np.zeros((len(states), size, size))
            edge[inside, states[inside - 1], states[inside]] = each[inside]
        return ChainParts(node, edge, self.offsets)

    def log_partition(self) -> Floats:
        """log Z of every sentence."""
        total = run_log_partition(self.node, self._transitions, self.offsets)
        self._check_possible(total)
        return total

    def marginals(self, weight: Floats | None = None, per_position: bool = False) -> ChainParts:
        """Probabilities of all parts, times the weight of each sentence if weights are given.

        With shared edges `edge[L, L]` is the sum over all positions, or with `per_position` the [N, L, L] summands.
        """
        return self.log_partition_and_marginals(weight, per_position)[1]

    def log_partition_and_marginals(
        self, weight: Floats | None = None, per_position: bool = False
    ) -> tuple[Floats, ChainParts]:
        """Both at the cost of one; the weights do not affect log Z."""
        each = sentence_weights(weight, self.offsets)
        summed = self.shared and not per_position
        total, node, edge = run_marginals(self.node, self._transitions, self.offsets, each, summed)
        self._check_possible(total)
        return total, ChainParts(node, edge[0] if summed else edge, self.offsets)

    def node_marginals(self) -> Floats:
        """Probabilities of states `[N, L]` alone; a `covariance` or `sample` that follows is cheaper for it.

        >>> Chain([[0, 0]], np.zeros((2, 2)), [0, 1]).node_marginals()
        array([[0.5, 0.5]])
        """
        return self._messages.node

    @cached_property
    def _messages(self) -> Messages:
        """The messages of both passes, kept for the verbs that share them."""
        done = run_messages(self.node, self._transitions, self.offsets, sentence_weights(None, self.offsets))
        self._check_possible(done.log_partition)
        return done

    def log_probability(self, path: ArrayLike) -> Floats:
        """log p of a path, one number per sentence."""
        return self.score(path) - self.log_partition()

    def sample(self, n: int, seed: int | np.random.Generator) -> States:
        """`n` independent paths of the batch as [n, N], each drawn with its probability.

        >>> Chain([[0, 50]], np.zeros((2, 2)), [0, 1]).sample(3, seed=1).tolist()
        [[1], [1], [1]]
        """
        uniform = np.random.default_rng(seed).random((n, len(self.node)))
        return draw_paths(self._messages, self._transitions, self.offsets, uniform)

    def covariance(self, function: ChainParts, weight: Floats | None = None) -> ChainParts:
        """Cov(1[r], F(y)) of every part r with  F(y) = sum of `function` over the parts of y,  in O(n L^2).

        Edges come as `marginals` gives them: summed over positions where the chain shares its edges. The weight of a
        sentence multiplies its covariances.

        >>> chain = Chain(np.zeros((2, 2)), np.zeros((2, 2)), [0, 2])
        >>> first = ChainParts(np.array([[1.0, 0.0], [0.0, 0.0]]), np.zeros((2, 2)), chain.offsets)
        >>> chain.covariance(first).node.tolist()
        [[0.25, -0.25], [0.0, 0.0]]
        """
        self._check_parts(function)
        if not (np.isfinite(function.node).all() and np.isfinite(function.edge).all()):
            raise InferenceError("the function of covariance() must be finite; give 0 to parts that are forbidden")
        each = sentence_weights(weight, self.offsets)
        edge = function.edge[None] if function.shared else function.edge
        node, edge = run_covariance(
            self._messages, self._transitions, self.offsets, each,
            one_block(function.node, np.float64), one_block(edge, np.float64), self.shared,
        )  # fmt: skip
        return ChainParts(node, edge[0] if self.shared else edge, self.offsets)

    def augment(self, parts: ChainParts) -> Chain:
        """The same chain with numbers added to its scores; `edge[L, L]` is added at every position."""
        self._check_parts(parts)
        if parts.shared:
            return self._with(self.node + parts.node, self.edge + parts.edge if parts.edge.any() else None)
        return self._with(self.node + parts.node, self._transitions.scores + parts.edge)

    def temper(self, temperature: float) -> Chain:
        """The same chain with its scores divided by a temperature: higher ones make probabilities more even.

        >>> Chain([[0, 2]], np.zeros((2, 2)), [0, 1]).temper(2.0).node.tolist()
        [[0.0, 1.0]]
        """
        return Chain(self.node / temperature, self.edge / temperature, self.offsets)

    def restrict(self, allowed: ArrayLike) -> Chain:
        """The same chain with only the states of the mask [N, L]."""
        return self._with(self._masked(allowed), None)

    def hamming(self, path: ArrayLike, weight: float = 1.0) -> ChainParts:
        """Parts that charge `weight` for every position whose state differs from the path's."""
        states = self._path(path)
        node = np.full(self.node.shape, float(weight))
        node[np.arange(len(states)), states] = 0.0
        return ChainParts(node, np.zeros((self.n_states, self.n_states)), self.offsets)

    def confusion(self, path: ArrayLike, table: ArrayLike) -> ChainParts:
        """Parts that charge `table[state of the path, state]` at every position.

        >>> Chain(np.zeros((1, 2)), np.zeros((2, 2)), [0, 1]).confusion([1], [[0, 1], [3, 0]]).node.tolist()
        [[3.0, 0.0]]
        """
        costs = check_scores(table, "a table of confusions")
        check_shape(costs, (self.n_states, self.n_states), "a table of confusions")
        return ChainParts(costs[self._path(path)], np.zeros((self.n_states, self.n_states)), self.offsets)

    def differs(self, one: ArrayLike, other: ArrayLike) -> Floats:
        """At how many positions two paths differ, one number per sentence."""
        return sum_by_sentence((self._path(one) != self._path(other)).astype(np.float64), self.offsets)

    def _with(self, node: Floats, edge: Floats | None) -> Chain:
        if edge is not None:
            return Chain(node, edge, self.offsets)
        other = Chain.__new__(Chain)
        other.node, other.offsets, other._transitions = (
            check_scores(node, "node scores"),
            self.offsets,
            self._transitions,
        )
        return other

    def _masked(self, allowed: ArrayLike) -> Floats:
        mask = np.asarray(allowed, dtype=np.bool_)
        check_shape(mask, self.node.shape, "allowed")
        return np.where(mask, self.node, -np.inf)

    def _path(self, path: ArrayLike) -> NDArray[np.integer]:
        states = np.asarray(path)
        check_shape(states, (len(self.node),), "path")
        if states.size and not (states.min() >= 0 and states.max() < self.n_states):
            raise InferenceError(
                f"a path holds states from 0 to {self.n_states - 1}; given: {states.min()} to {states.max()}"
            )
        return states.astype(np.int32, copy=False)

    def _inside(self) -> Indices:
        """Positions that have one before them in their sentence."""
        inside = np.ones(len(self.node), dtype=np.bool_)
        inside[first_positions(self.offsets)] = False
        return np.flatnonzero(inside)

    def _check_parts(self, parts: ChainParts) -> None:
        size, states = self.node.shape
        check_shape(parts.node, (size, states), "node parts")
        check_shape(parts.edge, (states, states) if parts.shared else (size, states, states), "edge parts")

    def _check_possible(self, score: Floats) -> None:
        """Raise for the first sentence without a path, naming the position at which the last one ends."""
        if not np.isneginf(score).any():
            return
        sentence = int(np.flatnonzero(np.isneginf(score))[0])
        first, end = int(self.offsets[sentence]), int(self.offsets[sentence + 1])
        reached = np.isfinite(self.node[first])
        at = first
        while reached.any() and at + 1 < end:
            at += 1
            legal = np.isfinite(self._transitions.scores[at * self._transitions.step])
            reached = (reached[:, None] & legal).any(axis=0) & np.isfinite(self.node[at])
        raise InferenceError(
            f"sentence {sentence} (counting from 0) of {end - first} positions has no path: no allowed state can be "
            f"reached at position {at - first}; allow more states there, or more transitions into them"
        )


def boundary_mask(
    offsets: ArrayLike, n_states: int, start: ArrayLike | None = None, end: ArrayLike | None = None
) -> Bools:
    """Mask [N, L] for `allowed` that holds the states in which sentences may start and end.

    >>> boundary_mask([0, 2, 3], 2, start=[True, False], end=[False, True]).tolist()
    [[True, False], [False, True], [False, False]]
    """
    where = np.asarray(offsets, dtype=np.int64)
    allowed = np.ones((int(where[-1]), n_states), dtype=np.bool_)
    for positions, states in ((first_positions(where), start), (last_positions(where), end)):
        if states is not None:
            mask = np.asarray(states, dtype=np.bool_)
            check_shape(mask, (n_states,), "states of a boundary")
            allowed[positions] &= mask
    return allowed

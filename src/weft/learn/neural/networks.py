"""Recursive networks over structures, composed height by height, with their gradients.

    h_i = f(a_i),   a_i = s_i W_v x_i + sum over children j of  c_j W_m(j) h_j
    d_i = dJ/da_i = dJ/dh_i * f'(a_i),   dW_v += s_i d_i x_i',   dW_m(j) += c_j d_i h_j',   dJ/dh_j = c_j W_m(j)' d_i

The word vectors x are fixed. Matrices start at the identity with a little noise, so that a dependency network starts
close to the mean of the word vectors (with f = identity and no noise it is exactly that).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError
from weft.kernel import kernel
from weft.learn.neural.forests import IDENTITY, Batch

#: What f computes of a, and its derivative from h = f(a).
ACTIVATIONS: dict[str, tuple[Callable[[Floats], Floats], Callable[[Floats], Floats]]] = {
    "tanh": (np.tanh, lambda h: 1.0 - h * h),
    "identity": (lambda a: a, np.ones_like),
    "sigmoid": (lambda a: 1.0 / (1.0 + np.exp(-a)), lambda h: h * (1.0 - h)),
    "relu": (lambda a: np.maximum(a, 0.0), lambda h: (h > 0.0).astype(np.float64)),
}
Parameters = dict[str, Floats]


@dataclass
class RecursiveNetwork:
    """A network; its `parameters` are `edges` [matrices, n, n], and `input` [n, d] unless words pass unchanged.

    >>> from weft.learn.neural.structures import chain_structures
    >>> network = RecursiveNetwork.new(2, 2, 1, "identity", noise=0.0)
    >>> batch = chain_structures([3], np.arange(3, dtype=np.int32)).batch()
    >>> network.encode(batch, np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 2.0]])).tolist()
    [[1.0, 3.0]]
    """

    size: int  #: the length of the vector of a node
    activation: str
    parameters: Parameters
    _states: Floats = field(default_factory=lambda: np.zeros((0, 0)), repr=False)
    _inputs: tuple[Ids, Floats] = field(default_factory=lambda: (np.zeros(0, np.int32), np.zeros((0, 0))), repr=False)

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise ConfigError(f"the activation must be one of {', '.join(ACTIVATIONS)}, got {self.activation!r}")

    @classmethod
    def new(
        cls, n: int, d: int, matrices: int, activation: str = "tanh", noise: float = 0.01, seed: int = 0
    ) -> RecursiveNetwork:
        """A network that is not trained yet: (block) identities with Gaussian noise; d = 0 if words pass unchanged."""
        rng = np.random.default_rng(seed)
        parameters = {"edges": np.eye(n)[None] + noise * rng.standard_normal((matrices, n, n))}
        if d:
            parameters["input"] = np.eye(n, d) + noise * rng.standard_normal((n, d))
        return cls(n, activation, parameters)

    def encode(self, batch: Batch, vectors: Floats) -> Floats:
        """The vectors of structures, those of their roots; keeps what `gradients` needs."""
        f = ACTIVATIONS[self.activation][0]
        edges = self.parameters["edges"]
        states = np.zeros((batch.nodes, self.size))
        # Every word is multiplied once, however often it occurs.
        words, places = distinct(batch.words, len(vectors))
        inputs = vectors[words]
        _place_rows(
            inputs if batch.passes else inputs @ self.parameters["input"].T, places, batch.shares, batch.passes, states
        )
        for height, (first, end) in enumerate(batch.levels):
            groups = batch.groups[height] if height < len(batch.groups) else []
            if groups:
                start, stop = groups[0].first, groups[-1].end
                below = states[batch.children[start:stop]]
                sent = np.empty_like(below)
                for matrix, a, b in groups:
                    own = slice(a - start, b - start)
                    if matrix == IDENTITY:
                        sent[own] = below[own]
                    else:
                        np.matmul(below[own], edges[matrix].T, out=sent[own])
                _add_rows(batch.parents[start:stop], batch.factors[start:stop], sent, states)
            if height or not batch.passes:
                states[first:end] = f(states[first:end])
        self._states, self._inputs = states, (places, inputs)
        found: Floats = states[batch.roots]
        return found

    def gradients(self, batch: Batch, upstream: Floats) -> Parameters:
        """The gradients of the parameters from those of the vectors of the batch that was encoded last."""
        slope = ACTIVATIONS[self.activation][1]
        edges, states, (places, inputs) = self.parameters["edges"], self._states, self._inputs
        found = {name: np.zeros_like(value) for name, value in self.parameters.items()}
        deltas = np.zeros_like(states)
        deltas[batch.roots] = upstream
        for height in range(len(batch.levels) - 1, -1, -1):
            first, end = batch.levels[height]
            if height or not batch.passes:
                deltas[first:end] *= slope(states[first:end])
            groups = batch.groups[height] if height < len(batch.groups) else []
            if groups:
                start, stop = groups[0].first, groups[-1].end
                above = deltas[batch.parents[start:stop]] * batch.factors[start:stop, None]
                below = states[batch.children[start:stop]]
                for matrix, a, b in groups:
                    if matrix != IDENTITY:
                        own = above[a - start : b - start]
                        found["edges"][matrix] += own.T @ below[a - start : b - start]
                        above[a - start : b - start] = own @ edges[matrix]
                deltas[batch.children[start:stop]] = above
        if not batch.passes:
            by_word = np.zeros((len(inputs), self.size))
            _gather_rows(deltas, places, batch.shares, by_word)
            found["input"] = by_word.T @ inputs
        return found


def distinct(words: Ids, size: int) -> tuple[Ints, Ids]:
    """The words of a batch, each once, and the place of every node's word among them (-1 without a word).

    >>> [each.tolist() for each in distinct(np.array([7, -1, 3, 7], dtype=np.int32), 9)]
    [[7, 3], [0, -1, 1, 0]]
    """
    places, first = np.full(len(words), -1, dtype=np.int32), np.full(size, -1, dtype=np.int32)
    found = np.zeros(min(len(words), size), dtype=np.int64)
    return found[: _distinct(words, first, found, places)], places


@kernel
def _distinct(words: Ids, first: Ids, found: Ints, places: Ids) -> int:
    count = 0
    for i in range(len(words)):
        word = words[i]
        if word >= 0:
            if first[word] < 0:
                first[word] = count
                found[count] = word
                count += 1
            places[i] = first[word]
    return count


@kernel
def _place_rows(values: Floats, places: Ids, shares: Floats, passes: bool, states: Floats) -> None:
    for i in range(len(places)):
        place, share = places[i], 1.0 if passes else shares[i]
        if place >= 0:
            for k in range(states.shape[1]):
                states[i, k] = share * values[place, k]


@kernel
def _gather_rows(deltas: Floats, places: Ids, shares: Floats, by_word: Floats) -> None:
    for i in range(len(places)):
        place, share = places[i], shares[i]
        if place >= 0:
            for k in range(deltas.shape[1]):
                by_word[place, k] += share * deltas[i, k]


@kernel
def _add_rows(rows: Ints, factors: Floats, values: Floats, table: Floats) -> None:
    for k in range(len(rows)):
        row, factor = rows[k], factors[k]
        for i in range(table.shape[1]):
            table[row, i] += factor * values[k, i]

"""Expectations by position: the model's label probabilities at some words are pulled to target distributions.

With E_{i,l} = p(y_i = l | x) and targets t_{i,l} at the constrained positions i of a sentence s of weight w_s

    squared    S = - sum_s w_s sum_{i in s} sum_l (t_{i,l} - E_{i,l})^2              u_{i,l} = 2 (t_{i,l} - E_{i,l})
    kl         S = - sum_s w_s sum_{i in s} sum_l t_{i,l} log(t_{i,l} / E_{i,l})     u_{i,l} = t_{i,l} / E_{i,l}

and the derivative of S by the score of a part r of s is  w_s Cov(1[r], F),  F(y) = sum_i u_{i, y_i}: one covariance of
the chain, O(n L^2), however many positions are constrained. Positions without a target are free; that is not the same
as a target of O. With kl and targets of one label, S is the log-probability of those labels, each by itself, with
everything else summed out.

`weft.learn.signals.Expectations` compares sums over the whole corpus with their targets; here every position has its
own distance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ints
from weft.errors import ConfigError
from weft.infer.chains.chain import ChainParts
from weft.learn.chains.labels import LabelSpace
from weft.ragged import sentence_of

_LEAST = 1e-300  # what stands for a probability that is zero to the machine


@dataclass(frozen=True)
class LabelTargets:
    """Target distributions over labels at some words of a batch of chains.

    `positions` are words of the batch in order, `values[k]` the target at `positions[k]`, `space` holds the labels,
    `sentences` the offsets of sentences.

    >>> space = LabelSpace(["LOC", "O"])
    >>> targets = LabelTargets.of([[0.4, 0.6], [0.0, 0.0]], [True, False], space, [0, 2])
    >>> targets.positions, targets.values
    (array([0]), array([[0.4, 0.6]]))
    """

    positions: Ints
    values: Floats
    space: LabelSpace
    sentences: Ints

    @classmethod
    def of(cls, values: ArrayLike, constrained: ArrayLike, space: LabelSpace, sentences: ArrayLike) -> LabelTargets:
        """Targets from one row `[word, label]` per word and the mask of the words that have one."""
        table, mask = np.asarray(values, dtype=np.float64), np.asarray(constrained, dtype=np.bool_)
        bounds = np.asarray(sentences, dtype=np.int64)
        if table.shape != (int(bounds[-1]), len(space.labels)) or mask.shape != table.shape[:1]:
            raise ConfigError(
                f"targets must have a row for each of {int(bounds[-1])} words and a column for each of "
                f"{len(space.labels)} labels, the mask one value per word; given: {table.shape} and {mask.shape}"
            )
        found = cls(np.flatnonzero(mask), table[mask], space, bounds)
        wrong = (found.values < 0).any(axis=1) | (np.abs(found.values.sum(axis=1) - 1.0) > 1e-6)
        if wrong.any():
            first = int(np.flatnonzero(wrong)[0])
            raise ConfigError(
                f"every target must be a distribution over labels; that of word {found.positions[first]} is "
                f"{found.values[first].tolist()}"
            )
        return found

    def __len__(self) -> int:
        """Number of constrained words."""
        return len(self.positions)

    def expect(self, node: Floats) -> Floats:
        """Label probabilities `[k, label]` at the constrained words, from the marginals of states."""
        return self.space.label_marginals(node[self.positions])

    def combine(self, coefficients: Floats) -> ChainParts:
        """The function  F(y) = sum over constrained words of coefficient[k, y_k],  as parts."""
        states = self.space.n_states
        node = np.zeros((int(self.sentences[-1]), states))
        node[self.positions] = coefficients[:, self.space.tags(np.arange(states, dtype=np.int32))]
        return ChainParts(node, np.zeros((states, states)), self.sentences)

    def by_word(self, weight: Floats) -> Floats:
        """Of one number per sentence, that of every constrained word."""
        return weight[sentence_of(self.sentences)[self.positions]]

    def cut(self, first: int, end: int) -> LabelTargets:
        """The targets of sentences `first:end`."""
        lo, hi = int(self.sentences[first]), int(self.sentences[end])
        a, b = np.searchsorted(self.positions, [lo, hi])
        return LabelTargets(
            self.positions[a:b] - lo, self.values[a:b], self.space, self.sentences[first : end + 1] - lo
        )


@dataclass(frozen=True)
class LabelExpectations:
    """Generalized expectation with one distance per position; the batch carries `LabelTargets` as `constraints`.

    `strength` is the weight of the term beside other objectives.

    >>> from weft.infer.chains.chain import Chain
    >>> from types import SimpleNamespace
    >>> targets = LabelTargets.of([[0.75, 0.25]], [True], LabelSpace(["LOC", "O"]), [0, 1])
    >>> batch = SimpleNamespace(constraints=targets, weight=np.ones(1))
    >>> value, parts = LabelExpectations()(Chain(np.zeros((1, 2)), np.zeros((2, 2)), [0, 1]), batch)
    >>> value, parts.node
    (-0.125, array([[ 0.25, -0.25]]))
    """

    distance: str = "squared"
    strength: float = 1.0

    def __post_init__(self) -> None:
        if self.distance not in ("squared", "kl"):
            raise ConfigError(f"the distances of expectations are 'squared' and 'kl', not {self.distance!r}")
        if self.strength < 0:
            raise ConfigError(f"strength must be at least 0, got {self.strength}")

    def __call__(self, structure: Any, batch: Any) -> tuple[float, Any]:
        targets = getattr(batch, "constraints", None)
        if not isinstance(targets, LabelTargets):
            raise ConfigError("LabelExpectations needs a batch with LabelTargets as `constraints`")
        expected = targets.expect(structure.node_marginals())
        value = self.strength * float(targets.by_word(batch.weight) @ self.value(targets.values, expected))
        slopes = self.strength * self.slopes(targets.values, expected)
        return value, structure.covariance(targets.combine(slopes), batch.weight)

    def value(self, targets: Floats, expected: Floats) -> Floats:
        """Minus the distance, one number per row."""
        if self.distance == "squared":
            found: Floats = -((targets - expected) ** 2).sum(axis=1)
            return found
        ratio = np.where(targets > 0, targets, 1.0) / np.maximum(expected, _LEAST)
        found = -np.where(targets > 0, targets * np.log(ratio), 0.0).sum(axis=1)
        return found

    def slopes(self, targets: Floats, expected: Floats) -> Floats:
        """Derivative of the value by every expectation, up to a constant per row (which no covariance sees)."""
        if self.distance == "squared":
            return 2.0 * (targets - expected)
        return targets / np.maximum(expected, _LEAST)

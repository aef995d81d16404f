"""The smallest structure: one choice among labels, and its linear model over sparse feature rows.

    score(item, label) = sum over features f of the item of  value_f * weights[f, label]
    p(label | item) = exp(score(item, label)) / sum over labels

With conditional likelihood this is multinomial logistic regression (the local models of a MEMM included), with the
perceptron or a margin the multiclass classifiers of those names. An item takes the place of a sentence. Parts are an
array [items, labels]; masks are booleans of that shape; a solution is an array of label numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import ConfigError, InferenceError
from weft.infer.parts import ArrayParts
from weft.kernel import kernel
from weft.learn.protocol import Indices


@dataclass(frozen=True, slots=True)
class ChoiceParts(ArrayParts):
    """One number per item and label."""

    numbers = ("values",)

    values: Floats


class Choice:
    """Scores of labels for a batch of items; forbidden labels score minus infinity.

    >>> choice = Choice(np.log([[1.0, 3.0], [2.0, 2.0]]))
    >>> choice.best(), choice.marginals().values
    (array([1, 0]), array([[0.25, 0.75], [0.5 , 0.5 ]]))
    """

    __slots__ = ("scores",)

    def __init__(self, scores: Floats) -> None:
        self.scores = scores

    def best(self) -> Indices:
        return self.scores.argmax(axis=1)

    def kbest(self, k: int) -> list[list[Indices]]:
        order = np.argsort(-self.scores, axis=1, kind="stable")[:, :k]
        return [[row[j : j + 1] for j in range(len(row)) if self.scores[i, row[j]] > -np.inf]
                for i, row in enumerate(order)]  # fmt: skip

    def score(self, solution: Indices) -> Floats:
        return self.scores[np.arange(len(solution)), solution]

    def parts(self, solution: Indices, weight: Floats | None = None) -> ChoiceParts:
        values = np.zeros(self.scores.shape)
        values[np.arange(len(solution)), solution] = 1.0 if weight is None else weight
        return ChoiceParts(values)

    def log_partition(self) -> Floats:
        return self.log_partition_and_marginals()[0]

    def marginals(self, weight: Floats | None = None) -> ChoiceParts:
        return self.log_partition_and_marginals(weight)[1]

    def log_partition_and_marginals(self, weight: Floats | None = None) -> tuple[Floats, ChoiceParts]:
        top = self.scores.max(axis=1, keepdims=True)
        values = np.exp(self.scores - top)
        total = values.sum(axis=1)
        values *= (1.0 / total if weight is None else weight / total)[:, None]
        return top[:, 0] + np.log(total), ChoiceParts(values)

    def covariance(self, function: ChoiceParts, weight: Floats | None = None) -> ChoiceParts:
        marginals = self.marginals().values
        centred = function.values - (function.values * marginals).sum(axis=1, keepdims=True)
        return ChoiceParts(marginals * centred if weight is None else marginals * centred * weight[:, None])

    def augment(self, parts: ChoiceParts) -> Choice:
        return Choice(self.scores + parts.values)

    def restrict(self, allowed: NDArray[np.bool_]) -> Choice:
        scores = np.where(allowed, self.scores, -np.inf)
        empty = ~(scores > -np.inf).any(axis=1)
        if empty.any():
            raise InferenceError(f"The mask allows no label for item {int(empty.argmax())}; allow at least one.")
        return Choice(scores)

    def hamming(self, solution: Indices, weight: float = 1.0) -> ChoiceParts:
        values = np.full(self.scores.shape, weight)
        values[np.arange(len(solution)), solution] = 0.0
        return ChoiceParts(values)

    def differs(self, one: Indices, other: Indices) -> Floats:
        return (one != other).astype(np.float64)


@dataclass
class ChoiceBatch:
    """Items as rows of a sparse matrix (values plus offsets), gold labels or None, weights, and optional masks."""

    offsets: Indices
    features: Indices
    values: Floats
    gold: Indices | None
    weight: Floats
    allowed: Any = None
    space: Any = None
    constraints: Any = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def one(self, item: int) -> ChoiceBatch:
        """One item as a batch, for online learners."""
        begin, end = self.offsets[item], self.offsets[item + 1]
        return ChoiceBatch(
            np.array([0, end - begin]),
            self.features[begin:end],
            self.values[begin:end],
            None if self.gold is None else self.gold[item : item + 1],
            self.weight[item : item + 1],
        )


class ChoiceModel:
    """Weights [features, labels], flat and row by row.

    >>> model = ChoiceModel(features=2, labels=2)
    >>> batch = model.batch([[1.0, 0.0], [1.0, 2.0]])
    >>> model.score(batch, np.array([0.0, 1.0, 3.0, 0.0])).scores
    array([[0., 1.], [6., 1.]])
    """

    def __init__(self, features: int, labels: int) -> None:
        if features < 1 or labels < 2:
            raise ConfigError(f"ChoiceModel needs at least 1 feature and 2 labels, got {features} and {labels}.")
        self.features, self.labels = features, labels

    @property
    def size(self) -> int:
        return self.features * self.labels

    def batch(self, rows: Any, gold: ArrayLike | None = None, weight: ArrayLike | None = None) -> ChoiceBatch:
        """A batch from a dense array or a SciPy sparse matrix [items, features]."""
        from scipy.sparse import csr_matrix

        matrix = csr_matrix(rows, dtype=np.float64)
        if matrix.shape[1] != self.features:
            raise ConfigError(f"The model has {self.features} features, the rows have {matrix.shape[1]} columns.")
        items = matrix.shape[0]
        return ChoiceBatch(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int64),
            matrix.data,
            None if gold is None else np.asarray(gold, dtype=np.int64),
            np.ones(items) if weight is None else np.asarray(weight, dtype=np.float64),
        )

    def score(self, batch: ChoiceBatch, weights: Floats) -> Choice:
        scores = np.zeros((len(batch), self.labels))
        _score(batch.offsets, batch.features, batch.values, weights.reshape(self.features, self.labels), scores)
        return Choice(scores)

    def scatter(self, batch: ChoiceBatch, parts: ChoiceParts, into: Floats) -> None:
        _scatter(batch.offsets, batch.features, batch.values, parts.values, into.reshape(self.features, self.labels))

    def sparse(self, batch: ChoiceBatch, parts: ChoiceParts) -> tuple[Indices, Floats]:
        item = np.repeat(np.arange(len(batch)), np.diff(batch.offsets))
        spread = (parts.values[item] * batch.values[:, None]).ravel()
        places, where = np.unique(self.active(batch), return_inverse=True)
        values = np.bincount(where.ravel(), weights=spread, minlength=len(places))
        kept = values != 0.0
        return places[kept], values[kept]

    def active(self, batch: ChoiceBatch) -> Indices:
        return (batch.features[:, None] * self.labels + np.arange(self.labels)).ravel()

    def curvature(self, batch: ChoiceBatch, structure: Choice, into: Floats) -> None:
        p = structure.marginals().values
        variance = p * (1.0 - p) * batch.weight[:, None]
        squares = batch.values * batch.values
        _scatter(batch.offsets, batch.features, squares, variance, into.reshape(self.features, self.labels))

    def most_active(self, batch: ChoiceBatch) -> float:
        if len(batch.values) and batch.values.min() < 0:
            raise ConfigError("Iterative scaling needs feature values >= 0; use another optimizer.")
        rows = np.repeat(np.arange(len(batch)), np.diff(batch.offsets))
        return float(np.bincount(rows, weights=batch.values, minlength=len(batch)).max(initial=0.0))


@kernel
def _score(offsets: Indices, features: Indices, values: Floats, weights: Floats, scores: Floats) -> None:
    for item in range(offsets.shape[0] - 1):
        for place in range(offsets[item], offsets[item + 1]):
            for label in range(scores.shape[1]):
                scores[item, label] += values[place] * weights[features[place], label]


@kernel
def _scatter(offsets: Indices, features: Indices, values: Floats, parts: Floats, into: Floats) -> None:
    for item in range(offsets.shape[0] - 1):
        for place in range(offsets[item], offsets[item + 1]):
            for label in range(parts.shape[1]):
                into[features[place], label] += values[place] * parts[item, label]

"""A structure that enumerates all its solutions, its linear model, and small problems for tests of learners."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.features.weights import Layout
from weft.infer.chains.chain import Chain, ChainParts
from weft.learn.chains.labels import LabelSpace
from weft.learn.chains.model import ChainBatch, ChainModel, FeatureRows
from weft.learn.linear.choice import ChoiceBatch, ChoiceModel

Floats = NDArray[np.float64]


@dataclass
class ListParts:
    """One array of parts a sentence."""

    rows: list[Floats]

    def __add__(self, other: ListParts) -> ListParts:
        return ListParts([a + b for a, b in zip(self.rows, other.rows, strict=True)])

    def __sub__(self, other: ListParts) -> ListParts:
        return ListParts([a - b for a, b in zip(self.rows, other.rows, strict=True)])

    def scale(self, factor: float) -> ListParts:
        return ListParts([row * factor for row in self.rows])

    def inner(self, other: ListParts) -> float:
        return float(sum(a @ b for a, b in zip(self.rows, other.rows, strict=True)))


@dataclass
class Enumerated:
    """`tables[s][y]` holds the parts of solution y, `labels[s][y]` its decisions; a solution is a number a sentence."""

    tables: list[Floats]
    labels: list[NDArray[np.int64]]
    scores: list[Floats]
    alive: list[NDArray[np.bool_]] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.alive:
            self.alive = [np.ones(len(table), dtype=bool) for table in self.tables]

    def _all(self) -> list[Floats]:
        return [
            np.where(ok, table @ score, -np.inf)
            for table, score, ok in zip(self.tables, self.scores, self.alive, strict=True)
        ]

    def _chances(self) -> list[Floats]:
        return [np.exp(row - np.logaddexp.reduce(row)) for row in self._all()]

    def best(self) -> NDArray[np.int64]:
        return np.array([int(row.argmax()) for row in self._all()])

    def kbest(self, k: int) -> list[list[NDArray[np.int64]]]:
        return [
            [np.array([y]) for y in np.argsort(-row, kind="stable")[:k] if np.isfinite(row[y])] for row in self._all()
        ]

    def score(self, solution: Any) -> Floats:
        return np.array([row[y] for row, y in zip(self._all(), solution, strict=True)])

    def _weigh(self, rows: list[Floats], weight: Floats | None) -> ListParts:
        each = np.ones(len(rows)) if weight is None else weight
        return ListParts([row * w for row, w in zip(rows, each, strict=True)])

    def parts(self, solution: Any, weight: Floats | None = None) -> ListParts:
        return self._weigh([table[y] for table, y in zip(self.tables, solution, strict=True)], weight)

    def log_partition(self) -> Floats:
        return np.array([np.logaddexp.reduce(row) for row in self._all()])

    def marginals(self, weight: Floats | None = None) -> ListParts:
        return self._weigh([p @ table for p, table in zip(self._chances(), self.tables, strict=True)], weight)

    def log_partition_and_marginals(self, weight: Floats | None = None) -> tuple[Floats, ListParts]:
        return self.log_partition(), self.marginals(weight)

    def covariance(self, function: ListParts, weight: Floats | None = None) -> ListParts:
        rows = []
        for p, table, values in zip(self._chances(), self.tables, function.rows, strict=True):
            of_solution = table @ values
            rows.append((p * (of_solution - p @ of_solution)) @ table)
        return self._weigh(rows, weight)

    def augment(self, parts: ListParts) -> Enumerated:
        scores = [a + b for a, b in zip(self.scores, parts.rows, strict=True)]
        return Enumerated(self.tables, self.labels, scores, self.alive)

    def restrict(self, allowed: list[NDArray[np.bool_]]) -> Enumerated:
        """`allowed[s][position, label]`."""
        alive = []
        for labels, ok, mask in zip(self.labels, self.alive, allowed, strict=True):
            alive.append(ok & mask[np.arange(labels.shape[1]), labels].all(axis=1))
        return Enumerated(self.tables, self.labels, self.scores, alive)

    def hamming(self, solution: Any, weight: float = 1.0) -> ListParts:
        rows = []
        for table, labels, y in zip(self.tables, self.labels, solution, strict=True):
            size = labels.max() + 1
            row = np.zeros(table.shape[1])
            for position, label in enumerate(labels[y]):
                row[position * size : (position + 1) * size] = weight
                row[position * size + label] = 0.0
            rows.append(row)
        return ListParts(rows)

    def differs(self, one: Any, other: Any) -> Floats:
        rows = zip(self.labels, one, other, strict=True)
        return np.array([float((labels[a] != labels[b]).sum()) for labels, a, b in rows])


@dataclass
class ListBatch:
    """`features[s]` maps parts to weights."""

    lengths: list[int]
    features: list[Floats]
    gold: Any
    weight: Floats
    allowed: Any = None
    space: Any = None
    constraints: Any = None

    def __len__(self) -> int:
        return len(self.lengths)


class ListModel:
    """Chains over a few labels by enumeration; every part has a row of real feature values."""

    def __init__(self, labels: int, size: int) -> None:
        self.labels, self.size = labels, size

    def tables(self, length: int) -> tuple[Floats, NDArray[np.int64]]:
        states = self.labels
        paths = np.array(list(product(range(states), repeat=length)))
        table = np.zeros((len(paths), length * states + (length - 1) * states**2))
        for y, path in enumerate(paths):
            for i, label in enumerate(path):
                table[y, i * states + label] = 1.0
                if i:
                    table[y, length * states + (i - 1) * states**2 + path[i - 1] * states + label] = 1.0
        return table, paths

    def score(self, batch: ListBatch, weights: Floats) -> Enumerated:
        found = [self.tables(length) for length in batch.lengths]
        scores = [features @ weights for features in batch.features]
        return Enumerated([table for table, _ in found], [paths for _, paths in found], scores)

    def scatter(self, batch: ListBatch, parts: ListParts, into: Floats) -> None:
        for features, row in zip(batch.features, parts.rows, strict=True):
            into += features.T @ row

    def sparse(self, batch: ListBatch, parts: ListParts) -> tuple[NDArray[np.int64], Floats]:
        into = np.zeros(self.size)
        self.scatter(batch, parts, into)
        return np.flatnonzero(into), into[np.flatnonzero(into)]

    def active(self, batch: ListBatch) -> NDArray[np.int64]:
        return np.flatnonzero(sum(np.abs(features).sum(axis=0) for features in batch.features))


def enumerated_problem(seed: int = 0, sentences: int = 5, labels: int = 3) -> tuple[ListModel, ListBatch]:
    """Random chains with half of the feature values zero."""
    random = np.random.default_rng(seed)
    model = ListModel(labels, size=12)
    lengths = random.integers(1, 4, sentences).tolist()
    features, gold, allowed, space = [], [], [], []
    for length in lengths:
        table, paths = model.tables(length)
        values = random.normal(size=(table.shape[1], model.size))
        features.append(values * (random.random(values.shape) < 0.5))
        gold.append(int(random.integers(len(table))))
        inside = random.random((length, labels)) < 0.7
        inside[np.arange(length), paths[gold[-1]]] = True
        space.append(inside)
        allowed.append(inside & (random.random((length, labels)) < 0.6))
        allowed[-1][np.arange(length), paths[gold[-1]]] = True
    weight = random.uniform(0.5, 2.0, sentences)
    return model, ListBatch(lengths, features, np.array(gold), weight, allowed, space)


def chain_problem(
    seed: int = 0, sentences: int = 12, order: int = 2, features: int = 15, length: int = 9
) -> tuple[ChainModel, ChainBatch]:
    """Random IOB2 sentences whose features say something, but not all, about the labels."""
    random = np.random.default_rng(seed)
    space = LabelSpace(["B", "I", "O"], order=order, scheme="IOB2")
    layout = Layout.from_mask(np.ones((features, space.n_columns), dtype=bool))
    transitions = np.where(space.legal, np.cumsum(space.legal).reshape(space.legal.shape) - 1, -1).astype(np.int32)
    model = ChainModel(space, layout, transitions)
    lengths = random.integers(1, length, sentences)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    tags = []
    for n in lengths:
        before = 2
        for _ in range(n):
            before = int(random.choice([0, 1, 2] if before != 2 else [0, 2]))
            tags.append(before)
    told = np.where(random.random(len(tags)) < 0.8, tags, random.integers(0, 3, len(tags)))
    noise = random.integers(3, features, (len(tags), 2))
    rows = np.concatenate([told[:, None], noise], axis=1).astype(np.int32).ravel()
    node = FeatureRows(rows, np.arange(len(tags) + 1, dtype=np.int64) * 3, np.zeros(0))
    gold = space.states(np.array(tags, dtype=np.int32), offsets)
    weight = random.uniform(0.5, 2.0, sentences)
    return model, ChainBatch(offsets, node, None, gold, weight, space.allowed(offsets))


def choice_problem(
    seed: int = 0, items: int = 60, features: int = 6, labels: int = 3, noise: float = 1.0
) -> tuple[ChoiceModel, ChoiceBatch]:
    """Items with non-negative features whose labels follow a hidden model, with noise."""
    random = np.random.default_rng(seed)
    rows = random.random((items, features)) * (random.random((items, features)) < 0.6)
    rows[:, 0] = 1.0
    hidden = random.normal(size=(features, labels)) * 3
    gold = (rows @ hidden + noise * random.gumbel(size=(items, labels))).argmax(axis=1)
    model = ChoiceModel(features, labels)
    return model, model.batch(rows, gold, random.uniform(0.5, 2.0, items))


def central_differences(function: Any, weights: Floats, width: float = 1e-5) -> Floats:
    """The gradient of a function of weights, coordinate by coordinate."""
    gradient = np.zeros(len(weights))
    for i in range(len(weights)):
        up, down = weights.copy(), weights.copy()
        up[i] += width
        down[i] -= width
        gradient[i] = (function(up) - function(down)) / (2 * width)
    return gradient


def relative_error(found: Floats, expected: Floats) -> float:
    return float(np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-12))


@dataclass
class ChainConstraints:
    """Constraint features of chains whose sentences share their edges."""

    features: list[ChainParts]

    def expect(self, parts: ChainParts) -> Floats:
        return np.array([np.vdot(f.node, parts.node) + np.vdot(f.edge, parts.edge) for f in self.features])

    def combine(self, coefficients: Floats) -> ChainParts:
        total = self.features[0].scale(float(coefficients[0]))
        for feature, coefficient in zip(self.features[1:], coefficients[1:], strict=True):
            total = total + feature.scale(float(coefficient))
        return total


def random_chain_constraints(chain: Chain, count: int, seed: int = 0) -> ChainConstraints:
    random = np.random.default_rng(seed)
    return ChainConstraints(
        [
            ChainParts(random.normal(size=chain.node.shape), random.normal(size=(chain.n_states,) * 2), chain.offsets)
            for _ in range(count)
        ]
    )

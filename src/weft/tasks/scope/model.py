"""Three-way probabilities of pairs of nodes, and the order that agrees best with them.

    p_uv(+) u outscopes v,   p_uv(-) v outscopes u,   p_uv(none) neither;   p_vu(+) = p_uv(-), p_vu(none) = p_uv(none)

    best order = argmax over partial orders G of  sum over pairs of  p_uv(label of the pair in G)

Probabilities are a softmax over the scores of a multiclass support vector machine (Crammer and Singer); pairs with a
negation have a machine of their own. A pair is always scored in one direction, so that the other one is its mirror
image by construction. Incomparable is a label to be learned, not a lack of confidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.declared import Array, Stored
from weft.errors import ConfigError
from weft.headers import Many, Record, Text
from weft.infer.orders.consensus import Preferences
from weft.learn.linear.multiclass import crammer_singer
from weft.storage import Arrays
from weft.tasks.scope.features import Chunk, chunk_of, in_order, pair_features
from weft.tasks.scope.syntax import Syntax
from weft.text.conventions.scope import COLLECTION, DISTRIBUTIVE, NEGATION, Node, Scoping, own_pairs

#: The labels of a pair: the first node outscopes the second, the second the first, neither.
BEFORE, AFTER, APART = 0, 1, 2
SEARCHES = ("closure", "all or none", "exact")
_WEIGHTS = Array("weights", "float64", ("rows", 3))
_BIAS = Array("bias", "float64", (3,))


@dataclass(frozen=True)
class PairModel:
    """A linear model of the three labels of pairs: one row of weights per feature."""

    names: Mapping[str, int]
    weights: Floats
    bias: Floats

    @classmethod
    def fit(cls, rows: Sequence[Sequence[str]], labels: Sequence[int], c: float, seed: int = 0) -> PairModel:
        """Learn from pairs given by the names of their features; labels that never occur are never chosen."""
        names = {name: k for k, name in enumerate(dict.fromkeys(name for row in rows for name in row))}
        machine = crammer_singer(_matrix(rows, names), np.asarray(labels), c=c, seed=seed)
        weights, bias = np.zeros((len(names), 3)), np.full(3, -np.inf)
        kinds = machine.labels.astype(np.int64)
        weights[:, kinds], bias[kinds] = machine.weights, machine.bias
        return cls(names, weights, np.maximum(bias, -1e3))

    def probabilities(self, rows: Sequence[Sequence[str]]) -> Floats:
        """Probabilities of the three labels for every pair; unknown features count nothing."""
        scores = np.tile(self.bias, (len(rows), 1))
        for number, row in enumerate(rows):
            known = [self.names[name] for name in row if name in self.names]
            scores[number] += self.weights[known].sum(axis=0)
        scores = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-np.inf))
        return scores / scores.sum(axis=1, keepdims=True)

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """The names of features, and the weights."""
        return {"features": list(self.names)}, {"weights": self.weights, "bias": self.bias}

    @classmethod
    def from_state(cls, header: dict[str, Any], stored: Stored) -> PairModel:
        """Restore a model from a checked header and arrays."""
        Record(features=Many(Text())).check(header)
        names = {name: k for k, name in enumerate(header["features"])}
        if len(names) != len(header["features"]):
            raise ConfigError("a model of scope names a feature twice; train it again")
        arrays = stored.take(_WEIGHTS, _BIAS, rows=len(names))
        return cls(names, arrays["weights"], arrays["bias"])


def _matrix(rows: Sequence[Sequence[str]], names: Mapping[str, int]) -> Any:
    from scipy.sparse import csr_matrix

    columns = [names[name] for row in rows for name in row]
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return csr_matrix((np.ones(len(columns)), columns, offsets), shape=(len(rows), len(names)))


@dataclass(frozen=True)
class ScopeModel:
    """The models of noun phrases and of negations; one that was never seen in training leaves its pairs apart."""

    features: str
    nouns: PairModel | None
    negations: PairModel | None

    @classmethod
    def fit(
        cls,
        syntaxes: Sequence[Syntax],
        scopings: Sequence[Scoping],
        features: str = "rich",
        c: float = 0.1,
        seed: int = 0,
    ) -> ScopeModel:
        """Learn from the scopings of sentences."""
        return next(iter(cls.fit_each(syntaxes, scopings, features, [c], seed).values()))

    @classmethod
    def fit_each(
        cls, syntaxes: Sequence[Syntax], scopings: Sequence[Scoping], features: str, cs: Sequence[float], seed: int = 0
    ) -> dict[float, ScopeModel]:
        """A model for every value of C: every pair but a collection and its own universal is a sample."""
        rows: dict[bool, list[list[str]]] = {False: [], True: []}
        labels: dict[bool, list[int]] = {False: [], True: []}
        for syntax, scoping in zip(syntaxes, scopings, strict=True):
            order = scoping.order
            for u, v, negated, found in _pairs(syntax, scoping.nodes, features):
                rows[negated].append(found)
                labels[negated].append(BEFORE if order[u, v] else AFTER if order[v, u] else APART)

        def learned(kind: bool, c: float) -> PairModel | None:
            return PairModel.fit(rows[kind], labels[kind], c, seed) if rows[kind] else None

        return {c: cls(features, learned(False, c), learned(True, c)) for c in cs}

    def preferences(self, syntax: Syntax, nodes: Sequence[Node]) -> Preferences:
        """The probabilities of all pairs as a table; a collection over its own universal is required."""
        n = len(nodes)
        before, apart = np.zeros((n, n)), np.zeros((n, n))
        pairs = _pairs(syntax, nodes, self.features)
        for kind, model in ((False, self.nouns), (True, self.negations)):
            own = [pair for pair in pairs if pair[2] == kind]
            if not own:
                continue
            table: NDArray[np.float64] = (
                model.probabilities([row for *_, row in own])
                if model is not None
                else np.tile([0.0, 0.0, 1.0], (len(own), 1))
            )
            for (u, v, _, _), (forth, back, neither) in zip(own, table.tolist(), strict=True):
                before[u, v], before[v, u] = forth, back
                apart[u, v] = apart[v, u] = neither
        required = own_pairs(nodes)
        before[required] = 1.0
        return Preferences(before, apart, required)

    def scope(self, syntax: Syntax, nodes: Sequence[Node], search: str = "closure") -> Scoping:
        """The scoping that agrees best with the probabilities: greedy by closure or all-or-none, or exact."""
        placed = Scoping.of(nodes).nodes
        if len(placed) < 2:
            return Scoping.of(placed)
        wants = self.preferences(syntax, placed)
        order = wants.best() if search == "exact" else wants.greedy(search)  # type: ignore[arg-type]
        return Scoping(placed, order)


def _pairs(syntax: Syntax, nodes: Sequence[Node], features: str) -> list[tuple[int, int, bool, list[str]]]:
    """All pairs that are learned, in the order in which they are presented: numbers, negated or not, features."""
    chunks: list[Chunk] = [chunk_of(syntax, node) for node in nodes]
    found = []
    for i in range(len(nodes)):
        for j in range(i + 1, len(nodes)):
            u, v = (i, j) if in_order(nodes[i], nodes[j]) else (j, i)
            kinds = {nodes[u].kind, nodes[v].kind}
            if kinds == {COLLECTION, DISTRIBUTIVE} and nodes[u][:2] == nodes[v][:2]:
                continue
            row = list(dict.fromkeys(pair_features(syntax, chunks[u], chunks[v], features)))
            found.append((u, v, NEGATION in kinds, row))
    return found

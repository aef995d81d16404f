"""The result of a search: an acyclic hypergraph of all derivations that it kept.

Node 0 is the empty hypothesis, the last node the goal. An edge leads from the hypothesis `tail` over an option to a
node; edges to the goal have no option (-1) and hold the scores of the end. For weights w,

    score(e) = w_options . scores of the option + w_sparse . sparse features of the option + w_rest . scores[e]

Because edges keep their scores apart, a hypergraph can be weighted anew without another search.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import InferenceError
from weft.infer.decoding.options import Options
from weft.infer.forests.forest import Forest


@dataclass(frozen=True)
class Derivation:
    """A sequence of options in the order of their words; numbers from `len(options)` on are moves."""

    options: tuple[int, ...]
    score: float
    edges: tuple[int, ...]  #: of the hypergraph, the last one to its goal


@dataclass(frozen=True, eq=False)
class Hypergraph:
    """Derivations of one sentence."""

    options: Options
    names: tuple[str, ...]  #: of all scores: those of options, then distortion and features
    first: Ints  #: edges to node v are first[v] ... first[v + 1] - 1
    tail: Ids
    option: Ids
    scores: Floats  #: of edges: distortion and features
    edge_score: Floats  #: with the weights of the search
    end: Ids  #: of nodes: where the last source span ended
    complete: Bools  #: of nodes: whether the whole source is covered
    n_moves: int = 0  #: how many of the options, at their end, are moves

    @property
    def n_nodes(self) -> int:
        return len(self.first) - 1

    def __len__(self) -> int:
        """The number of edges."""
        return len(self.tail)

    @property
    def is_empty(self) -> bool:
        """Whether no derivation was found, as in forced decoding to a translation that cannot be reached."""
        return int(self.first[-1] - self.first[-2]) == 0

    def forest(self) -> Forest:
        """The hypergraph as a forest, for its k best, sums, posteriors and samples."""
        self._check()
        tails = np.stack([self.tail, np.full(len(self), -1, np.int32)], axis=1)
        return Forest(self.first, tails, self.edge_score)

    def best(self) -> Derivation:
        """The derivation with the highest score."""
        forest = self.forest()
        edges = forest.best()
        return self._derivation(edges, forest.score(edges))

    def kbest(self, k: int, distinct: bool = False) -> list[Derivation]:
        """The k best derivations; with `distinct`, of different translations."""
        if not distinct:
            return [self._derivation(edges, score) for edges, score in self.forest().kbest_scored(k)]
        forest, wanted = self.forest(), k
        while True:
            every = forest.kbest_scored(wanted)
            found: dict[tuple[int, ...], Derivation] = {}
            for edges, score in every:
                one = self._derivation(edges, score)
                found.setdefault(tuple(self.words(one)), one)
            if len(found) >= k or len(every) < wanted or wanted > 64 * k:
                return list(found.values())[:k]
            wanted *= 2

    def sample(self, n: int, seed: int | np.random.Generator) -> list[Derivation]:
        """Derivations drawn with probabilities in proportion to exp(score)."""
        forest = self.forest()
        return [self._derivation(edges, forest.score(edges)) for edges in forest.sample(n, seed)]

    def words(self, derivation: Derivation) -> list[int]:
        """The translation of a derivation."""
        return [word for option in derivation.options for word in self.options.target(option)]

    def features(self, derivation: Derivation) -> Floats:
        """The scores of a derivation, one per name; its own score is their sum with the weights."""
        chosen = np.asarray(derivation.options, np.int64)
        own = self.options.scores[chosen].sum(axis=0)
        rest = self.scores[np.asarray(derivation.edges, np.int64)].sum(axis=0)
        return np.concatenate([own, rest])

    def feature_table(self, derivations: Iterable[Derivation]) -> Floats:
        """The scores of several derivations, one row each."""
        return np.array([self.features(each) for each in derivations]).reshape(-1, len(self.names))

    def sparse(self, derivation: Derivation) -> tuple[Ints, Floats]:
        """The sparse features of a derivation: rising ids and the sums of their values."""
        starts, ends = self.options.sparse_offsets, self.options.sparse_offsets[1:]
        rows = [np.arange(starts[option], ends[option]) for option in derivation.options]
        places = np.concatenate(rows) if rows else np.zeros(0, np.int64)
        ids, where = np.unique(self.options.sparse_ids[places], return_inverse=True)
        sums = np.bincount(where.reshape(-1), self.options.sparse_values[places], len(ids))
        return ids.astype(np.int64), sums.astype(np.float64)

    def reweighted(self, weights: Floats, sparse: Floats | None = None) -> Hypergraph:
        """The hypergraph with other weights, one per name."""
        if len(weights) != len(self.names):
            raise InferenceError(f"expected {len(self.names)} weights, one per name, got {len(weights)}")
        cut = self.options.scores.shape[1]
        own = np.append(self.options.weighted(np.asarray(weights[:cut]), sparse), 0.0)  # -1: none
        return replace(self, edge_score=own[self.option] + self.scores @ np.asarray(weights[cut:]))

    def columns(self) -> Floats:
        """The scores of all edges, those of their options included: one row per edge, one column per name."""
        own = np.vstack([self.options.scores, np.zeros((1, self.options.scores.shape[1]))])
        return np.hstack([own[self.option], self.scores])

    def _derivation(self, edges: Ints, score: float) -> Derivation:
        path = tuple(edges[::-1].tolist())
        steps = [edge for edge in path if self.option[edge] >= 0]
        return Derivation(tuple(self.option[steps].tolist()), score, path[1:])

    def _check(self) -> None:
        if self.is_empty:
            raise InferenceError("no derivation was found")

"""A graph over word trigrams that propagates tag distributions between tokens through their types.

    q_u(y)  = mean over tokens (i, j) of type u of p(y_j = y | x_i)                      tokens to types
    q*      = label propagation from q over the graph                                    types to types
    p^(y_j) = alpha p(y_j = y | x) + (1 - alpha) q*_{T(i,j)}(y)                          types to tokens
    y*      = argmax_y sum_j [ log p^(y_j) + theta(y_{j-1}, y_j) ]                       tokens to sequences

The last step is a Viterbi search with interpolated marginals as emissions and the tagger's tag bigrams as transitions,
because type distributions carry no information about the sequence (Subramanya, Petrov and Pereira 2010).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.features.representations.trigrams import TrigramContexts
from weft.graph.csr import Graph
from weft.graph.neighbours import nearest_neighbours
from weft.graph.propagation.quadratic import Propagation
from weft.infer.chains.chain import Chain
from weft.text.doc import Doc

POOLING = ("mean", "entropy")


@dataclass(frozen=True)
class Diagnostics:
    """How useful a graph is to a tagger: types without a path to a labelled type receive no information."""

    vertices: int
    labelled: int
    edges: int
    disconnected: float  # share of the unlabelled vertices without a path to a labelled one
    path_length: float  # mean path length from the other unlabelled vertices to the nearest labelled one


@dataclass(frozen=True)
class TypeGraph:
    """The graph of the trigram types of labelled and unlabelled words, and the type of every word.

    >>> labelled = Doc.from_words([["to", "run", "a"], ["the", "run", "ends"]])
    >>> raw = Doc.from_words([["to", "unrar", "a"]])
    >>> types = TypeGraph.build([labelled], [0, 1, 2, 2, 3, 1], [raw], n_tags=4, k=2)
    >>> types.of_token.tolist(), types.labelled.tolist()
    ([0, 1, 2, 3, 4, 5, 6, 7, 8], [0, 1, 2, 3, 4, 5])
    >>> spread = types.spread(np.full((9, 4), 0.25))
    >>> int(spread[7].argmax())  # `to unrar a` is like `to run a`
    1
    """

    graph: Graph
    of_token: Ids  # of labelled words, then unlabelled ones
    labelled: Ids  # vertices that occur in labelled text
    targets: Floats  # their tag distributions there, [labelled vertex, tag]

    @classmethod
    def build(
        cls,
        labelled: Sequence[Doc],
        tags: Sequence[int] | NDArray[np.integer],
        unlabelled: Sequence[Doc],
        raw: Iterable[Doc] = (),
        *,
        n_tags: int,
        k: int = 5,
        exact: bool = True,
        max_df: int | None = None,
        workers: int = 1,
    ) -> TypeGraph:
        """The graph of the types in labelled and unlabelled documents; `raw` text only adds to the counts.

        `tags` are the numbers of the labelled words' tags; the vectors of types do not use them.
        """
        contexts = TrigramContexts()
        known = contexts.add(labelled)
        of_token = np.concatenate([known, contexts.add(unlabelled)])
        contexts.add(raw, grow=False)
        if len(known) != len(tags):
            raise DataError(f"there are {len(known)} labelled words and {len(tags)} tags; give one tag per word")
        ids, similarities = nearest_neighbours(contexts.pmi(), k, exact=exact, max_df=max_df, workers=workers)
        graph = Graph.from_lists(ids, similarities).symmetric("or")
        vertices, place = np.unique(known, return_inverse=True)
        counts = np.bincount(place * n_tags + np.asarray(tags, dtype=np.int64), minlength=len(vertices) * n_tags)
        targets = counts.reshape(len(vertices), n_tags).astype(np.float64)
        targets /= targets.sum(axis=1, keepdims=True)
        return cls(graph, of_token, vertices.astype(np.int32), targets)

    def thin(self, keep: float, seed: int = 0) -> TypeGraph:
        """The same types, with each edge kept with probability `keep`."""
        return replace(self, graph=self.graph.thin(keep, seed))

    def pool(self, posteriors: Floats, how: str = "mean") -> Floats:
        """Tag distributions of types: the mean over their tokens, unweighted or weighted by certainty.

        With `entropy` the weight of a token is 1 - H(p) / log |Y|, but at least 0.001.
        """
        if how not in POOLING:
            raise ConfigError(f"pooling must be one of {', '.join(POOLING)}, got {how!r}")
        n_labels = posteriors.shape[1]
        weight = np.ones(len(posteriors))
        if how == "entropy" and n_labels > 1:
            entropy = -(posteriors * np.log(np.maximum(posteriors, 1e-300))).sum(axis=1)
            weight = np.maximum(1.0 - entropy / np.log(n_labels), 1e-3)
        n = self.graph.n_vertices
        total = np.bincount(self.of_token, weight, n)
        sums = [np.bincount(self.of_token, weight * posteriors[:, y], n) for y in range(n_labels)]
        pooled: Floats = np.stack(sums, axis=1) / total[:, None]
        return pooled

    def spread(
        self,
        posteriors: Floats,
        mu: float = 0.5,
        nu: float = 0.01,
        sweeps: int = 10,
        pooling: str = "mean",
        workers: int = 1,
    ) -> Floats:
        """q*, the distributions of types after propagation from the pooled posteriors of tokens."""
        start = self.pool(posteriors, pooling)
        problem = Propagation(self.graph, self.labelled, self.targets, mu, nu)
        return np.asarray(problem.run(start, sweeps, workers=workers), dtype=np.float64)

    def diagnostics(self) -> Diagnostics:
        """How many types have a path to a labelled type, and how long these paths are."""
        lengths = self.graph.path_lengths(self.labelled)
        unlabelled = np.ones(len(lengths), dtype=np.bool_)
        unlabelled[self.labelled] = False
        away = lengths[unlabelled]
        reached = away[away >= 0]
        return Diagnostics(
            len(lengths),
            len(self.labelled),
            self.graph.n_edges,
            float((away < 0).mean()) if len(away) else 0.0,
            float(reached.mean()) if len(reached) else 0.0,
        )


def interpolated_tags(
    posteriors: Floats, from_types: Floats, alpha: float, transitions: Floats, sentences: Ints
) -> Ids:
    """The best tags of sentences under interpolated marginals and the tagger's transitions.

    `posteriors` and `from_types` are `[word, tag]`: p of every word, and q* of its type.

    >>> p, q = np.array([[0.6, 0.4], [0.6, 0.4]]), np.array([[0.5, 0.5], [0.0, 1.0]])
    >>> interpolated_tags(p, q, 0.6, np.zeros((2, 2)), np.array([0, 2])).tolist()
    [0, 1]
    >>> interpolated_tags(p, q, 0.6, np.array([[0.0, -5.0], [0.0, 0.0]]), np.array([0, 2])).tolist()
    [1, 1]
    """
    mixed = interpolated(posteriors, from_types, alpha)
    path: Ids = Chain(np.log(np.maximum(mixed, 1e-300)), transitions, sentences).best()
    return path


def interpolated(posteriors: Floats, from_types: Floats, alpha: float) -> Floats:
    """alpha p + (1 - alpha) q*.

    >>> interpolated(np.array([[0.5, 0.5]]), np.array([[0.0, 1.0]]), 0.6).tolist()
    [[0.3, 0.7]]
    """
    return alpha * posteriors + (1.0 - alpha) * from_types if alpha < 1.0 else posteriors

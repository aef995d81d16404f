"""Topics of a typed graph by walks (King, Jha and Radev 2014): soft clusters of its words, and what walks reach.

cooc      words i and j are joined by the number of nodes, such as titles, that have an edge with both
walks     words i and j are joined by the flow from one to the other, on average of both directions
topics    Graph Factorization Clustering of that graph; column p of H says how much a word belongs to topic p
scores    walks from topic p to its words, and on towards a type, above what all topics reach alike
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_matrix

from weft.arrays import Floats, Ids
from weft.errors import ConfigError, DataError
from weft.graph.flows.propflow import propflow
from weft.graph.flows.towards import above_background, arrivals, drawn_arrivals
from weft.graph.network import Network, Nodes, network_of
from weft.learn.topics.factorization import CLUSTERS, ROUNDS, TOLERANCE, Factorization, factorize

LENGTH, KEPT = 10, 50
_ROWS = 256  # words whose flows are found together


def cooccurrence(network: Network, words: Nodes) -> Network:
    """The network of words, numbered by their places, that are joined by common neighbours.

    >>> titles = network_of(4, [0, 0, 0, 1, 1], [2, 3, 1, 2, 3])    # nodes 2 and 3 are words
    >>> cooccurrence(titles, [2, 3]).weights.tolist()
    [2.0, 2.0]
    """
    own = _checked(network, words)
    shape = (network.n_nodes, network.n_nodes)
    is_word = np.zeros(network.n_nodes, dtype=np.bool_)
    is_word[own] = True
    table = csr_matrix(((~is_word[network.targets]).astype(np.float64), network.targets, network.offsets), shape)[own]
    common = (table @ table.T).tocoo()
    upper = (common.row < common.col) & (common.data > 0)
    return network_of(len(own), common.row[upper], common.col[upper], common.data[upper])


def closeness(network: Network, words: Nodes, length: int = LENGTH, kept: int = KEPT, workers: int = 1) -> Network:
    """The network of words that are joined by PropFlow; every word keeps the `kept` words that most of it reaches.

    >>> titles = network_of(5, [0, 0, 1, 1], [2, 3, 3, 4])    # nodes 2 to 4 are words
    >>> closeness(titles, [2, 3, 4], kept=1).n_nodes
    3
    """
    if kept < 1:
        raise ConfigError("a word needs at least one neighbour")
    own = _checked(network, words)
    rows, columns, values = [], [], []
    for first in range(0, len(own), _ROWS):
        flows = propflow(network, own[first : first + _ROWS], own, length, workers=workers)
        flows[np.arange(len(flows)), first + np.arange(len(flows))] = 0.0
        most = min(kept, len(own) - 1)
        best = np.argpartition(-flows, most - 1, axis=1)[:, :most] if most else np.zeros((len(flows), 0), np.int64)
        chosen = np.take_along_axis(flows, best, axis=1)
        some = chosen > 0
        rows.append(first + np.nonzero(some)[0])
        columns.append(best[some])
        values.append(chosen[some])
    u, v, w = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    return network_of(len(own), u, v, w / 2)


def _checked(network: Network, words: Nodes) -> Ids:
    own = np.asarray(words, dtype=np.int32)
    if not len(own) or own.min() < 0 or own.max() >= network.n_nodes or len(np.unique(own)) < len(own):
        raise DataError("topics need at least one word, each a node of the network, and none twice")
    return own


@dataclass
class WalkTopics:
    """Topics over words of a network: `words` are nodes, in the order of the rows of H.

    >>> titles = network_of(6, [0, 0, 1, 1], [2, 3, 4, 5])
    >>> found = WalkTopics.of(titles, [2, 3, 4, 5], cooccurrence(titles, [2, 3, 4, 5]), 2)
    >>> types = np.array([0, 0, 1, 1, 1, 1], np.int32)
    >>> found.scores(titles, types, 0).round(2).tolist() in ([[0.5, -0.5], [-0.5, 0.5]], [[-0.5, 0.5], [0.5, -0.5]])
    True
    """

    words: Ids
    found: Factorization

    @classmethod
    def of(
        cls, network: Network, words: Nodes, graph: Network, topics: int = CLUSTERS,
        rounds: int = ROUNDS, tolerance: float = TOLERANCE, seed: int = 0, workers: int = 1,
    ) -> WalkTopics:  # fmt: skip
        """The topics of a graph of words, as `cooccurrence` or `closeness` makes it of a network."""
        own = _checked(network, words)
        if graph.n_nodes != len(own):
            raise DataError(f"the graph of words has {graph.n_nodes} nodes for {len(own)} words")
        return cls(own, factorize(graph, topics, rounds, tolerance, seed, workers))

    @property
    def n_topics(self) -> int:
        return len(self.found.sizes)

    def top_words(self, topic: int, top: int = 10) -> list[tuple[int, float]]:
        """The nodes of a topic's most important words, with their weights."""
        column = self.found.members[:, topic]
        order = np.argsort(-column, kind="stable")[:top]
        return [(int(self.words[place]), float(column[place])) for place in order.tolist() if column[place] > 0]

    def starts(self, n_nodes: int) -> Floats:
        """The weights of words from which the walks of every topic set out."""
        weights = np.zeros((self.n_topics, n_nodes))
        weights[:, self.words] = self.found.members.T
        return weights

    def scores(self, network: Network, types: Ids, wanted: int, walks: int | None = None, seed: int = 0) -> Floats:
        """The scores of the nodes of a type (columns, rising) for every topic: exact, or by that many walks."""
        starts = self.starts(network.n_nodes)
        if walks is None:
            reached = arrivals(network, types, wanted, starts)
        else:
            reached = drawn_arrivals(network, types, wanted, starts, walks, seed)
        return above_background(reached[:, types == wanted])


def similarities(scores: Floats, of: Nodes) -> Floats:
    """The cosine between the topic scores of some nodes (rows) and all (columns), for scores of topics by nodes.

    >>> similarities(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]]), [0]).tolist()
    [[1.0, 1.0, 0.0]]
    """
    lengths = np.linalg.norm(scores, axis=0)
    unit = scores / np.where(lengths > 0, lengths, 1.0)
    return unit[:, np.asarray(of, dtype=np.int64)].T @ unit

"""Networks of the words of a text, by itself or joined with those of its translation, for ranking words.

    from every word to each of the next W words of its sentence:   m if the later word is a content word, else 1/m
    joined:    EW = sum of graphs, each with its share, + a link per aligned pair, then rows that sum to 1

Edges lead from the earlier word to the later one, so mass prefers content words. Nodes are types; graphs of several
languages have nodes of their own and meet only over links, which lead from one side to the other, or both ways.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import ConfigError
from weft.graph.network import Network, network_of
from weft.kernel import kernel


class Edges(NamedTuple):
    """Directed edges with weights; parallel ones are added up."""

    sources: Ids
    targets: Ids
    weights: Floats

    @classmethod
    def of(cls, sources: Sequence[int], targets: Sequence[int], weights: Sequence[float]) -> Edges:
        """Edges from lists."""
        return cls(
            np.array(sources, dtype=np.int32), np.array(targets, dtype=np.int32), np.array(weights, dtype=np.float64)
        )


def cooccurrences(types: Ids, offsets: Ints, content: Bools, window: int = 5, boost: float = 2.0) -> Edges:
    """The edges of a text: types of its tokens, offsets of its sentences, and which tokens are content words.

    >>> tokens, content = np.array([0, 1, 2], np.int32), np.array([True, False, True])
    >>> edges = cooccurrences(tokens, np.array([0, 3]), content)
    >>> list(zip(edges.sources.tolist(), edges.targets.tolist(), edges.weights.tolist()))
    [(0, 1, 0.5), (0, 2, 2.0), (1, 2, 2.0)]
    """
    if window < 1 or not boost >= 1:
        raise ConfigError(f"a window has at least 1 word and content words weigh at least 1, got {window} and {boost}")
    ends = np.minimum(np.repeat(offsets[1:], np.diff(offsets)), np.arange(len(types)) + window + 1)
    size = int((ends - np.arange(len(types)) - 1).sum())
    sources, targets, weights = np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size)
    _pairs(types.astype(np.int32), ends, content, float(boost), sources, targets, weights)
    return Edges(sources, targets, weights)


@kernel
def _pairs(types: Ids, ends: Ints, content: Bools, boost: float, sources: Ids, targets: Ids, weights: Floats) -> None:
    at = 0
    for i in range(len(types)):
        for j in range(i + 1, ends[i]):
            sources[at] = types[i]
            targets[at] = types[j]
            weights[at] = boost if content[j] else 1.0 / boost
            at += 1


def joined(n: int, graphs: Sequence[tuple[Edges, float]], links: Edges | None = None) -> Network:
    """The network of graphs with their shares and of links between them, over n nodes; a share of 0 leaves one out.

    >>> one, other = Edges.of([0], [1], [2.0]), Edges.of([2], [3], [4.0])
    >>> network = joined(4, [(one, 0.75), (other, 0.25)], Edges.of([2], [1], [0.5]))
    >>> network.of(2), network.strengths().tolist()
    ([1, 3], [1.5, 0.0, 1.5, 0.0])
    """
    if any(share < 0 for _, share in graphs):
        raise ConfigError(f"shares of graphs are 0 or above, got {[share for _, share in graphs]}")
    parts = [(edges, share) for edges, share in graphs if share > 0]
    if links is not None and len(links.weights):
        kept = links.weights > 0
        parts.append((Edges(links.sources[kept], links.targets[kept], links.weights[kept]), 1.0))
    sources = np.concatenate([np.zeros(0, np.int32), *(edges.sources for edges, _ in parts)])
    targets = np.concatenate([np.zeros(0, np.int32), *(edges.targets for edges, _ in parts)])
    weights = np.concatenate([np.zeros(0), *(edges.weights * share for edges, share in parts)])
    return network_of(n, sources, targets, weights, directed=True)

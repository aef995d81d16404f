"""Weighted networks in compressed rows: what rankings, flows and distances run over.

    edge e of node u:  targets[e], weights[e]      offsets[u] <= e < offsets[u + 1]
    strength(u):       the sum of the weights of its edges

A network comes from a typed graph, with a weight per relation, or from arrays. Undirected is the usual case: both
directions of an edge are stored, and weights of parallel edges are added. Nodes without edges are part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.errors import ConfigError, DataError, did_you_mean
from weft.graph.store import TypedGraph
from weft.kernel import kernel

#: Numbers of nodes.
Nodes = Sequence[int] | Ids | Ints


class Network(NamedTuple):
    """Edges in compressed rows; the targets of a row rise."""

    offsets: Ints
    targets: Ids
    weights: Floats

    @property
    def n_nodes(self) -> int:
        return len(self.offsets) - 1

    def strengths(self) -> Floats:
        """The sum of the weights of every node's edges.

        >>> network_of(3, [0, 0], [1, 2], [1.0, 2.0]).strengths().tolist()
        [3.0, 1.0, 2.0]
        """
        sums = np.concatenate([[0.0], np.cumsum(self.weights)])
        if not len(self.weights):
            return np.zeros(self.n_nodes)
        starts, ends = self.offsets[:-1], self.offsets[1:]
        full = np.flatnonzero(ends > starts)
        strengths = np.zeros(self.n_nodes)
        strengths[full] = np.add.reduceat(self.weights, starts[full]) if len(full) else sums[ends] - sums[starts]
        return strengths

    def sources(self) -> Ids:
        """The node that every edge leaves."""
        return np.repeat(np.arange(self.n_nodes, dtype=np.int32), np.diff(self.offsets))

    def of(self, node: int) -> list[int]:
        """The neighbours of a node."""
        found: list[int] = self.targets[self.offsets[node] : self.offsets[node + 1]].tolist()
        return found

    def transposed(self) -> Network:
        """The same edges against their direction."""
        offsets = np.zeros(self.n_nodes + 1, dtype=np.int64)
        targets, weights = np.empty(len(self.targets), dtype=np.int32), np.empty(len(self.targets))
        _transpose(self.offsets, self.targets, self.weights, offsets, targets, weights)
        return Network(offsets, targets, weights)

    def split(self, nodes: Sequence[int], among: Nodes) -> tuple[Network, Ids]:
        """Replace nodes by instances, one for each node of `among` that they have an edge with.

        Each instance keeps the edge of one neighbour and nothing else; edges to nodes outside `among` are lost. The
        split nodes stay, without edges, so that all numbers remain; instances are numbered from `n_nodes` on, in the
        order of `among`.

        >>> papers = network_of(4, [0, 0, 3], [1, 2, 2], [1.0, 1.0, 1.0])    # node 0 wrote 1 and 2, node 3 wrote 2
        >>> network, instances = papers.split([0], [1, 2])
        >>> instances.tolist(), network.of(0), network.of(1), network.of(2), network.of(5)
        ([4, 5], [], [4], [3, 5], [2])
        """
        n, gone = self.n_nodes, np.zeros(self.n_nodes, dtype=np.bool_)
        gone[list(nodes)] = True
        sources = self.sources()
        kept = ~gone[sources] & ~gone[self.targets]
        links, weights = [], []
        for node in among:
            row = slice(int(self.offsets[node]), int(self.offsets[node + 1]))
            own = gone[self.targets[row]]
            if gone[node] or not own.any():
                raise DataError(f"node {node} has no edge with a node that is split")
            links.append(node)
            weights.append(float(self.weights[row][own].sum()))
        ends, instances = np.array(links, dtype=np.int32), np.arange(n, n + len(links), dtype=np.int32)
        # Instances have the highest numbers, so that each comes last in the row of its neighbour.
        counts = np.bincount(sources[kept], minlength=n + len(links))
        more = np.bincount(ends, minlength=n + len(links))
        more[n:] = 1
        offsets = np.zeros(n + len(links) + 1, dtype=np.int64)
        np.cumsum(counts + more, out=offsets[1:])
        targets = np.empty(offsets[-1], dtype=np.int32)
        values = np.empty(offsets[-1])
        first = np.cumsum(counts) - counts
        places = offsets[:-1][sources[kept]] + np.arange(int(kept.sum())) - first[sources[kept]]
        targets[places], values[places] = self.targets[kept], self.weights[kept]
        filled = counts.copy()
        for end, instance, weight in zip(links, instances.tolist(), weights, strict=True):
            for u, v in ((end, instance), (instance, end)):
                targets[offsets[u] + filled[u]], values[offsets[u] + filled[u]] = v, weight
                filled[u] += 1
        return Network(offsets, targets, values), instances


def network_of(
    n: int, sources: Nodes, targets: Nodes, weights: Sequence[float] | Floats | None = None,
    directed: bool = False,
) -> Network:  # fmt: skip
    """The network of edges in any order, in both directions unless it is directed.

    >>> network = network_of(3, [0, 1, 0], [1, 0, 0])
    >>> network.of(0), network.weights.tolist()
    ([0, 1], [1.0, 2.0, 2.0])
    """
    u, v = np.asarray(sources, dtype=np.int64), np.asarray(targets, dtype=np.int64)
    w = np.ones(len(u)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(u) == len(v) == len(w):
        raise DataError(f"{len(u)} sources, {len(v)} targets and {len(w)} weights are not the edges of a network")
    for ends in (u, v):
        if len(ends) and (ends.min() < 0 or ends.max() >= n):
            raise DataError(f"edges join nodes 0 to {n - 1}, got {ends.min()} to {ends.max()}")
    if len(w) and not (np.isfinite(w).all() and w.min() > 0):
        raise DataError("edges of a network need weights above 0")
    if not directed:
        other = u != v  # an edge from a node to itself has one direction
        u, v, w = np.concatenate([u, v[other]]), np.concatenate([v, u[other]]), np.concatenate([w, w[other]])
    keys = u * n + v
    order = np.argsort(keys, kind="stable")
    keys, w = keys[order], w[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1)) if len(keys) else np.zeros(0, dtype=np.int64)
    sums = np.add.reduceat(w, first) if len(first) else np.zeros(0)
    offsets = np.zeros(n + 1, dtype=np.int64)
    if n:
        np.cumsum(np.bincount(keys[first] // n, minlength=n), out=offsets[1:])
    return Network(offsets, (keys[first] % max(n, 1)).astype(np.int32), sums)


def network(
    graph: TypedGraph, weights: Mapping[str, float] | None = None, relations: Sequence[str] | None = None,
    directed: bool = False, edges: Bools | None = None,
) -> Network:  # fmt: skip
    """The network of a typed graph: of all relations or of some, with a factor per relation, and of some edges.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("Mara", "writes", "p1"), ("p2", "cites", "p1")])
    >>> network(builder.graph(), {"cites": 0.5}).strengths().tolist()
    [1.0, 1.5, 0.5]
    """
    for name in [*(weights or {}), *(relations or ())]:
        if name not in graph.relations:
            known = did_you_mean(name, graph.relations, f"it has {', '.join(graph.relations) or 'none'}")
            raise ConfigError(f"the graph has no relation {name!r}; {known}")
    sizes = np.diff(graph.slices)
    factor = np.array([float((weights or {}).get(name, 1.0)) for name in graph.relations])
    if len(factor) and not (np.isfinite(factor).all() and factor.min() >= 0):
        raise ConfigError("a relation needs a weight of 0 or above")
    if relations is not None:
        factor *= [name in relations for name in graph.relations]
    scale = np.repeat(factor, sizes)
    kept = scale > 0
    if edges is not None:
        kept &= edges
    values = graph.weights.astype(np.float64) * scale
    return network_of(graph.n_nodes, graph.sources[kept], graph.targets[kept], values[kept], directed)


@kernel
def _transpose(
    offsets: Ints, targets: Ids, weights: Floats, new_offsets: Ints, new_targets: Ids, new_weights: Floats
) -> None:
    """Rows are read in order, so those of the other direction rise."""
    n = len(offsets) - 1
    for e in range(len(targets)):
        new_offsets[targets[e] + 1] += 1
    for u in range(n):
        new_offsets[u + 1] += new_offsets[u]
    cursor = new_offsets[:n].copy()
    for u in range(n):
        for e in range(offsets[u], offsets[u + 1]):
            v = targets[e]
            new_targets[cursor[v]] = u
            new_weights[cursor[v]] = weights[e]
            cursor[v] += 1

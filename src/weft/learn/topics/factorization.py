"""Graph Factorization Clustering (Yu, Yu and Tresp 2006): soft clusters of a weighted graph.

    w'_ij   = sum_p h_ip lambda_p h_jp           columns of H sum to 1; b_ip = h_ip lambda_p joins node and cluster
    minimize  l(W, W') = sum_ij w_ij log(w_ij / w'_ij) - w_ij + w'_ij

    n_ip    = h_ip lambda_p sum_j (w_ij / w'_ij) h_jp
    lambda_p <- sum_i n_ip                       h_ip <- n_ip / lambda_p

This is EM for pairs of nodes that clusters draw, so the divergence falls with every round, and sum(lambda) = sum(W).
A round costs one pass over the edges times the number of clusters; rows are independent of each other, and threads give
the same bits. Pairs without an edge cost nothing: their w'_ij add up to a constant.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.graph.flows.propflow import side_by_side
from weft.graph.network import Network
from weft.graph.rankings.pagerank import is_symmetric
from weft.kernel import fast_kernel
from weft.progress import progress

CLUSTERS, ROUNDS, TOLERANCE = 100, 500, 1e-3


@dataclass
class Factorization:
    """H (nodes by clusters), lambda, and the divergence before every round."""

    members: Floats
    sizes: Floats
    divergences: list[float] = field(default_factory=list)

    def memberships(self) -> Floats:
        """The share of every cluster in a node's edges; rows of nodes without edges are 0."""
        joined = self.members * self.sizes
        total = joined.sum(axis=1, keepdims=True)
        shares: Floats = joined / np.where(total > 0, total, 1.0)
        return shares


def factorize(
    network: Network, clusters: int = CLUSTERS, rounds: int = ROUNDS, tolerance: float = TOLERANCE, seed: int = 0,
    workers: int = 1,
) -> Factorization:  # fmt: skip
    """The soft clusters of an undirected network, from a random start; ends below a relative change of `tolerance`.

    >>> from weft.graph.network import network_of
    >>> found = factorize(network_of(4, [0, 2, 1], [1, 3, 2], [9.0, 9.0, 0.1]), clusters=2)
    >>> sorted(found.members.round(1).T.tolist())
    [[0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 0.0, 0.0]]
    """
    if clusters < 1 or rounds < 1 or tolerance < 0:
        raise ConfigError("factorization needs at least one cluster and one round, and a tolerance of 0 or above")
    n, total = network.n_nodes, float(network.weights.sum())
    if not total > 0:
        raise DataError("a graph without edges has no clusters")
    if not is_symmetric(network):
        raise DataError("clusters are found in undirected networks: give every edge in both directions")
    rng = np.random.default_rng(seed)
    members = (0.5 + rng.random((n, clusters))) * (network.strengths() > 0)[:, None]
    members /= members.sum(axis=0)
    found = Factorization(members, np.full(clusters, total / clusters))
    new, losses = np.zeros((n, clusters)), np.zeros(n)
    with progress("factorizing", rounds, "rounds") as bar:
        for _ in range(rounds):
            found.divergences.append(_round(network, found, new, losses, workers))
            bar.advance()
            last = found.divergences[-2:]
            if len(last) == 2 and last[0] - last[1] <= tolerance * abs(last[0]):
                break
    return found


def _round(network: Network, found: Factorization, new: Floats, losses: Floats, workers: int) -> float:
    """One round of updates; returns the divergence before it."""
    scaled = found.members * found.sizes

    def work(low: int, high: int) -> None:
        _expect(network.offsets, network.targets, network.weights, found.members, scaled, low, high, new, losses)

    side_by_side(work, network.n_nodes, workers)
    loss = float(losses.sum()) - float(network.weights.sum()) + float(found.sizes.sum())
    sizes = new.sum(axis=0)
    kept = sizes > 0  # a cluster that lost all its weight keeps its shape
    found.members[:, kept] = new[:, kept] / sizes[kept]
    found.sizes = sizes
    return loss


@fast_kernel
def _expect(
    offsets: Ints, targets: Ids, weights: Floats, members: Floats, scaled: Floats, low: int, high: int, new: Floats,
    losses: Floats,
) -> None:  # fmt: skip
    clusters = members.shape[1]
    for i in range(low, high):
        for p in range(clusters):
            new[i, p] = 0.0
        loss = 0.0
        for e in range(offsets[i], offsets[i + 1]):
            j = targets[e]
            fitted = 0.0
            for p in range(clusters):
                fitted += scaled[i, p] * members[j, p]
            fitted = max(fitted, 1e-300)
            ratio = weights[e] / fitted
            loss += weights[e] * np.log(ratio)
            for p in range(clusters):
                new[i, p] += ratio * members[j, p]
        for p in range(clusters):
            new[i, p] *= scaled[i, p]
        losses[i] = loss

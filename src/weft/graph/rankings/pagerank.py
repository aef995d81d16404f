"""PageRank with weights, personalized or not (Page et al. 1999).

    p = d (P^T p + q v) + (1 - d) v        q = sum of p over nodes without outgoing edges
    x = d P^T x + v,   p = x / sum(x)      the same p: what dangling nodes hold goes to v, like every restart

P holds the shares of a node's outgoing weights. In the second form dangling nodes need no care. Sweeps of Gauss and
Seidel find x; they use new values at once, so about half as many are needed as rounds of power iteration. Where both
directions of every edge have one weight, D^-1 x solves a symmetric positive definite system, and conjugate gradients
need half as many again.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.graph.network import Network
from weft.kernel import fast_kernel, kernel

DAMPING, TOLERANCE, SWEEPS = 0.85, 1e-10, 1_000


def pagerank(
    network: Network, damping: float = DAMPING, start: ArrayLike | Mapping[int, float] | None = None,
    tolerance: float = TOLERANCE, sweeps: int = SWEEPS,
) -> Floats:  # fmt: skip
    """The PageRank of all nodes; `start` says where walks restart, by node, everywhere alike without it.

    >>> from weft.graph.network import network_of
    >>> pagerank(network_of(3, [0, 1], [1, 2])).round(4).tolist()
    [0.2568, 0.4865, 0.2568]
    >>> pagerank(network_of(3, [0], [1], directed=True), start={0: 1.0}).round(4).tolist()
    [0.5405, 0.4595, 0.0]
    """
    if not 0 <= damping < 1:
        raise ConfigError(f"damping lies from 0 to below 1, got {damping}")
    if not 0 < tolerance < 1 or sweeps < 1:
        raise ConfigError("PageRank needs a tolerance above 0 and at least one sweep")
    n = network.n_nodes
    if not n:
        return np.zeros(0)
    restart = restarts(n, start)
    strengths = network.strengths()
    back = network.transposed() if not is_symmetric(network) else None
    if back is None:
        x = _conjugate(network.offsets, network.targets, network.weights, strengths, restart, damping, tolerance,
                       sweeps)  # fmt: skip
    else:
        with np.errstate(divide="ignore"):
            share = damping * back.weights / strengths[back.targets]
        x = restart / (1.0 - damping)
        _sweeps(back.offsets, back.targets, share, restart, tolerance * (1.0 - damping), sweeps, x)
    ranks: Floats = x / x.sum()
    return ranks


def restarts(n: int, start: ArrayLike | Mapping[int, float] | None) -> Floats:
    """The distribution of restarts.

    >>> restarts(3, {1: 2.0, 2: 6.0}).tolist()
    [0.0, 0.25, 0.75]
    """
    if start is None:
        return np.full(n, 1.0 / n)
    if isinstance(start, Mapping):
        if any(not 0 <= node < n for node in start):
            raise DataError(f"walks restart from nodes 0 to {n - 1}, got {min(start)} to {max(start)}")
        values = np.zeros(n)
        values[list(start)] = list(start.values())
    else:
        values = np.asarray(start, dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all() or values.min() < 0 or not values.sum() > 0:
        raise DataError(f"restarts need {n} weights of 0 or above, not all 0")
    return values / values.sum()


def is_symmetric(network: Network) -> bool:
    """Whether every edge is there in both directions with one weight.

    >>> from weft.graph.network import network_of
    >>> is_symmetric(network_of(2, [0], [1])), is_symmetric(network_of(2, [0], [1], directed=True))
    (True, False)
    """
    return bool(_symmetric(network.offsets, network.targets, network.weights))


@kernel
def _symmetric(offsets: Ints, targets: Ids, weights: Floats) -> bool:
    """Rows rise, so a cursor per row meets the reverse edges in their order."""
    n = len(offsets) - 1
    cursor = offsets[:n].copy()
    for u in range(n):
        for e in range(offsets[u], offsets[u + 1]):
            v = targets[e]
            at = cursor[v]
            if at >= offsets[v + 1] or targets[at] != u or weights[at] != weights[e]:
                return False
            cursor[v] = at + 1
    return True


@fast_kernel
def _sweeps(
    offsets: Ints, targets: Ids, share: Floats, restart: Floats, tolerance: float, sweeps: int, x: Floats
) -> int:
    """Solve x = A x + restart in place; an edge of a node to itself is solved for at once."""
    n = len(restart)
    for sweep in range(sweeps):
        change = 0.0
        total = 0.0
        for v in range(n):
            value = restart[v]
            own = 0.0
            for e in range(offsets[v], offsets[v + 1]):
                u = targets[e]
                if u == v:
                    own = share[e]
                else:
                    value += share[e] * x[u]
            value /= 1.0 - own
            change += abs(value - x[v])
            total += value
            x[v] = value
        if change <= tolerance * total:
            return sweep + 1
    return sweeps


@fast_kernel
def _conjugate(
    offsets: Ints, targets: Ids, weights: Floats, strengths: Floats, restart: Floats, damping: float,
    tolerance: float, sweeps: int,
) -> Floats:  # fmt: skip
    """Solve (D - d W) y = restart by conjugate gradients, preconditioned by D; returns x = D y."""
    n = len(restart)
    inverse = np.empty(n)
    for v in range(n):
        inverse[v] = 1.0 / strengths[v] if strengths[v] > 0.0 else 1.0
    y = np.empty(n)
    rest = np.empty(n)
    along = np.empty(n)
    image = np.empty(n)
    for v in range(n):
        y[v] = restart[v] * inverse[v]
    height = 0.0
    for v in range(n):
        total = 0.0
        for e in range(offsets[v], offsets[v + 1]):
            total += weights[e] * y[targets[e]]
        diagonal = strengths[v] if strengths[v] > 0.0 else 1.0
        rest[v] = restart[v] - diagonal * y[v] + damping * total
        along[v] = rest[v] * inverse[v]
        height += rest[v] * along[v]
    for _ in range(sweeps):
        left = 0.0
        for v in range(n):
            left += abs(rest[v])
        # |rest| is the residual of x in the 1-norm, and sum(x) >= 1: errors are below tolerance once it is.
        if left <= tolerance or height <= 0.0:
            break
        slope = 0.0
        for v in range(n):
            total = 0.0
            for e in range(offsets[v], offsets[v + 1]):
                total += weights[e] * along[targets[e]]
            diagonal = strengths[v] if strengths[v] > 0.0 else 1.0
            image[v] = diagonal * along[v] - damping * total
            slope += along[v] * image[v]
        step = height / slope
        new = 0.0
        for v in range(n):
            y[v] += step * along[v]
            rest[v] -= step * image[v]
            new += rest[v] * rest[v] * inverse[v]
        ratio = new / height
        height = new
        for v in range(n):
            along[v] = rest[v] * inverse[v] + ratio * along[v]
    for v in range(n):
        y[v] *= strengths[v] if strengths[v] > 0.0 else 1.0
    return y

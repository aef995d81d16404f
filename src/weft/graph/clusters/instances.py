"""Which instances of a name are one: distances between them in a network, and clusters (King, Jha and Radev 2014).

The node of the name is split into one instance per neighbour, such as one per paper (`Network.split`). Distances:

    shortest    hops; where there is no path, `FAR` times the longest distance found
    commute     truncated commute times
    propflow    1 / PropFlow - 1, for the mean flow of both directions; where nothing flows, `FAR` times the largest
    visits      log(1 / expected visits) of walks that may come back, likewise: what PropFlow avoids

Clusters are medoids, as many as the gap statistic says or as are given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import ConfigError
from weft.graph.clusters.gap import DRAWS, Gaps, Null, gaps, null_of
from weft.graph.clusters.medoids import medoids
from weft.graph.flows.commute import commute_times, visits
from weft.graph.flows.hops import hops
from weft.graph.flows.propflow import propflow
from weft.graph.network import Network, Nodes

MEASURES = ("propflow", "shortest", "commute", "visits")
LENGTH = 10
#: How much farther apart than any others instances are that no path joins. Far more than this, and medoids see nothing
#: else: in networks of co-authors, where many papers are alone, a factor of 10 costs shortest paths 9 points of F.
FAR = 1.25


class Parted(NamedTuple):
    """The cluster of every instance, and the gaps that chose their number, if they did."""

    labels: Ints
    gaps: Gaps | None


def instance_distances(
    network: Network, instances: Nodes, measure: str = "propflow", length: int = LENGTH, workers: int = 1
) -> Floats:
    """The distance between every two instances.

    >>> from weft.graph.network import network_of
    >>> network = network_of(5, [0, 1, 2], [3, 3, 4])    # 0 and 1 share a neighbour, 2 has another one
    >>> instance_distances(network, [0, 1, 2], "shortest").tolist()
    [[0.0, 2.0, 2.5], [2.0, 0.0, 2.5], [2.5, 2.5, 0.0]]
    """
    if measure not in MEASURES:
        raise ConfigError(f"distances are measured by {', '.join(MEASURES)}, not by {measure!r}")
    if measure == "commute":
        return commute_times(network, instances, length, workers)
    if measure == "shortest":
        found = hops(network, instances, instances, workers).astype(np.float64)
        found[found < 0] = np.inf
    else:
        flow = visits if measure == "visits" else propflow
        flows = flow(network, instances, instances, length, workers=workers)
        flows = (flows + flows.T) / 2
        with np.errstate(divide="ignore"):
            found = np.maximum(np.log(1 / flows) if measure == "visits" else 1 / flows - 1, 0.0)
    np.fill_diagonal(found, 0.0)
    apart = np.isinf(found)
    longest = float(found[~apart].max(initial=0.0))
    found[apart] = FAR * (longest if longest > 0 else 1.0)
    both: Floats = (found + found.T) / 2
    return both


def part_instances(
    distances: Floats, numbers: Sequence[int], null: Null | None = None, draws: int = DRAWS, seed: int = 0
) -> Parted:
    """Clusters by distances: as many as the one number given, or that of several which the gap statistic chooses.

    Without a null distribution, distances are drawn from those of the instances themselves.

    >>> points = np.array([0.0, 0.1, 0.2, 0.3, 9.0, 9.1, 9.2, 9.3])
    >>> part_instances(abs(points[:, None] - points), [1, 2, 3]).labels.tolist()
    [0, 0, 0, 0, 1, 1, 1, 1]
    """
    n = len(distances)
    tried = sorted({number for number in numbers if 1 <= number <= n})
    if not tried:
        raise ConfigError(f"{n} instances cannot be {' or '.join(map(str, numbers))} clusters")
    if len(tried) == 1 or n < 3:
        return Parted(medoids(distances, tried[0]).labels, None)
    if null is None:
        null = null_of(n, distances[np.triu_indices(n, 1)], tried, draws, seed)
    found = gaps(distances, null, draws)
    return Parted(medoids(distances, found.chosen).labels, found)

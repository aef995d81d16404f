"""Rankings by type and year by year (King, Jha and Radev 2014).

    edges of year t      those whose year lies from t - window + 1 to t; an edge is as old as its youngest node
    relative rank        PageRank / mean PageRank of the nodes of its type that have an edge

Every year has a network of all nodes with the edges of its window. Edges between nodes without a year stay in all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.graph.network import Network, network
from weft.graph.rankings.pagerank import DAMPING, pagerank
from weft.graph.store import TypedGraph
from weft.progress import track

WINDOW = 5


class Ranked(NamedTuple):
    """A node among those of its type, from rank 1 on; `relative` is its PageRank over the mean of the type."""

    node: int
    rank: int
    score: float
    relative: float


def relative_ranks(scores: Floats, types: Ids, alive: Ids | Ints | None = None) -> Floats:
    """Scores over the mean score of their type; the mean is over the nodes that are `alive`, the others get 0.

    >>> relative_ranks(np.array([0.25, 0.75, 0.5]), np.array([0, 0, 1], np.int32)).tolist()
    [0.5, 1.5, 1.0]
    """
    some = np.ones(len(scores), dtype=np.bool_) if alive is None else alive > 0
    count = int(types.max()) + 1 if len(types) else 0
    sums = np.bincount(types[some], scores[some], minlength=count)
    means = sums / np.maximum(np.bincount(types[some], minlength=count), 1)
    return np.divide(scores, means[types], out=np.zeros(len(scores)), where=some & (means[types] > 0))


def best_of_type(graph: TypedGraph, scores: Floats, type: str, top: int) -> list[Ranked]:
    """The nodes of a type with the highest scores; ties go to the lower number.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("Mara", "writes", "p1"), ("Mara", "writes", "p2")])
    >>> [row.node for row in best_of_type(builder.graph(), np.array([0.5, 0.2, 0.3]), "", 2)]
    [0, 2]
    """
    if type not in graph.types:
        known = ", ".join(repr(each) for each in graph.types if each) or "none"
        raise ConfigError(f"the graph has no nodes of type {type!r}; its types: {known}")
    own = np.flatnonzero(graph.type == graph.types.index(type))
    relative = relative_ranks(scores, graph.type)
    order = own[np.argsort(-scores[own], kind="stable")][:top]
    return [Ranked(n, r, float(scores[n]), float(relative[n])) for r, n in enumerate(order.tolist(), 1)]


def edge_years(graph: TypedGraph, years: Mapping[int, int]) -> Ints:
    """The year of every edge, the later of its nodes'; the least number where neither has one.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("p2", "cites", "p1"), ("Mara", "writes", "p1")])
    >>> edge_years(builder.graph(), {0: 2004, 1: 2001}).tolist()
    [2004, 2001]
    """
    if any(not 0 <= node < graph.n_nodes for node in years):
        raise DataError(f"years are given to nodes 0 to {graph.n_nodes - 1}")
    when = np.full(graph.n_nodes, np.iinfo(np.int64).min)
    when[list(years)] = list(years.values())
    found: Ints = np.maximum(when[graph.sources], when[graph.targets])
    return found


def network_of_year(
    graph: TypedGraph, ages: Ints, year: int, window: int = WINDOW, weights: Mapping[str, float] | None = None,
    relations: Sequence[str] | None = None, directed: bool = False,
) -> Network:  # fmt: skip
    """All nodes, with the edges of the years up to `year`, for edges of the years that `edge_years` gives."""
    if window < 1:
        raise ConfigError(f"a window has at least 1 year, got {window}")
    inside = ((ages > year - window) & (ages <= year)) | (ages == np.iinfo(np.int64).min)
    return network(graph, weights, relations, directed, inside)


def yearly_ranks(
    graph: TypedGraph, years: Mapping[int, int], wanted: Iterable[int], window: int = WINDOW,
    damping: float = DAMPING, weights: Mapping[str, float] | None = None, relations: Sequence[str] | None = None,
) -> dict[int, Floats]:  # fmt: skip
    """For every wanted year, the relative ranks of all nodes; nodes without an edge in its window have 0.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("p2", "cites", "p1"), ("p3", "cites", "p2")])
    >>> found = yearly_ranks(builder.graph(), {0: 2004, 1: 2001, 2: 2009}, [2004, 2009])
    >>> found[2004].round(2).tolist(), found[2009].round(2).tolist()
    ([1.0, 1.0, 0.0], [1.0, 0.0, 1.0])
    """
    ages = edge_years(graph, years)
    found = {}
    for year in track(list(wanted), "ranking years", unit="years"):
        one = network_of_year(graph, ages, year, window, weights, relations)
        found[year] = relative_ranks(pagerank(one, damping), graph.type, np.diff(one.offsets))
    return found

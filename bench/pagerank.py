"""PageRank on the network of the ACL Anthology beside networkx and igraph: time, and the largest difference.

Nodes are papers, authors, venues and terms of titles, joined by writing, citing, publishing and containing; weights and
both directions. The same edges go to all three, with all their nodes, and only the ranking itself is timed: the best of
five in CPU seconds, kernels compiled before. Weft also ranks the citations alone, with their directions, and restarts
at ten papers. networkx iterates to 1e-14 per node when results are compared, and with its defaults when it is timed, so
its time is for a coarser result than Weft's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import igraph
import networkx
import numpy as np

from weft import data
from weft.graph.network import Network, network
from weft.graph.rankings.pagerank import pagerank
from weft.recipes.extraction.heterogeneous_networks.anthology import LINKS, PAPERS, read_anthology
from weft.tasks.bibliographies import bibliography, title_terms

GOAL_NETWORKX, GOAL_IGRAPH, GOAL_DIFFERENCE = 5.0, 1.0, 1e-8
TIMES = 5


def run() -> dict[str, Any]:
    """Measure on the whole graph."""
    papers = read_anthology(data.find(PAPERS), data.find(LINKS)).papers
    found = bibliography(papers, title_terms([paper.title for paper in papers]))
    cites = network(found.graph, relations=["cites"], directed=True)
    few = np.zeros(found.graph.n_nodes)
    few[found.nodes[:: len(papers) // 10]] = 1.0
    rows = [
        _row("all types, both directions", network(found.graph), None, False),
        _row("all types, weights of relations", network(found.graph, {"cites": 2.0, "contains": 0.25}), None, False),
        _row("all types, restarts at a few papers", network(found.graph), few, False),
        _row("citations, one direction", cites, None, True),
    ]
    return {
        "title": "PageRank on the ACL Anthology, CPU milliseconds",
        "rows": rows,
        "nodes": found.graph.n_nodes,
        "edges": found.graph.n_edges,
        "goals": f"difference up to {GOAL_DIFFERENCE}, {GOAL_NETWORKX:.0f} times as fast as networkx, "
        f"as fast as igraph",
    }  # fmt: skip


def _row(name: str, net: Network, start: Any, directed: bool) -> dict[str, Any]:
    sources, targets = net.sources(), net.targets
    once = np.ones(len(targets), dtype=bool) if directed else sources <= targets
    ends, weights = np.stack([sources[once], targets[once]], axis=1).tolist(), net.weights[once].tolist()
    theirs = igraph.Graph(n=net.n_nodes, edges=ends, directed=directed)
    other = networkx.DiGraph() if directed else networkx.Graph()
    other.add_nodes_from(range(net.n_nodes))
    other.add_weighted_edges_from((u, v, w) for (u, v), w in zip(ends, weights, strict=True))
    again = None if start is None else dict(enumerate((start / start.sum()).tolist()))
    reset = None if start is None else start.tolist()

    def by_igraph() -> Any:
        if reset is None:
            return theirs.pagerank(weights=weights, directed=directed)
        return theirs.personalized_pagerank(weights=weights, directed=directed, reset=reset)

    ours = pagerank(net, start=start)
    exact = networkx.pagerank(other, personalization=again, tol=1e-14 / net.n_nodes, max_iter=2000)
    in_networkx = np.array([exact[node] for node in range(net.n_nodes)])
    in_igraph = np.array(by_igraph())
    times = [
        _best_of(lambda: pagerank(net, start=start)),
        _best_of(lambda: networkx.pagerank(other, personalization=again)),
        _best_of(by_igraph),
    ]
    return {
        "measured": name,
        "weft": round(1000 * times[0], 2),
        "networkx": round(1000 * times[1], 1),
        "igraph": round(1000 * times[2], 2),
        "x networkx": round(times[1] / times[0], 1),
        "x igraph": round(times[2] / times[0], 2),
        "difference from networkx": float(f"{abs(ours - in_networkx).max():.1e}"),
        "difference from igraph": float(f"{abs(ours - in_igraph).max():.1e}"),
    }


def _best_of(call: Callable[[], Any]) -> float:
    found = []
    for _ in range(TIMES):
        start = time.process_time()
        call()
        found.append(time.process_time() - start)
    return min(found)

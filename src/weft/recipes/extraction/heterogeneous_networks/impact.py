"""Part A: PageRank of all types in one network against what is computed from citations, where impact is known."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_matrix

from weft.arrays import Floats, Ints
from weft.evaluate.orders import kendall
from weft.graph.flows.hops import hops
from weft.graph.network import Network, network_of
from weft.graph.rankings.impact import group_citations, h_indexes, i10_indexes, impact_factors, sums_by_group
from weft.graph.rankings.pagerank import pagerank
from weft.recipes.extraction.heterogeneous_networks.generated import Counts, Generated
from weft.tasks.bibliographies.schema import Bibliography

WHOLE, COUNT, H, SINGLE = "heterogeneous PageRank", "citations", "h-index", "PageRank of one network"
I10, FACTOR = "i10-index", "impact factor"


def real_counts(found: Bibliography, per_institution: int = 8) -> Counts:
    """What generated networks take from a real one; institutions, of which there are none, from its authors."""
    graph, n = found.graph, found.graph.n_nodes
    ends = {}
    for relation in graph.relations:
        number = graph.relations.index(relation)
        part = slice(int(graph.slices[number]), int(graph.slices[number + 1]))
        ends[relation] = graph.sources[part].astype(np.int64), graph.targets[part].astype(np.int64)
    received = np.bincount(ends["cites"][1], minlength=n).astype(np.float64)
    total = received.copy()
    total += sums_by_group(received, ends["writes"][1], ends["writes"][0], n)
    for relation in ("published in", "contains"):
        total += sums_by_group(received, ends[relation][0], ends[relation][1], n)
    citations = {type: total[found.of_type(type)] for type in ("paper", "author", "venue", "term")}
    citations["institution"] = citations["author"][::per_institution]
    links = {
        "writes": len(ends["writes"][0]), "affiliated": len(citations["author"]),
        "published": len(ends["published in"][0]), "contains": len(ends["contains"][0]),
    }  # fmt: skip
    return Counts(citations, links, len(ends["cites"][0]))


def agreements(drawn: Generated, seed: int, ties: bool = False) -> dict[str, dict[str, float]]:
    """Kendall's tau between latent impact and every measure, by type."""
    found = {}
    for type, scores in measures(drawn, seed).items():
        found[type] = {name: kendall(values, drawn.impact[type], ties) for name, values in scores.items()}
    return found


def measures(drawn: Generated, seed: int) -> dict[str, dict[str, Floats]]:
    """All measures of the paper's table, by type."""
    size = {type: len(values) for type, values in drawn.impact.items()}
    whole = pagerank(drawn.network())
    received = np.bincount(drawn.cited, minlength=size["paper"]).astype(np.float64)
    citations = network_of(size["paper"], drawn.citing, drawn.cited, directed=True)
    authors, papers = drawn.links["writes"]
    members, places = drawn.links["affiliated"]
    houses = csr_matrix((np.ones(len(papers)), (papers, authors)), shape=(size["paper"], size["author"])) @ csr_matrix(
        (np.ones(len(members)), (members, places)), shape=(size["author"], size["institution"])
    )
    items, homes = houses.nonzero()
    published, venues = drawn.links["published"]
    rng = np.random.default_rng(seed)
    years = rng.integers(1993, 2013, size["paper"])  # generated networks have no time: any year fits
    factors = [
        impact_factors(drawn.citing, drawn.cited, years, published, venues, size["venue"], year)
        for year in range(1995, 2013)
    ]
    between = group_citations(drawn.citing, drawn.cited, published, venues, size["venue"])
    found: dict[str, dict[str, Floats]] = {
        "paper": {WHOLE: whole, SINGLE: pagerank(citations), COUNT: received},
        "author": {
            WHOLE: whole, SINGLE: pagerank(coauthors(papers, authors, size["paper"], size["author"])),
            H: h_indexes(received, papers, authors, size["author"]).astype(float),
            COUNT: sums_by_group(received, papers, authors, size["author"]),
            I10: i10_indexes(received, papers, authors, size["author"]).astype(float),
        },
        "institution": {
            WHOLE: whole, H: h_indexes(received, items, homes, size["institution"]).astype(float),
            COUNT: sums_by_group(received, items, homes, size["institution"]),
        },
        "venue": {
            WHOLE: whole, H: h_indexes(received, published, venues, size["venue"]).astype(float),
            COUNT: sums_by_group(received, published, venues, size["venue"]),
            FACTOR: np.mean(factors, axis=0), SINGLE: pagerank(between),
        },
    }  # fmt: skip
    for type, scores in found.items():
        scores[WHOLE] = drawn.of_type(whole, type)
    return found


def coauthors(papers: Ints, authors: Ints, n_papers: int, n_authors: int) -> Network:
    """The network of authors, weighted by how many papers two have in common."""
    wrote = csr_matrix((np.ones(len(papers)), (authors, papers)), shape=(n_authors, n_papers))
    wrote.data[:] = 1.0
    joint = (wrote @ wrote.T).tocoo()
    upper = joint.row < joint.col
    return network_of(n_authors, joint.row[upper], joint.col[upper], joint.data[upper])


def properties(whole: Network, received: Floats, authors: Network, seed: int, samples: int = 150) -> dict[str, float]:
    """Exponent of citations, diameter (of the largest part, from samples and the farthest), path length, clustering."""
    rng = np.random.default_rng(seed)
    some = received[received >= 1]
    starts = rng.choice(whole.n_nodes, min(samples, whole.n_nodes), replace=False)
    every = np.arange(whole.n_nodes)
    lengths = hops(whole, starts, every)
    inside = (lengths >= 0).sum(axis=1) > whole.n_nodes / 2
    reached = lengths[inside]
    farthest = hops(whole, np.unique(reached.argmax(axis=1))[:20], every)
    n = authors.n_nodes
    joined = csr_matrix((np.ones(len(authors.targets)), authors.targets, authors.offsets), shape=(n, n))
    degrees = np.diff(authors.offsets).astype(np.float64)
    closed = float((joined @ joined).multiply(joined).sum())
    return {
        "exponent": 1 + len(some) / float(np.log(some / 0.5).sum()),
        "diameter": float(max(farthest.max(), reached.max())),
        "mean path": float(reached[reached > 0].mean()),
        "clustering": closed / float((degrees * (degrees - 1)).sum()),
    }

"""Coherence of generated documents of 40 sentences with 20 permutations each, after parsing.

The peer is the definition in NumPy: M M' per document and weight, permuted and summed for every order.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from weft.recipes.grounding.graph_coherence.experiment import generated
from weft.tasks.coherence import SentenceGraph
from weft.text.doc import Doc

DOCUMENTS, PERMUTATIONS = 1000, 20


def run(documents: int = DOCUMENTS) -> dict[str, Any]:
    """CPU seconds of both, and the largest difference of their scores."""
    docs = generated(documents, 0)
    SentenceGraph.of(docs[0]).scores([np.arange(40)])  # kernels are loaded
    start = time.process_time()
    graphs = [SentenceGraph.of(doc) for doc in docs]
    grids = time.process_time() - start
    orders = [graph.permutations(PERMUTATIONS) for graph in graphs]
    start = time.process_time()
    scores = [graph.scores(order) for graph, order in zip(graphs, orders, strict=True)]
    ours = time.process_time() - start
    start = time.process_time()
    dense = [_dense(graph, order) for graph, order in zip(graphs, orders, strict=True)]
    peer = time.process_time() - start
    apart = max(float(np.abs(own - other).max()) for own, other in zip(scores, dense, strict=True))
    rows = [
        {"what": "grids and links from documents", "Weft, CPU s": round(grids, 2), "NumPy, CPU s": None},
        {
            "what": "scores of permutations, three weights",
            "Weft, CPU s": round(ours, 3),
            "NumPy, CPU s": round(peer, 2),
        },
    ]
    title = f"Coherence of {documents:,} documents of 40 sentences, {PERMUTATIONS} permutations each"
    return {"title": title, "rows": rows, "largest difference": apart, "words": sum(map(_words, docs))}


def _words(doc: Doc) -> int:
    return doc.n_words


def _dense(graph: SentenceGraph, orders: Any) -> Any:
    roles = graph.grid.dense().astype(np.float64)
    there = (roles > 0).astype(np.float64)
    shared = there @ there.T
    n = graph.n
    apart = np.arange(n)[None] - np.arange(n)[:, None]
    share = np.where(apart > 0, 1 / np.maximum(apart, 1), 0.0)
    matrices = ((shared > 0).astype(np.float64), shared, roles @ roles.T)
    return np.array([[(matrix[np.ix_(own, own)] * share).sum() / n for matrix in matrices] for own in orders])

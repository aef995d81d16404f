"""Propagation over graphs: time and memory for 20 million edges, and beside networkx, igraph and scikit-learn.

The large graph is random: a million vertices, 20 million undirected edges in float32, 40 labels, ten rounds; building
its rows is included, its edges are given. Peak memory is that of the whole process.

How time grows is measured from 100,000 to 10 million edges, ten per vertex, once with random ends and once with ends at
most 50 vertices away. Both do the same additions; near ends keep what is read in the processor's caches, random ones
do not, from the size on at which the scores are larger than a cache.

The comparison is prepositional attachment with merged sentence ids and without the quadruples of the test file, against
the majority label, as the peers have no mixed seeds: a seed has its majority label. networkx runs 30 rounds, as many as
it takes by default; igraph propagates communities from fixed seeds; scikit-learn gets the graph as its kernel. If the
corpus is missing, a random graph of the same size takes its place, without accuracies. CPU seconds, kernels compiled.
"""

from __future__ import annotations

import resource
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.errors import DataError
from weft.graph.propagation.rules import RULES, build
from weft.graph.propagation.seeds import Seeds
from weft.recipes.extraction.adsorption_class_instances.experiment import random_graph
from weft.recipes.extraction.mad_class_instances import attachment
from weft.recipes.extraction.mad_class_instances.attachment import Attachment
from weft.recipes.framework import RecipeOptions

VERTICES, DEGREE = 1_000_000, 20
GOAL_SECONDS, GOAL_GB = 300, 3.0
GROWTH, NEAR, ROUNDS = (100_000, 1_000_000, 10_000_000), 50, 10


def run(vertices: int = VERTICES) -> dict[str, Any]:
    """Measure all; fewer vertices make it quick."""
    import igraph
    import networkx

    rows: list[dict[str, Any]] = []
    small, seeds = random_graph(200, 5, 0)
    for rule in RULES:
        build(rule, small, seeds).run(1)  # compiles
    graph, seeds = random_graph(vertices, DEGREE, 0)
    for rule in RULES:
        started = time.process_time()
        build(rule, graph, seeds).run(10)
        seconds = time.process_time() - started
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        rows.append(_row(f"{graph.n_edges:,} edges, 40 labels, 10 rounds, {rule}", "weft", seconds, peak,
                         goal=f"{GOAL_SECONDS} s, {GOAL_GB:.0f} GB"))  # fmt: skip
    del graph, seeds
    rows += _growth([min(edges, 10 * vertices) for edges in GROWTH])
    data = _attachment()
    for rule in RULES:
        build(rule, data.graph, data.seeds).run(1)
        seconds, scores = _timed(lambda r=rule: build(r, data.graph, data.seeds).run(10))
        rows.append(
            _row("prepositional attachment", f"weft, {rule}", seconds, None, data, scores[:, :2].argmax(axis=1))
        )
    u, v, w = data.graph.edges()
    known = np.full(data.graph.n_vertices, -1)
    known[data.seeds.vertices] = data.seeds.labels

    peer = networkx.Graph()
    peer.add_nodes_from(range(data.graph.n_vertices))
    peer.add_weighted_edges_from(zip(u.tolist(), v.tolist(), w.tolist(), strict=True))
    for node in np.flatnonzero(known >= 0).tolist():
        peer.nodes[node]["label"] = int(known[node])
    from networkx.algorithms import node_classification

    for name, options in (("harmonic_function", {}), ("local_and_global_consistency", {"alpha": 0.99})):
        method = getattr(node_classification, name)
        seconds, found = _timed(lambda m=method, o=options: m(peer, max_iter=30, label_name="label", **o))
        answers = np.array(found)
        rows.append(
            _row("prepositional attachment", f"networkx {networkx.__version__}, {name}", seconds, None, data, answers)
        )

    other = igraph.Graph(n=data.graph.n_vertices, edges=list(zip(u.tolist(), v.tolist(), strict=True)))
    initial, fixed = known.tolist(), (known >= 0).tolist()
    seconds, found = _timed(lambda: other.community_label_propagation(initial=initial, fixed=fixed))
    rows.append(_row("prepositional attachment", f"igraph {igraph.__version__}, community_label_propagation", seconds,
                     None, data, np.array(found.membership)))  # fmt: skip
    rows += _scikit(data, known)
    return {"title": "Propagation over graphs, and beside networkx, igraph and scikit-learn", "rows": rows}


def _growth(sizes: list[int]) -> list[dict[str, Any]]:
    """The time of MAD's rounds per edge, by the number of edges and how far their ends are apart."""
    rows = []
    for ends, near in (("random ends", None), (f"ends within {NEAR}", NEAR)):
        for edges in sizes:
            system = build("mad", *random_graph(edges // 10, 10, 0, near))
            repeats = max(1, 2_000_000 // edges)
            seconds, _ = _timed(lambda s=system, n=repeats: [s.run(ROUNDS) for _ in range(n)])
            rows.append(_row(f"{edges:,} edges, {ends}, {ROUNDS} rounds, mad", "weft", seconds / repeats, None,
                             nanoseconds=1e9 * seconds / repeats / edges / ROUNDS))  # fmt: skip
    return rows


def _scikit(data: Attachment, known: Any) -> list[dict[str, Any]]:
    import sklearn
    from sklearn.semi_supervised import LabelPropagation, LabelSpreading

    rows = []
    matrix = data.graph.matrix()
    for name, peer in (
        ("LabelPropagation", LabelPropagation(kernel=lambda one, two=None: matrix, max_iter=30, tol=0.0)),
        (
            "LabelSpreading, alpha .2",
            LabelSpreading(kernel=lambda one, two=None: matrix, alpha=0.2, max_iter=30, tol=0.0),
        ),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seconds, _ = _timed(lambda p=peer: p.fit(np.zeros((data.graph.n_vertices, 1)), known))
        rows.append(_row("prepositional attachment", f"scikit-learn {sklearn.__version__}, {name}", seconds, None, data,
                         np.asarray(peer.transduction_)))  # fmt: skip
    return rows


def _attachment() -> Attachment:
    """The graph of the corpus with majority seeds, or a random one."""
    options = RecipeOptions()
    try:
        parts = [attachment.read_quadruples(options.find(f"{attachment.FOLDER}/{name}")) for name in attachment.FILES]
    except DataError:
        graph, seeds = random_graph(35_000, 4, 1)
        seeds = Seeds.of(graph.n_vertices, np.arange(16_000), np.arange(16_000) % 2, n_labels=2)
        none = np.zeros(0, dtype=np.int64)
        return Attachment(graph, seeds, none, np.zeros((0, 2), dtype=np.int64), none)
    train = attachment.majority_of(parts[0])
    return Attachment.of([train, parts[1], []], merged=True)


def _row(
    what: str, system: str, seconds: float, peak: float | None, data: Attachment | None = None, answers: Any = None,
    goal: str = "", nanoseconds: float | None = None,
) -> dict[str, Any]:  # fmt: skip
    accuracy = None
    if data is not None and len(data.test):
        accuracy = round(float((np.asarray(answers)[data.test] == data.majority).mean()), 3)
    return {"measured": what, "system": system, "CPU s": round(seconds, 2), "accuracy": accuracy,
            "GB": None if peak is None else round(peak, 2), "goal": goal,
            "ns per edge and round": None if nanoseconds is None else round(nanoseconds, 1)}  # fmt: skip


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    started = time.process_time()
    found = work()
    return time.process_time() - started, found

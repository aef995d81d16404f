"""Small typed graphs, and walks on them by enumeration of node sequences."""

from __future__ import annotations

from hypothesis import strategies as st

from weft.graph.paths.steps import StepGraph
from weft.graph.store import Builder

NODES = "abcdef"
EDGES = st.lists(st.tuples(st.sampled_from(NODES), st.sampled_from("rst"), st.sampled_from(NODES)), max_size=24)
STEPS = ("r", "r⁻¹", "s", "s⁻¹", "t", "t⁻¹")
PATHS = st.lists(st.lists(st.sampled_from(STEPS), min_size=1, max_size=4).map(tuple), min_size=1, max_size=8,
                 unique=True)  # fmt: skip


def graph_of(edges, without=None) -> StepGraph:
    builder = Builder()
    for node in NODES:
        builder.node(node)
    for relation in "rst":  # every relation is there, if only around a node of its own
        builder.add("z", relation, "z")
    builder.add_all(edges)
    return StepGraph.of([builder.graph()], without=without)


def enumerated(edges, path, source, hidden="") -> dict[str, float]:
    """The sum over all node sequences of the product of 1 / degree, from the definition."""
    edges = {*edges, *(("z", relation, "z") for relation in "rst")}
    edges = {(s, r, t) for s, r, t in edges if not (r == hidden and s == source)}
    found: dict[str, float] = {}

    def follow(node: str, rest: tuple[str, ...], p: float) -> None:
        if not rest:
            found[node] = found.get(node, 0.0) + p
            return
        relation = rest[0].removesuffix("⁻¹")
        forward = relation == rest[0]
        ends = {t if forward else s for s, r, t in edges if r == relation and (s if forward else t) == node}
        for end in ends:
            follow(end, rest[1:], p / len(ends))

    follow(source, tuple(path), 1.0)
    return found

"""Tuples out of pairs: cliques of the graph of fillers (McDonald et al. 2005).

    maximal     the maximal cliques of pairs that are at least as probable as the threshold
    probable    the largest cliques the geometric mean of whose pairs reaches the threshold

A node of the graph is a mention in a slot; an edge joins two that the schema allows in one tuple. Where types are slots
that is a node per mention. Mentions that fill the same slot of a tuple stand in text order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.infer.cliques.graphs import TypedGraphs
from weft.tasks.relations.pairs import Edge, PairModel, PairTable
from weft.tasks.relations.samples import Sample
from weft.tasks.relations.schema import Filler, Schema
from weft.text.conventions.tuples import TupleRow

SEARCHES = ("probable", "maximal")


def build_tuples(
    schema: Schema, nodes: Sequence[Sequence[Filler]], edges: Sequence[Edge], probabilities: Floats,
    threshold: float = 0.5, search: str = "probable",
) -> list[list[TupleRow]]:  # fmt: skip
    """The tuples of one relation for every sentence, from the probabilities of all its edges.

    >>> from weft.tasks.relations.schema import Slot
    >>> schema = Schema("work", (Slot("who", ("PER",)), Slot("where", ("ORG",))))
    >>> ada, quill = Filler(0, 0), Filler(1, 1)
    >>> build_tuples(schema, [[ada, quill]], [Edge(0, ada, quill, 0)], np.array([0.9]))
    [[TupleRow(label='work', members=(('who', 0), ('where', 1)), pairs=(0.9,))]]
    """
    if search not in SEARCHES:
        raise ConfigError(f"search must be one of {', '.join(SEARCHES)}, got {search!r}")
    numbers = [{filler: place for place, filler in enumerate(own)} for own in nodes]
    matrices = [np.zeros((len(own), len(own))) for own in nodes]
    for (sample, one, other, _), p in zip(edges, probabilities.tolist(), strict=True):
        u, v = numbers[sample][one], numbers[sample][other]
        matrices[sample][u, v] = matrices[sample][v, u] = p
    graphs = TypedGraphs(matrices, [[filler.slot for filler in own] for own in nodes], schema.limits)
    cliques = graphs.probable(threshold) if search == "probable" else graphs.maximal(threshold)
    found: list[list[TupleRow]] = []
    for own, matrix, every in zip(nodes, matrices, cliques, strict=True):
        rows = []
        for clique in every:
            ordered = sorted(clique, key=lambda node: (own[node].slot, own[node].mention))
            members = tuple((schema.slots[own[node].slot].name, own[node].mention) for node in ordered)
            rows.append(
                TupleRow(schema.label, members, tuple(float(matrix[u, v]) for u, v in combinations(ordered, 2)))
            )
        found.append(rows)
    return found


def predict_tuples(
    samples: Sequence[Sample], schemas: Sequence[Schema], model: PairModel, threshold: float = 0.5,
    search: str = "probable",
) -> list[list[TupleRow]]:  # fmt: skip
    """The tuples of all relations for every sentence; their members are numbers of mentions in the sentence."""
    table = PairTable.of(samples, schemas)
    found: list[list[TupleRow]] = [[] for _ in samples]
    for schema in schemas:
        edges, nodes = table.edges(schema)
        if not edges:
            continue
        p = model.probabilities(table, schema, edges)
        for rows, new in zip(found, build_tuples(schema, nodes, edges, p, threshold, search), strict=True):
            rows.extend(new)
    return found

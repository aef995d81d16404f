"""The graph of all interpretations of a text, and the reading of each fragment that coheres with the others.

    vertices   (v, f) for every candidate v of a fragment f
    edges      (v, f) -> (v', f')  where f and f' differ and v' is in the signature of v

A dense subgraph of it keeps few candidates of every fragment (`weft.graph.dense`); of these, the one with the highest
score is the reading of the fragment, if the score reaches a threshold (Moro, Raganato and Navigli 2014).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.graph.dense import PartGraph
from weft.graph.walks import Signatures
from weft.kernel import kernel
from weft.ragged import one_block
from weft.tasks.linking.candidates import Fragment


@dataclass
class Interpretation:
    """The scored candidates of all fragments; candidate i belongs to fragment `graph.part[i]`."""

    fragments: Sequence[Fragment]
    vertices: Ids
    graph: PartGraph
    kept: Bools
    scores: Floats
    products: Ints

    def best(self, fragment: int) -> tuple[int, float]:
        """The candidate of a fragment with the highest score, and the score; the first of equals; -1 if none is left.

        A fragment that nothing is joined to has no best candidate by coherence: its scores are 0.
        """
        first, end = self.graph.bounds[fragment], self.graph.bounds[fragment + 1]
        left = np.flatnonzero(self.kept[first:end]) + first
        if not len(left):
            return -1, 0.0
        best = int(left[np.argmax(self.products[left])])
        return best, float(self.scores[best])

    @cached_property
    def winners(self) -> set[int]:
        """The best candidates of all fragments."""
        return {self.best(number)[0] for number in range(len(self.fragments))}

    def ranked(self, fragment: int) -> list[int]:
        """All candidates of a fragment that are left, best first."""
        first, end = self.graph.bounds[fragment], self.graph.bounds[fragment + 1]
        left = np.flatnonzero(self.kept[first:end]) + first
        ranked: list[int] = left[np.argsort(-self.products[left], kind="stable")].tolist()
        return ranked

    def neighbours(self, candidate: int) -> list[int]:
        """The candidates that are left and joined to one, in either direction."""
        graph = self.graph
        others = graph.other[graph.offsets[candidate] : graph.offsets[candidate + 1]]
        found: list[int] = others[self.kept[others]].tolist()
        return found


def interpret(
    fragments: Sequence[Fragment], signatures: Signatures, ambiguity: int = 10, dense: bool = True
) -> Interpretation:
    """Build the graph of fragments, find its dense subgraph (unless `dense` is off), and score what is left."""
    vertices = np.array([v for fragment in fragments for v in fragment.vertices], dtype=np.int32)
    part = np.repeat(np.arange(len(fragments)), [len(fragment.vertices) for fragment in fragments]).astype(np.int32)
    graph = PartGraph(part, *_edges(vertices, part, signatures), len(fragments))
    kept = graph.peel(ambiguity).kept if dense else np.ones(len(part), dtype=np.bool_)
    products = graph.products(kept)
    return Interpretation(fragments, vertices, graph, kept, graph.scores(kept), products)


def _edges(vertices: Ids, part: Ids, signatures: Signatures) -> tuple[Ids, Ids]:
    order = np.argsort(vertices, kind="stable").astype(np.int32)
    unique, first = np.unique(vertices[order], return_index=True)
    bounds = np.append(first, len(vertices)).astype(np.int64)
    place = np.full(len(signatures.offsets) - 1, -1, dtype=np.int32)
    place[unique] = np.arange(len(unique), dtype=np.int32)
    offsets, members = one_block(signatures.offsets, np.int64), one_block(signatures.members, np.int32)
    none = np.zeros(0, dtype=np.int32)
    count = _join(unique, order, bounds, part, place, offsets, members, none, none)
    sources, targets = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
    _join(unique, order, bounds, part, place, offsets, members, sources, targets)
    return sources, targets


@kernel
def _join(
    unique: Ids, order: Ids, bounds: Ints, part: Ids, place: Ids, offsets: Ints, members: Ids, sources: Ids,
    targets: Ids,
) -> int:  # fmt: skip
    """Write the edges into arrays that have room for them, else count them."""
    write = len(sources) > 0
    count = 0
    for a in range(len(unique)):
        v = unique[a]
        for e in range(offsets[v], offsets[v + 1]):
            b = place[members[e]]
            if b < 0:
                continue
            for i in range(bounds[a], bounds[a + 1]):
                for j in range(bounds[b], bounds[b + 1]):
                    if part[order[i]] != part[order[j]]:
                        if write:
                            sources[count] = order[i]
                            targets[count] = order[j]
                        count += 1
    return count

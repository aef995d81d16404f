"""A semantic network as a linker needs it: vertices, their names in several languages, and their signatures.

    vertex     an id (a sense key, or the id of an entity), a label, a description, and a kind: concept or entity
    name       what a vertex is called in a language; vertices of one name are in the order of their frequency
    signature  the vertices that a walk from a vertex keeps meeting (`weft.graph.walks`)

`NetworkBuilder` collects vertices, names and edges from any number of sources (`wordnet`, `entities`) and computes the
signatures once. Vertices without a name, such as the synsets of verbs, are on the way of walks but not in the result.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.arrays import Bools, Ids, Ints
from weft.declared import Array, Arrays, Stored
from weft.errors import ConfigError, DataError
from weft.graph.store import Builder, TypedGraph
from weft.graph.strings import Strings
from weft.graph.triangles import transitions, triangle_weights
from weft.graph.walks import LEAST, RESTART, STEPS, TOLERANCE, Signatures, signatures
from weft.headers import Many, Record, Text
from weft.lexical.network.names import NameIndex

CONCEPT, ENTITY = KINDS = ("concept", "entity")
HEADER = Record(languages=Many(Text(), least=1, distinct=True))
ARRAYS = (
    Array("entity", "bool", ("vertices",)),
    Array("degree", "int32", ("vertices",)),
    Array("signature_offsets", "int64", ("vertices+1",), offsets_of="members"),
    Array("members", "int32", ("members",), below="vertices"),
)
_STRINGS = ("ids", "labels", "descriptions")


@dataclass
class Network:
    """Vertices with names and signatures."""

    ids: Strings
    labels: Strings
    descriptions: Strings
    entity: Bools  #: which vertices are entities
    degree: Ids  #: edges of every vertex in the graph
    names: dict[str, NameIndex]  #: by language
    signatures: Signatures

    def __len__(self) -> int:
        return len(self.ids)

    def kind(self, vertex: int) -> str:
        """concept or entity."""
        return KINDS[int(self.entity[vertex])]

    def counts(self) -> dict[str, Any]:
        """Its size, for reports."""
        return {
            "concepts": int((~self.entity).sum()), "entities": int(self.entity.sum()),
            "names": {language: len(index) for language, index in self.names.items()},
            "signatures": int(self.signatures.offsets[-1]),
        }  # fmt: skip

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """The header and arrays of a file."""
        arrays: Arrays = {
            "entity": self.entity, "degree": self.degree, "signature_offsets": self.signatures.offsets,
            "members": self.signatures.members,
        }  # fmt: skip
        for prefix in _STRINGS:
            arrays |= {f"{prefix}/{name}": array for name, array in getattr(self, prefix).state().items()}
        for number, index in enumerate(self.names.values()):
            arrays |= {f"names/{number}/{name}": array for name, array in index.state().items()}
        return {"languages": list(self.names)}, arrays

    @classmethod
    def from_state(cls, header: Any, arrays: Arrays) -> Network:
        """Restore a network."""
        HEADER.check(header)
        stored = Stored.of(arrays)
        ids = Strings.from_state(stored.under("ids/"))
        labels, descriptions = (Strings.from_state(stored.under(f"{name}/"), len(ids)) for name in _STRINGS[1:])
        taken = stored.take(*ARRAYS, vertices=len(ids))
        names = {
            language: NameIndex.from_state(stored.under(f"names/{number}/"), len(ids))
            for number, language in enumerate(header["languages"])
        }
        own = Signatures(taken["signature_offsets"], taken["members"])
        return cls(ids, labels, descriptions, taken["entity"], taken["degree"], names, own)


@dataclass
class NetworkBuilder:
    """Collects what a network consists of.

    >>> builder = NetworkBuilder()
    >>> builder.vertex("striker%1:18:00::", "striker", "a forward on a soccer team")
    >>> builder.vertex("Q1", "Mario Gomez", "footballer", entity=True)
    >>> builder.name("striker%1:18:00::", "striker", key="striker%1:18:00::")
    >>> builder.name("Q1", "Mario Gomez")
    >>> builder.edge("Q1", "striker%1:18:00::", "occupation")
    >>> network = builder.network()
    >>> network.names["en"].containing("mario"), network.signatures.of(1), network.kind(1)
    ([1], [0, 1], 'entity')
    """

    graph: Builder = field(default_factory=Builder)
    labels: dict[str, tuple[str, str, bool]] = field(default_factory=dict)
    names: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)  #: language, name, vertex: sense key
    same: dict[str, str] = field(default_factory=dict)  #: vertices that were joined to others

    def vertex(self, id: str, label: str, description: str = "", entity: bool = False) -> None:
        """Add a vertex, or say more of a known one."""
        id = self.same.get(id, id)
        self.graph.type(id, ENTITY if entity else CONCEPT)
        self.labels[id] = (label, description, entity)

    def name(self, id: str, name: str, language: str = "en", key: str = "") -> None:
        """Add a name of a vertex; frequent readings of a name come first."""
        if name.strip():
            self.names.setdefault(language, {}).setdefault(name, {}).setdefault(self.same.get(id, id), key)

    def edge(self, source: str, target: str, relation: str = "linked", both: bool = True) -> None:
        """Add a relation, by default in both directions; a vertex has no relation with itself."""
        source, target = self.same.get(source, source), self.same.get(target, target)
        if source != target:
            self.graph.add(source, relation, target)
            if both:
                self.graph.add(target, f"{relation} of", source)

    def join(self, known: str, other: str) -> None:
        """Have a further id stand for a known vertex."""
        self.same[other] = self.same.get(known, known)

    def typed_graph(self) -> TypedGraph:
        """The graph of all vertices and relations."""
        return self.graph.graph()

    def network(
        self, *, triangles: bool = True, method: str = "push", restart: float = RESTART, steps: int = STEPS,
        least: int = LEAST, tolerance: float = TOLERANCE, seed: int = 0, workers: int = 1, client: Any = None,
    ) -> Network:  # fmt: skip
        """Compute the signatures of all vertices; without `triangles`, all edges have the same weight."""
        if not self.names:
            raise DataError("a network needs vertices with names: add WordNet or entities")
        graph = self.typed_graph()
        rows = graph.rows()
        weights = triangle_weights(rows, workers) if triangles else None
        every = signatures(
            rows, transitions(rows, weights), method=method, restart=restart, steps=steps, least=least,
            tolerance=tolerance, seed=seed, workers=workers, client=client,
        )  # fmt: skip
        named = sorted({graph.names.find(id) for own in self.names.values() for ids in own.values() for id in ids})
        if named and named[0] < 0:
            raise ConfigError("a name was given to a vertex that was never added")
        ids = [graph.names[number] for number in named]
        number = {id: place for place, id in enumerate(ids)}
        degrees = np.diff(rows.offsets) + np.bincount(rows.targets, minlength=rows.n_nodes)
        facts = [self.labels.get(id, (id, "", False)) for id in ids]
        indexes = {
            language: NameIndex.of({
                name: [(number[id], key) for id, key in own.items()] for name, own in names.items()
            })
            for language, names in sorted(self.names.items())
        }  # fmt: skip
        return Network(
            Strings.of(ids), Strings.of(each[0] for each in facts), Strings.of(each[1] for each in facts),
            np.array([each[2] for each in facts], dtype=np.bool_), degrees[named].astype(np.int32), indexes,
            restricted(every, np.array(named, dtype=np.int64)),
        )  # fmt: skip


def restricted(every: Signatures, vertices: Ints) -> Signatures:
    """The signatures of some vertices, of which they hold nothing but each other, in their new numbers.

    >>> every = Signatures(np.array([0, 2, 3, 4]), np.array([1, 2, 2, 0], np.int32))
    >>> restricted(every, np.array([0, 2])).of(0)
    [1]
    """
    number = np.full(len(every.offsets) - 1, -1, dtype=np.int32)
    number[vertices] = np.arange(len(vertices), dtype=np.int32)
    rows = np.repeat(np.arange(len(number)), np.diff(every.offsets))
    kept = (number[rows] >= 0) & (number[every.members] >= 0)
    sizes = np.bincount(number[rows[kept]], minlength=len(vertices))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Signatures(offsets, number[every.members[kept]])

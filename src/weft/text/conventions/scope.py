"""Quantifier scope as layers: the scope-bearing nodes of a sentence, and which of them outscope which.

    spans/scope        one span per node: NP, collection, distributive, negation
    relations/scope    a relation `outscopes` from node u to node v for every pair u > v

A singular or mass noun phrase is one node. A plural one is two: the collection and, on the same words, the implicit
universal over its members (*distributive*), which its collection always outscopes. Orders are partial and transitive:
two nodes without a relation are incomparable. Both are ordinary layers, so every format that keeps spans and relations
keeps scope.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from weft.arrays import Bools
from weft.errors import DataError, WeftError
from weft.text.layers import RelationLayer, SpanLayer
from weft.text.views import Sentence, Word

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER = "scope"
OUTSCOPES = "outscopes"
NP, COLLECTION, DISTRIBUTIVE, NEGATION = KINDS = ("NP", "collection", "distributive", "negation")
_SUFFIX = {COLLECTION: "c", DISTRIBUTIVE: "d"}


class Node(NamedTuple):
    """A scope-bearing node: the words of its chunk, counted within the sentence, and its kind."""

    start: int
    end: int
    kind: str = NP


class Scoping:
    """The nodes of a sentence in text order, and their order as a matrix: `order[u, v]` says that u outscopes v.

    >>> scoping = Scoping.of([Node(1, 3), Node(4, 6), Node(8, 9)], [(1, 0), (0, 2)])
    >>> scoping.names, str(scoping)
    (['1', '2', '3'], '2>1; 1>3')
    >>> sorted(scoping.pairs())
    [(0, 2), (1, 0), (1, 2)]
    >>> plural = Scoping.of([Node(1, 3, "collection"), Node(1, 3, "distributive"), Node(5, 6, "negation")], [(1, 2)])
    >>> str(plural)
    '1c>1d; 1d>2'
    """

    __slots__ = ("nodes", "order")

    def __init__(self, nodes: Sequence[Node], order: Bools) -> None:
        self.nodes = tuple(nodes)
        self.order = order

    @classmethod
    def of(cls, nodes: Iterable[Node], pairs: Iterable[tuple[int, int]] = ()) -> Scoping:
        """A scoping of nodes in any order and pairs of them, closed transitively; cycles are an error."""
        given = list(nodes)
        for node in given:
            if node.kind not in KINDS or not 0 <= node.start < node.end:
                raise WeftError(f"a node has words and a kind out of {', '.join(KINDS)}; got {node}")
        ranked = sorted(range(len(given)), key=lambda i: _place(given[i]))
        if any(given[a] == given[b] for a, b in pairwise(ranked)):
            raise WeftError("two nodes of a scoping have the same words and the same kind")
        number = {old: new for new, old in enumerate(ranked)}
        placed = [given[i] for i in ranked]
        order = own_pairs(placed)
        for u, v in pairs:
            order[number[u], number[v]] = True
        order = _closed(order)
        if order.diagonal().any():
            around = [cls(placed, order).names[i] for i in np.flatnonzero(order.diagonal())]
            raise WeftError(f"scopes go in a circle: {', '.join(around)} outscope each other")
        return cls(placed, order)

    @property
    def names(self) -> list[str]:
        """Names of the nodes: the number of the chunk, with c for a collection and d for its implicit universal."""
        chunks = {chunk: number for number, chunk in enumerate(dict.fromkeys(node[:2] for node in self.nodes), 1)}
        return [f"{chunks[node[:2]]}{_SUFFIX.get(node.kind, '')}" for node in self.nodes]

    def pairs(self) -> set[tuple[int, int]]:
        """All pairs u > v, as numbers of nodes."""
        return {(int(u), int(v)) for u, v in np.argwhere(self.order)}

    def __len__(self) -> int:
        return len(self.nodes)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scoping) and self.nodes == other.nodes and np.array_equal(self.order, other.order)

    def __hash__(self) -> int:
        return hash((self.nodes, self.order.tobytes()))

    def __str__(self) -> str:
        numbers = self.order.astype(np.int64)
        names, direct = self.names, np.argwhere(self.order & ~(numbers @ numbers > 0))
        tops = {int(u): int(self.order[:, u].sum()) for u, _ in direct}
        return "; ".join(f"{names[u]}>{names[v]}" for u, v in sorted(direct.tolist(), key=lambda p: (tops[p[0]], p)))

    def __repr__(self) -> str:
        return f"Scoping({len(self)} nodes: {self})"


class ScopeNode(NamedTuple):
    """A node as users see it: its name, its kind and its words."""

    name: str
    kind: str
    words: list[Word]

    @property
    def text(self) -> str:
        return self.words[0].doc.text[self.words[0].start : self.words[-1].end]

    def __repr__(self) -> str:
        return f"ScopeNode({self.name!r}, {self.text!r}, {self.kind!r})"


class Scope:
    """A view of the scopes of one sentence; see `Doc.scope`.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["Mark", "each", "line", "in", "the", "file"]])
    >>> set_scopings(doc, [Scoping.of([Node(1, 3), Node(4, 6)], [(1, 0)])])
    >>> [scope] = doc.scope
    >>> scope.nodes
    [ScopeNode('1', 'each line', 'NP'), ScopeNode('2', 'the file', 'NP')]
    >>> scope.pairs, scope.outscopes("2", "1"), scope.outscopes("1", "2"), str(scope)
    ([('2', '1')], True, False, '2>1')
    """

    __slots__ = ("scoping", "sentence")

    def __init__(self, sentence: Sentence, scoping: Scoping) -> None:
        self.sentence, self.scoping = sentence, scoping

    @property
    def nodes(self) -> list[ScopeNode]:
        words, scoping = self.sentence.words, self.scoping
        return [
            ScopeNode(name, node.kind, words[node.start : node.end])
            for name, node in zip(scoping.names, scoping.nodes, strict=True)
        ]

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The names of all pairs u > v."""
        names = self.scoping.names
        return [(names[u], names[v]) for u, v in sorted(self.scoping.pairs())]

    def outscopes(self, u: str, v: str) -> bool:
        """Whether the node named u outscopes the one named v."""
        names = self.scoping.names
        for name in (u, v):
            if name not in names:
                raise WeftError(f"there is no node {name!r}; the sentence has {', '.join(names)}")
        return bool(self.scoping.order[names.index(u), names.index(v)])

    def __str__(self) -> str:
        return str(self.scoping)

    def __repr__(self) -> str:
        return f"Scope({self.sentence.text!r}, {str(self)!r})"


def own_pairs(nodes: Sequence[Node]) -> Bools:
    """The pairs that hold by themselves: every collection outscopes its implicit universal.

    >>> own_pairs([Node(0, 2, "collection"), Node(0, 2, "distributive")]).tolist()
    [[False, True], [False, False]]
    """
    order = np.zeros((len(nodes), len(nodes)), dtype=np.bool_)
    collections = {node[:2]: i for i, node in enumerate(nodes) if node.kind == COLLECTION}
    for i, node in enumerate(nodes):
        if node.kind == DISTRIBUTIVE and node[:2] in collections:
            order[collections[node[:2]], i] = True
    return order


def scopings_of(doc: Doc, layer: str = LAYER) -> list[Scoping]:
    """The scoping of every sentence; empty ones for sentences without nodes."""
    if layer not in doc.spans:
        known = ", ".join(doc.spans) or "none"
        raise DataError(f"the data has no span layer {layer!r} of scope-bearing nodes (it has: {known})")
    spans = doc.spans[layer]
    if spans.unit != "words":
        raise DataError(f"the span layer {layer!r} must be counted in words")
    bounds = doc.sentence_offsets.tolist()
    nodes: list[list[Node]] = [[] for _ in bounds[1:]]
    places: list[tuple[int, int]] = []  # sentence and number of every span
    for number, (pieces, label) in enumerate(spans):
        start, end = pieces[0][0], pieces[-1][1]
        sentence = bisect_right(bounds, start) - 1
        if sentence >= len(nodes) or end > bounds[sentence + 1]:
            raise DataError(f"{_where(doc)}: span {number} of the layer {layer!r} goes beyond its sentence")
        places.append((sentence, len(nodes[sentence])))
        nodes[sentence].append(Node(start - bounds[sentence], end - bounds[sentence], label))
    pairs: list[list[tuple[int, int]]] = [[] for _ in nodes]
    for head, tail, label in doc.relations.get(layer, ()):
        if label != OUTSCOPES or places[head][0] != places[tail][0]:
            raise DataError(
                f"{_where(doc)}: a relation of the layer {layer!r} is {label!r} between spans {head} and {tail}; "
                f"expected {OUTSCOPES!r} between nodes of one sentence"
            )
        pairs[places[head][0]].append((places[head][1], places[tail][1]))
    found = []
    for number, (own, ordered) in enumerate(zip(nodes, pairs, strict=True), 1):
        try:
            found.append(Scoping.of(own, ordered))
        except WeftError as error:
            raise DataError(f"{_where(doc)}, sentence {number}: {error}") from error
    return found


def set_scopings(doc: Doc, scopings: Sequence[Scoping], layer: str = LAYER) -> None:
    """Write the scoping of every sentence into the layer: nodes as spans, all pairs of the order as relations."""
    if len(scopings) != doc.n_sentences:
        raise WeftError(f"there are {len(scopings)} scopings for {doc.n_sentences} sentences")
    spans, relations = SpanLayer(doc.strings), RelationLayer(doc.strings, layer)
    for first, scoping in zip(doc.sentence_offsets.tolist(), scopings, strict=False):
        base = len(spans)
        for node in scoping.nodes:
            spans.add([(first + node.start, first + node.end)], node.kind)
        for u, v in sorted(scoping.pairs()):
            relations.add(base + u, base + v, OUTSCOPES)
    doc.spans[layer], doc.relations[layer] = spans, relations


def scope_views(doc: Doc, layer: str = LAYER) -> Iterator[Scope]:
    """The scopes of all sentences that have nodes; none if the layer is missing."""
    if layer in doc.spans:
        for sentence, scoping in zip(doc.sentences, scopings_of(doc, layer), strict=True):
            if len(scoping):
                yield Scope(sentence, scoping)


def _place(node: Node) -> tuple[int, int, int]:
    return node.start, node.end, KINDS.index(node.kind)


def _closed(order: Bools) -> Bools:
    """The transitive closure; `weft.infer.orders.relations` is out of reach of this room."""
    for v in range(len(order)):
        order |= order[:, v, None] & order[None, v]
    return order


def _where(doc: Doc) -> str:
    return doc.id or "the document"

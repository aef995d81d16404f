"""Abstract Meaning Representations: one rooted graph of concepts per sentence.

A document stores the graphs of its sentences in the graph layer `amr` (`doc.graphs["amr"]`). The nodes of a sentence
stand together, its top first; a node that has a name is a variable with a concept, one without a name is a constant.
Edges are those of the annotation, so a role may be an inverse: `x :ARG0-of y` says `y :ARG0 x`. Every node is anchored
in a span of the layer `amr`: in the words it comes from, or, if these are not known, in a span over the whole sentence
with the label `AMR`. Cutting, joining and storing documents therefore needs no special case.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from weft.errors import WeftError
from weft.text.doc import Doc
from weft.text.layers import GraphLayer, Pieces, SpanLayer

#: The name of the layers.
LAYER = "amr"
#: The label of a span over a whole sentence.
WHOLE = "AMR"
#: Roles that end in `-of` but are no inverses.
PLAIN_OF = frozenset(("consist-of", "prep-on-behalf-of", "prep-out-of"))
_TEXT = "penman"  # attribute of a top: the text it was read from


class Edge(NamedTuple):
    """An edge between nodes, by their numbers; the role has no colon."""

    source: int
    target: int
    role: str


def is_inverse(role: str) -> bool:
    """Whether a role is the inverse of another one.

    >>> [role for role in ("ARG0-of", "consist-of", "prep-on-behalf-of", "mod") if is_inverse(role)]
    ['ARG0-of']
    """
    return role.endswith("-of") and role not in PLAIN_OF


def inverted(role: str) -> str:
    """The role seen from the other end.

    >>> inverted("ARG0"), inverted("ARG0-of"), inverted("consist-of"), inverted("mod")
    ('ARG0-of', 'ARG0', 'consist-of-of', 'domain')
    """
    if role == "mod":
        return "domain"
    return role.removesuffix("-of") if is_inverse(role) else f"{role}-of"


@dataclass
class Amr:
    """A graph: concepts and constants, edges as annotated, and the words (of the sentence) each node comes from.

    Node 0 is the top. `text` is the PENMAN text that the graph was read from, "" if it was made otherwise.

    >>> amr = Amr(["want-01", "boy"], ["w", "b"], [Edge(0, 1, "ARG0")])
    >>> amr.relations()
    [Edge(source=0, target=1, role='ARG0')]
    """

    labels: list[str]
    names: list[str]
    edges: list[Edge]
    words: list[tuple[int, ...]] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        if not self.words:
            self.words = [()] * len(self.labels)
        if not self.labels or not len(self.labels) == len(self.names) == len(self.words):
            raise WeftError("an AMR needs at least one node, and one label, name and tuple of words per node")

    def __len__(self) -> int:
        return len(self.labels)

    def is_constant(self, node: int) -> bool:
        """Whether a node is a constant (`6`, `-`, `"New"`) and no concept."""
        return not self.names[node]

    def relations(self) -> list[Edge]:
        """The edges in the direction of their roles: inverse ones are turned around, and `domain` is inverse `mod`.

        >>> Amr(["boy", "want-01"], ["b", "w"], [Edge(0, 1, "ARG0-of")]).relations()
        [Edge(source=1, target=0, role='ARG0')]
        """
        turned = []
        for source, target, role in self.edges:
            if is_inverse(role):
                source, target, role = target, source, inverted(role)
            if role == "domain" and not self.is_constant(target):
                source, target, role = target, source, "mod"
            turned.append(Edge(source, target, role))
        return turned

    def same(self, other: Amr) -> bool:
        """Whether another graph has the same nodes in the same order, and the same edges."""
        return self.labels == other.labels and self.names == other.names and self.edges == other.edges

    def connected(self) -> bool:
        """Whether every node can be reached from the top along edges of either direction.

        >>> Amr(["a", "b"], ["a", "b"], []).connected()
        False
        """
        near: list[list[int]] = [[] for _ in self.labels]
        for source, target, _ in self.edges:
            near[source].append(target)
            near[target].append(source)
        seen, waiting = {0}, [0]
        while waiting:
            for node in near[waiting.pop()]:
                if node not in seen:
                    seen.add(node)
                    waiting.append(node)
        return len(seen) == len(self)


def set_amrs(doc: Doc, amrs: Iterable[Amr | None]) -> None:
    """Store one graph per sentence, or None, in the layers `amr` of a document.

    >>> doc = Doc.from_words([["Boys", "want"]])
    >>> set_amrs(doc, [Amr(["want-01", "boy"], ["w", "b"], [Edge(0, 1, "ARG0")], [(1,), (0,)])])
    >>> list(doc.graphs["amr"].nodes()), list(doc.graphs["amr"].edges())
    ([('want-01', 0), ('boy', 1)], [(0, 1, 'ARG0')])
    >>> list(doc.spans["amr"])
    [SpanRow(pieces=((1, 2),), label='want-01'), SpanRow(pieces=((0, 1),), label='boy')]
    """
    spans, graph = SpanLayer(doc.strings), GraphLayer(doc.strings, LAYER)
    given = list(amrs)
    if len(given) != doc.n_sentences:
        raise WeftError(f"{doc!r} needs one AMR, or None, per sentence; given: {len(given)}")
    for amr, first, end in zip(
        given, doc.sentence_offsets[:-1].tolist(), doc.sentence_offsets[1:].tolist(), strict=True
    ):
        if amr is None:
            continue
        if first == end:
            raise WeftError(f"{doc!r}: an AMR belongs to a sentence that has no words")
        known: dict[Pieces, int] = {}
        numbers = []
        for node, (label, name, words) in enumerate(zip(amr.labels, amr.names, amr.words, strict=True)):
            if any(not 0 <= word < end - first for word in words):
                raise WeftError(f"the node {label!r} of an AMR names a word that its sentence does not have")
            pieces = pieces_of(first + word for word in words)
            if pieces not in known:
                known[pieces] = spans.add(pieces or [(first, end)], label if pieces else WHOLE)
            attributes = {_TEXT: amr.text} if amr.text and node == 0 else {}
            numbers.append(graph.node(label, known[pieces], name, **attributes))
        for source, target, role in amr.edges:
            graph.edge(numbers[source], numbers[target], role)
    doc.spans[LAYER], doc.graphs[LAYER] = spans, graph


def amrs_of(doc: Doc) -> list[Amr | None]:
    """The graph of every sentence, None for a sentence without one.

    >>> doc = Doc.from_words([["Boys", "want"], ["Yes"]])
    >>> set_amrs(doc, [Amr(["want-01", "boy"], ["w", "b"], [Edge(0, 1, "ARG0")], [(), (0,)]), None])
    >>> found = amrs_of(doc)
    >>> found[0].labels, found[0].words, found[1]
    (['want-01', 'boy'], [(), (0,)], None)
    """
    result: list[Amr | None] = [None] * doc.n_sentences
    graph = doc.graphs.get(LAYER)
    if graph is None or not len(graph):
        return result
    spans = doc.spans[graph.spans]
    starts = np.array([row.pieces[0][0] for row in spans], dtype=np.int64)
    sentence_of_span = (np.searchsorted(doc.sentence_offsets, starts, side="right") - 1).tolist()
    place: list[tuple[int, int]] = []
    for number, (label, anchor) in enumerate(graph.nodes()):
        if anchor < 0:
            raise WeftError(f"{doc!r}: the node {label!r} of the layer 'amr' is not anchored in a span")
        sentence, row = sentence_of_span[anchor], spans[anchor]
        first = int(doc.sentence_offsets[sentence])
        words = () if row.label == WHOLE else tuple(w - first for lo, hi in row.pieces for w in range(lo, hi))
        amr = result[sentence]
        if amr is None:
            text = str(graph.attributes.get(number, {}).get(_TEXT, ""))
            amr = result[sentence] = Amr([label], [graph.ids[number]], [], [words], text)
        else:
            amr.labels.append(label)
            amr.names.append(graph.ids[number])
            amr.words.append(words)
        place.append((sentence, len(amr) - 1))
    for source, target, role in graph.edges():
        amr = result[place[source][0]]
        if amr is None or place[source][0] != place[target][0]:
            raise WeftError(f"{doc!r}: an edge {role!r} of the layer 'amr' joins two sentences")
        amr.edges.append(Edge(place[source][1], place[target][1], role))
    return result


def pieces_of(words: Iterable[int]) -> Pieces:
    """Words as half-open pieces.

    >>> pieces_of([3, 4, 7])
    ((3, 5), (7, 8))
    """
    pieces: list[tuple[int, int]] = []
    for word in sorted(set(words)):
        if pieces and pieces[-1][1] == word:
            pieces[-1] = (pieces[-1][0], word + 1)
        else:
            pieces.append((word, word + 1))
    return tuple(pieces)


def fresh_names(labels: Sequence[str]) -> list[str]:
    """Variables for concepts: the first letter, and a number from the second use on.

    >>> fresh_names(["want-01", "boy", "warn-01", "78"])
    ['w', 'b', 'w2', 'x']
    """
    used: dict[str, int] = {}
    names = []
    for label in labels:
        letter = label[:1].lower() if label[:1].isascii() and label[:1].isalpha() else "x"
        used[letter] = used.get(letter, 0) + 1
        names.append(letter if used[letter] == 1 else f"{letter}{used[letter]}")
    return names

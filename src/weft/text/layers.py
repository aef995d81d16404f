"""Layers of a document beyond its words: spans, relations, clusters and graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from weft.arrays import Ids
from weft.errors import WeftError
from weft.text.strings import StringTable

if TYPE_CHECKING:
    from weft.text.doc import Doc

Unit = Literal["words", "chars"]
Pieces = tuple[tuple[int, int], ...]


class SpanRow(NamedTuple):
    """A span as plain values: half-open pieces in the layer's unit, and a label."""

    pieces: Pieces
    label: str


class SpanLayer:
    """Labelled spans, each of one or more half-open pieces, counted in words or in characters of the document.

    Spans may nest, overlap and have gaps; they keep the order in which they were added.
    `ids` are the names of the spans in their source file (brat's `T1`), `attributes` maps a span's number to its
    attributes.

    >>> layer = SpanLayer(StringTable())
    >>> layer.add([(0, 2)], "PER"), layer.add([(3, 4), (6, 7)], "ORG")
    (0, 1)
    >>> list(layer)
    [SpanRow(pieces=((0, 2),), label='PER'), SpanRow(pieces=((3, 4), (6, 7)), label='ORG')]
    """

    __slots__ = ("_labels", "_offsets", "_pieces", "attributes", "ids", "strings", "unit")

    def __init__(self, strings: StringTable, unit: Unit = "words") -> None:
        self.strings = strings
        self.unit: Unit = unit
        self._pieces: list[tuple[int, int]] = []
        self._offsets: list[int] = [0]
        self._labels: list[int] = []
        self.ids: list[str] = []
        self.attributes: dict[int, dict[str, Any]] = {}

    @classmethod
    def of(cls, strings: StringTable, spans: Iterable[tuple[int, int, str]], unit: Unit = "words") -> SpanLayer:
        """A layer of contiguous spans `(start, end, label)`."""
        layer = cls(strings, unit)
        for start, end, label in spans:
            if not 0 <= start < end:
                raise WeftError(f"a span needs 0 <= start < end, got {start}-{end} ({label})")
            layer._pieces.append((start, end))
            layer._labels.append(strings[label])
        layer._offsets = list(range(len(layer._pieces) + 1))
        return layer

    @classmethod
    def from_pieces(cls, strings: StringTable, pieces: list[tuple[int, int]], labels: list[int]) -> SpanLayer:
        """A layer of contiguous spans of words; labels are ids of the string table."""
        layer = cls(strings)
        layer._pieces, layer._labels = pieces, labels
        layer._offsets = list(range(len(pieces) + 1))
        return layer

    def add(self, pieces: Sequence[tuple[int, int]], label: str, name: str = "", **attributes: Any) -> int:
        """Append one span and return its number."""
        if not pieces or any(start >= end or start < 0 for start, end in pieces):
            raise WeftError(f"a span needs non-empty half-open pieces, got {list(pieces)}")
        number = len(self._labels)
        self._pieces.extend((int(start), int(end)) for start, end in pieces)
        self._offsets.append(len(self._pieces))
        self._labels.append(self.strings[label])
        if name or self.ids:
            self.ids.extend([""] * (number - len(self.ids)))
            self.ids.append(name)
        if attributes:
            self.attributes[number] = attributes
        return number

    def __len__(self) -> int:
        return len(self._labels)

    def __getitem__(self, number: int) -> SpanRow:
        lo, hi = self._offsets[number], self._offsets[number + 1]
        return SpanRow(tuple(self._pieces[lo:hi]), self.strings.string(self._labels[number]))

    def __iter__(self) -> Iterator[SpanRow]:
        return (self[i] for i in range(len(self)))

    def flat(self) -> list[tuple[int, int, str]]:
        """The first piece of every span, and its label: `(start, end, label)`.

        >>> SpanLayer.of(StringTable(), [(0, 2, "PER")]).flat()
        [(0, 2, 'PER')]
        """
        firsts = self._pieces if len(self._pieces) == len(self) else map(self._pieces.__getitem__, self._offsets[:-1])
        return [(*piece, label) for piece, label in zip(firsts, self.strings.strings(self._labels), strict=True)]

    def id(self, number: int) -> str:
        """The name of a span in its file, or "" if it has none."""
        return self.ids[number] if number < len(self.ids) else ""

    @property
    def pieces(self) -> Ids:
        """All pieces, one row `(start, end)` each; span `i` owns rows `offsets[i]:offsets[i + 1]`."""
        return np.array(self._pieces, dtype=np.int32).reshape(-1, 2)

    @property
    def offsets(self) -> Ids:
        return np.array(self._offsets, dtype=np.int32)

    @property
    def labels(self) -> Ids:
        return np.array(self._labels, dtype=np.int32)

    def misplaced(self, limit: int) -> int | None:
        """The first span whose pieces are empty, do not rise or go beyond `limit`, or None.

        >>> SpanLayer.of(StringTable(), [(0, 2, "PER"), (3, 9, "ORG")]).misplaced(8)
        1
        """
        if len(self._pieces) == len(self) and all(0 <= start < end <= limit for start, end in self._pieces):
            return None
        for number, (low, high) in enumerate(pairwise(self._offsets)):
            reached = 0
            for start, end in self._pieces[low:high]:
                if not reached <= start < end <= limit:
                    return number
                reached = end
            if low == high:
                return number
        return None

    def is_flat(self) -> bool:
        """Whether every span is contiguous and no two overlap."""
        if len(self._pieces) != len(self):
            return False
        rows = sorted(self._pieces)
        return all(a[1] <= b[0] for a, b in pairwise(rows))


class RelationLayer:
    """Labelled pairs of spans of one span layer: `(head, tail, label)` with span numbers."""

    __slots__ = ("_rows", "attributes", "ids", "spans", "strings")

    def __init__(self, strings: StringTable, spans: str) -> None:
        self.strings = strings
        self.spans = spans
        self._rows: list[tuple[int, int, int]] = []
        self.ids: list[str] = []
        self.attributes: dict[int, dict[str, Any]] = {}

    def add(self, head: int, tail: int, label: str, name: str = "", **attributes: Any) -> int:
        number = len(self._rows)
        self._rows.append((int(head), int(tail), self.strings[label]))
        self.ids.append(name)
        if attributes:
            self.attributes[number] = attributes
        return number

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[tuple[int, int, str]]:
        return ((head, tail, self.strings.string(label)) for head, tail, label in self._rows)

    @property
    def rows(self) -> Ids:
        """One row `(head, tail, label id)` per relation."""
        return np.array(self._rows, dtype=np.int32).reshape(-1, 3)


class ClusterLayer:
    """Clusters of the spans of a span layer: one cluster number per span, -1 for none."""

    __slots__ = ("cluster", "spans")

    def __init__(self, spans: str, cluster: Iterable[int]) -> None:
        self.spans = spans
        self.cluster = np.fromiter(cluster, dtype=np.int32)

    def groups(self) -> list[list[int]]:
        """The clusters as lists of span numbers, in order of first mention."""
        found: dict[int, list[int]] = {}
        for span, cluster in enumerate(self.cluster.tolist()):
            if cluster >= 0:
                found.setdefault(cluster, []).append(span)
        return list(found.values())


class GraphLayer:
    """A labelled directed graph whose nodes may be anchored in spans: semantic graphs, events with roles.

    >>> graph = GraphLayer(StringTable(), spans="entities")
    >>> attack, victim = graph.node("Attack", anchor=0), graph.node("Person", anchor=1)
    >>> graph.edge(attack, victim, "Target")
    >>> list(graph.edges())
    [(0, 1, 'Target')]
    >>> graph
    GraphLayer(2 nodes, 1 edges)
    """

    __slots__ = ("_edges", "_nodes", "attributes", "ids", "spans", "strings")

    def __init__(self, strings: StringTable, spans: str = "") -> None:
        self.strings = strings
        self.spans = spans
        self._nodes: list[tuple[int, int]] = []
        self._edges: list[tuple[int, int, int]] = []
        self.ids: list[str] = []
        self.attributes: dict[int, dict[str, Any]] = {}

    def node(self, label: str, anchor: int = -1, name: str = "", **attributes: Any) -> int:
        """Add a node, anchored in span `anchor` of the graph's span layer (-1: not anchored)."""
        number = len(self._nodes)
        self._nodes.append((self.strings[label], int(anchor)))
        self.ids.append(name)
        if attributes:
            self.attributes[number] = attributes
        return number

    def edge(self, source: int, target: int, label: str) -> None:
        self._edges.append((int(source), int(target), self.strings[label]))

    def __len__(self) -> int:
        return len(self._nodes)

    def __repr__(self) -> str:
        return f"GraphLayer({len(self._nodes)} nodes, {len(self._edges)} edges)"

    def nodes(self) -> Iterator[tuple[str, int]]:
        """`(label, anchor span or -1)` of every node."""
        return ((self.strings.string(label), anchor) for label, anchor in self._nodes)

    def edges(self) -> Iterator[tuple[int, int, str]]:
        return ((source, target, self.strings.string(label)) for source, target, label in self._edges)


def words_of_chars(doc: Doc, layer: SpanLayer) -> SpanLayer:
    """The same spans counted in words: each piece grows to the words it touches.

    Raises `WeftError` for a piece that touches no word.
    """
    if layer.unit == "words":
        return layer
    result = SpanLayer(layer.strings, "words")
    starts, ends = doc.word_start, doc.word_end
    for number, row in enumerate(layer):
        pieces: list[tuple[int, int]] = []
        for start, end in row.pieces:
            first = int(np.searchsorted(ends, start, side="right"))
            last = int(np.searchsorted(starts, end, side="left"))
            if first >= last:
                raise WeftError(f"span {layer.id(number) or number} ({start}-{end}, {row.label}) touches no word")
            if pieces and pieces[-1][1] >= first:
                pieces[-1] = (pieces[-1][0], max(last, pieces[-1][1]))
            else:
                pieces.append((first, last))
        result.add(pieces, row.label, layer.id(number), **layer.attributes.get(number, {}))
    return result


def chars_of_words(doc: Doc, layer: SpanLayer) -> SpanLayer:
    """The same spans counted in characters of `doc.text`."""
    if layer.unit == "chars":
        return layer
    result = SpanLayer(layer.strings, "chars")
    starts, ends = doc.word_start, doc.word_end
    for number, row in enumerate(layer):
        pieces = [(int(starts[start]), int(ends[end - 1])) for start, end in row.pieces]
        result.add(pieces, row.label, layer.id(number), **layer.attributes.get(number, {}))
    return result

"""Regions of a text and links between them: what annotation tools have in place of layers, and the way to and fro.

    region   characters from start to end, with a label, a name of its own, and the layer that it belongs to
    link     from one region to another, with a label

Tools know no gaps. A span of several pieces is as many regions, each linked to the next one by a link labelled `GAP`,
which people see and reading joins again. Links belong to the layer `relations` if their regions are those of
`entities`, and otherwise to the relation layer that is called like the span layer of their regions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from weft.errors import FormatError, WeftError
from weft.text.conventions.polarity import MERGED
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer, chars_of_words

#: The label of a link from one piece of a span to the next one.
GAP = "weft:gap"
SPANS, RELATIONS = "entities", "relations"
#: The key of a document's metadata for labels of the whole document: lists of them by the name of what was asked.
LABELS = "document_labels"
#: The layer for spans that somebody rejected, and for those of documents that somebody passed over.
REJECTED, IGNORED = "rejected", "ignored"

Fault = Callable[[str, object], FormatError]


class Region(NamedTuple):
    """A labelled stretch of characters."""

    name: str
    start: int
    end: int
    label: str
    layer: str = SPANS
    attributes: dict[str, Any] = {}  # noqa: RUF012  (never changed)


class Link(NamedTuple):
    """A labelled pair of regions, by their names."""

    head: str
    tail: str
    label: str
    name: str = ""


def relations_of(layer: str) -> str:
    """The relation layer of a span layer that tools can express.

    >>> relations_of("entities"), relations_of("frames")
    ('relations', 'frames')
    """
    return RELATIONS if layer == SPANS else layer


def regions_of(doc: Doc, layers: Iterable[str]) -> tuple[list[Region], list[Link]]:
    """The spans of a document's layers as regions, each with a name of its own, and their relations as links.

    >>> doc = Doc("give it up")
    >>> doc.spans["entities"] = SpanLayer(doc.strings, "chars")
    >>> _ = doc.spans["entities"].add([(0, 4), (8, 10)], "MWE", "T1")
    >>> regions, links = regions_of(doc, ["entities"])
    >>> [(region.name, region.start, region.end) for region in regions], links[0][:3]
    ([('T1', 0, 4), ('T1.2', 8, 10)], ('T1', 'T1.2', 'weft:gap'))
    """
    regions: list[Region] = []
    links: list[Link] = []
    named = [(layer, doc.spans[layer]) for layer in layers if layer in doc.spans]
    # A name that several labels of one stretch share is one region with several labels.
    given = Counter(
        name for name, _, _ in {
            (spans.id(number), layer, row.pieces) for layer, spans in named for number, row in enumerate(spans)
        }
    )  # fmt: skip
    taken = set(given)
    for layer, spans in named:
        names = []
        for number, row in enumerate(chars_of_words(doc, spans)):
            name = spans.id(number)
            if not name or given[name] > 1:
                name = _unused(f"s{len(regions) + 1}", taken)
            names.append(name)
            own = spans.attributes.get(number, {})
            last = name
            for piece, (start, end) in enumerate(row.pieces, start=1):
                called = name if piece == 1 else _unused(f"{name}.{piece}", taken)
                regions.append(Region(called, start, end, row.label, layer, own if piece == 1 else {}))
                if piece > 1:
                    links.append(Link(last, called, GAP))
                last = called
        relations = doc.relations.get(relations_of(layer))
        if relations is not None and relations.spans == layer:
            for number, (head, tail, label) in enumerate(relations):
                if label == GAP:
                    raise WeftError(f"{doc!r}: a relation is called {GAP!r}, which stands for the gap within a span")
                links.append(Link(names[head], names[tail], label, relations.ids[number] if relations.ids else ""))
    return regions, links


def _unused(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def set_regions(
    doc: Doc, regions: Sequence[Region], links: Sequence[Link], fault: Fault, layers: Iterable[str] = (SPANS,)
) -> list[Link]:
    """Turn regions and links into layers of a document; links between regions of two layers are handed back.

    `layers` are there even without a region. Regions are expected inside the text.

    >>> doc = Doc("give it up")
    >>> pieces = [Region("a", 0, 4, "MWE"), Region("b", 8, 10, "MWE")]
    >>> set_regions(doc, pieces, [Link("a", "b", GAP)], lambda *said: FormatError("x", 1, *map(str, said)))
    []
    >>> list(doc.spans["entities"])
    [SpanRow(pieces=((0, 4), (8, 10)), label='MWE')]
    """
    first: dict[str, int] = {}
    for number, region in enumerate(regions):
        first.setdefault(region.name, number)
    after = _next_pieces(regions, [link for link in links if link.label == GAP], first, fault)
    rest = set(after.values())
    for layer in layers:
        doc.spans.setdefault(layer, SpanLayer(doc.strings, "chars"))
    place: dict[str, tuple[str, int]] = {}  # of a region's name: its layer and span
    for number, region in enumerate(regions):
        if number in rest:
            continue
        members = [number]
        while members[-1] in after:
            members.append(after[members[-1]])
        pieces = sorted((regions[k].start, regions[k].end) for k in members)
        if any(one[1] > other[0] for one, other in pairwise(pieces)):
            raise fault("pieces of a span that do not overlap", pieces)
        spans = doc.spans.setdefault(region.layer, SpanLayer(doc.strings, "chars"))
        span = spans.add(pieces, region.label, region.name)
        if region.attributes:
            spans.attributes[span] = dict(region.attributes)
        for k in members:
            place.setdefault(regions[k].name, (region.layer, span))
    between = []
    for link in links:
        if link.label == GAP:
            continue
        for end in (link.head, link.tail):
            if end not in place:
                raise fault("a relation between two regions of the document", end)
        (layer, head), (other, tail) = place[link.head], place[link.tail]
        if layer != other:
            between.append(link)
            continue
        name = relations_of(layer)
        relations = doc.relations.setdefault(name, RelationLayer(doc.strings, layer))
        relations.add(head, tail, link.label, link.name)
    return between


def _next_pieces(
    regions: Sequence[Region], gaps: Sequence[Link], first: dict[str, int], fault: Fault
) -> dict[int, int]:
    """Which region goes on in which: chains without forks, of one label and layer."""
    after: dict[int, int] = {}
    reached: set[int] = set()
    for link in gaps:
        head, tail = first.get(link.head), first.get(link.tail)
        if head is None or tail is None:
            raise fault(f"two regions of the document that {GAP!r} joins", [link.head, link.tail])
        one, other = regions[head], regions[tail]
        if (one.label, one.layer) != (other.label, other.layer) or head in after or tail in reached:
            raise fault(f"pieces of one span with one label, joined by {GAP!r} in a row", [link.head, link.tail])
        after[head] = tail
        reached.add(tail)
    starts = set(after) - reached
    seen = 0
    for start in starts:
        while start in after:
            start, seen = after[start], seen + 1
    if seen < len(after):
        raise fault(f"pieces joined by {GAP!r} in a row", "a circle")
    return after


def checked(start: Any, end: Any, limit: int, fault: Fault) -> tuple[int, int]:
    """Two offsets inside a text, whatever came in their place."""
    if type(start) is not int or type(end) is not int:
        raise fault("a region from one character to another", [start, end])
    if not 0 <= start < end <= limit:
        raise fault(f"a region inside the text of {limit} characters", [start, end])
    return start, end


def has_labels(value: Any) -> bool:
    """Whether metadata are labels of a document.

    >>> has_labels({"topic": ["food"]}), has_labels(["food"])
    (True, False)
    """
    return isinstance(value, dict) and all(
        isinstance(own, list) and all(isinstance(label, str) for label in own) for own in value.values()
    )


def labels_of(doc: Doc) -> dict[str, list[str]]:
    """The labels of a whole document, by the name of what was asked.

    >>> labels_of(Doc("Fine.", meta={"document_labels": {"topic": ["food", "wine"]}}))
    {'topic': ['food', 'wine']}
    >>> labels_of(Doc("Fine.", meta={"sentiment": "pos"}))
    {'sentiment': ['pos']}
    """
    given = doc.meta.get(LABELS)
    found = {name: list(own) for name, own in given.items()} if isinstance(given, dict) and has_labels(given) else {}
    polarity = sentiment_of(doc)
    if polarity and "sentiment" not in found and [polarity] not in found.values():
        found["sentiment"] = [polarity]
    return found


def sentiment_of(doc: Doc) -> str:
    """The polarity of a whole document as its metadata spell it, "" for none that training reads.

    >>> sentiment_of(Doc("Fine.", meta={"sentiment": "pos"})), sentiment_of(Doc("Fine.", meta={"sentiment": "blue"}))
    ('pos', '')
    """
    given = doc.meta.get("sentiment")
    return given if isinstance(given, str) and given.strip().lower() in MERGED else ""


def set_labels(doc: Doc, name: str, labels: Sequence[str]) -> None:
    """Note labels of a whole document; one polarity is the document's `sentiment`, too, which training reads.

    >>> doc = Doc("Fine.")
    >>> set_labels(doc, "sentiment", ["Positive"])
    >>> doc.meta
    {'document_labels': {'sentiment': ['Positive']}, 'sentiment': 'Positive'}
    """
    given = doc.meta.get(LABELS)
    doc.meta[LABELS] = {**(given if isinstance(given, dict) else {}), name: list(labels)}
    if len(labels) == 1 and labels[0].strip().lower() in MERGED:
        doc.meta.setdefault("sentiment", labels[0])

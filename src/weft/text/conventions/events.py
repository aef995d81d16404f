"""Events as layers: a graph from events to what fills their roles, anchored in spans.

    spans/events      triggers, labelled with the type of their event, and fillers, labelled with their own type
    graphs/events     a node per event (E1, E2 ...) and per filler, an edge per argument, labelled with its role

    Attack(trigger = fired, Target = soldiers, Place = Alder)       Die(trigger = killed, Victim = soldiers)

A filler may be an event. brat keeps triggers and fillers in the span layer `entities`; its graph is read as well: a
node is an event if its name begins with E, or if it has no name and either has arguments or fills no role.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from weft.errors import WeftError
from weft.text.layers import GraphLayer, Pieces, SpanLayer, chars_of_words, words_of_chars
from weft.text.views import Sentence, Span, Word

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER = "events"


class Filler(NamedTuple):
    """An argument as plain values: its role, and the number of an event, or else the pieces and label of a span."""

    role: str
    event: int = -1
    pieces: Pieces = ()
    label: str = ""


class EventRow(NamedTuple):
    """An event as plain values: its type, the pieces of its trigger, its arguments."""

    type: str
    trigger: Pieces
    arguments: tuple[Filler, ...] = ()


class EventArgument(NamedTuple):
    """An argument of an event: its role, and the span or the event that fills it."""

    role: str
    filler: Span | Event


class Event:
    """A view of one event; see `Doc.events`.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["Ada", "founded", "Quill", "Press"]])
    >>> set_events(doc, [EventRow("Start-Org", ((1, 2),), (Filler("Agent", pieces=((0, 1),), label="person"),))])
    >>> [event] = doc.events
    >>> event.type, event.trigger, event.arguments
    ('Start-Org', Span('founded', 'Start-Org'), [EventArgument(role='Agent', filler=Span('Ada', 'person'))])
    """

    __slots__ = ("doc", "layer", "node")

    def __init__(self, doc: Doc, node: int, layer: str = LAYER) -> None:
        self.doc, self.node, self.layer = doc, node, layer

    @property
    def _graph(self) -> GraphLayer:
        return self.doc.graphs[self.layer]

    @property
    def type(self) -> str:
        """The type of the event."""
        return list(self._graph.nodes())[self.node][0]

    @property
    def trigger(self) -> Span:
        """The words that tell of the event."""
        return Span(self.doc, self._graph.spans, list(self._graph.nodes())[self.node][1])

    @property
    def arguments(self) -> list[EventArgument]:
        """Roles with the spans or events that fill them."""
        graph = self._graph
        nodes, events = list(graph.nodes()), set(event_nodes(graph))
        return [
            EventArgument(
                role,
                Event(self.doc, target, self.layer)
                if target in events
                else Span(self.doc, graph.spans, nodes[target][1]),
            )
            for source, target, role in graph.edges()
            if source == self.node
        ]

    @property
    def sentence(self) -> Sentence | None:
        """The sentence of the trigger, None in a document without words."""
        if not self.doc.n_words:
            return None
        return Word(self.doc, words_of_chars(self.doc, self.doc.spans[self._graph.spans])[
            list(self._graph.nodes())[self.node][1]].pieces[0][0]).sentence  # fmt: skip

    @property
    def told(self) -> str:
        """The event in words.

        >>> from weft.text.doc import Doc
        >>> doc = Doc.from_words([["Ada", "left"]])
        >>> set_events(doc, [EventRow("Leave", ((1, 2),), (Filler("Who", pieces=((0, 1),)),))])
        >>> doc.events[0].told
        'Leave(left, Who: Ada)'
        """
        parts = [
            f"{each.role}: {each.filler.trigger.text if isinstance(each.filler, Event) else each.filler.text}"
            for each in self.arguments
        ]
        return f"{self.type}({', '.join([self.trigger.text, *parts])})"

    def __getitem__(self, role: str) -> Span | Event | None:
        """What fills a role, the first filler if there are several, None if there is none."""
        return next((each.filler for each in self.arguments if each.role == role), None)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Event) and (other.doc, other.node) == (self.doc, self.node)

    def __hash__(self) -> int:
        return hash((id(self.doc), self.node))

    def __repr__(self) -> str:
        return f"Event({self.type!r}, {self.trigger.text!r})"


def event_nodes(graph: GraphLayer) -> list[int]:
    """The nodes of a graph that are events.

    >>> from weft.text.strings import StringTable
    >>> graph = GraphLayer(StringTable(), "entities")
    >>> graph.edge(graph.node("Attack", 0), graph.node("person", 1), "Target")
    >>> event_nodes(graph)
    [0]
    """
    edges = list(graph.edges())
    sources, targets = {source for source, _, _ in edges}, {target for _, target, _ in edges}
    found = []
    for number, name in enumerate(graph.ids):
        known = name[:1]
        if known == "E" or (known != "T" and (number in sources or number not in targets)):
            found.append(number)
    return found


def event_rows(doc: Doc, layer: str = LAYER, unit: str = "words") -> list[EventRow]:
    """The events of a document as plain values, counted in words or characters; none if the layer is missing.

    >>> from weft.text.doc import Doc
    >>> event_rows(Doc.from_words([["Ada", "left"]]))
    []
    """
    graph = doc.graphs.get(layer)
    if graph is None or graph.spans not in doc.spans:
        return []
    spans = doc.spans[graph.spans]
    spans = words_of_chars(doc, spans) if unit == "words" else chars_of_words(doc, spans)
    nodes = list(graph.nodes())
    number = {node: place for place, node in enumerate(event_nodes(graph))}
    arguments: dict[int, list[Filler]] = {node: [] for node in number}
    for source, target, role in graph.edges():
        if source not in number:
            continue
        label, anchor = nodes[target]
        if target in number:
            arguments[source].append(Filler(role, number[target]))
        elif anchor >= 0:
            arguments[source].append(Filler(role, -1, spans[anchor].pieces, label))
    rows = []
    for node in number:
        label, anchor = nodes[node]
        if anchor < 0:
            raise WeftError(f"{doc.id or 'the document'}: an event {label!r} of layer {layer!r} has no trigger")
        rows.append(EventRow(label, spans[anchor].pieces, tuple(arguments[node])))
    return rows


def set_events(doc: Doc, rows: Iterable[EventRow], layer: str = LAYER, unit: str = "words") -> None:
    """Give a document events, in place of those it has; pieces are counted in words or in characters.

    >>> from weft.text.doc import Doc
    >>> doc = Doc.from_words([["she", "began", "to", "win"]])
    >>> set_events(doc, [EventRow("Win", ((3, 4),)), EventRow("Start", ((1, 2),), (Filler("What", 0),))])
    >>> doc.events[1]["What"]
    Event('Win', 'win')
    """
    rows = list(rows)
    spans = SpanLayer(doc.strings, "chars" if unit == "chars" else "words")
    graph = GraphLayer(doc.strings, layer)
    known: dict[tuple[Pieces, str, bool], int] = {}

    def span(pieces: Pieces, label: str, trigger: bool) -> int:
        if (pieces, label, trigger) not in known:
            known[pieces, label, trigger] = spans.add(pieces, label)
        return known[pieces, label, trigger]

    for number, row in enumerate(rows):
        graph.node(row.type, span(row.trigger, row.type, True), f"E{number + 1}")
    fillers: dict[int, int] = {}
    for number, row in enumerate(rows):
        for filler in row.arguments:
            if filler.event >= len(rows) or filler.event == number:
                raise WeftError(f"an argument {filler.role!r} names event {filler.event} of {len(rows)}")
            target = filler.event
            if target < 0:
                anchor = span(filler.pieces, filler.label, False)
                if anchor not in fillers:
                    fillers[anchor] = graph.node(filler.label, anchor)
                target = fillers[anchor]
            graph.edge(number, target, filler.role)
    if spans.misplaced(len(doc.text) if unit == "chars" else doc.n_words) is not None:
        raise WeftError("events need triggers and fillers inside the document, with pieces that rise")
    doc.spans[layer], doc.graphs[layer] = spans, graph


def events_of(doc: Doc, layer: str = LAYER) -> list[Event]:
    """Views of all events of a document."""
    graph = doc.graphs.get(layer)
    return [Event(doc, node, layer) for node in event_nodes(graph)] if graph is not None and graph.spans else []


def anchors_of_events(doc: Doc, layer: str = LAYER) -> dict[str, set[int]]:
    """The spans that are triggers, by their layer: they are no candidates for arguments."""
    graph = doc.graphs.get(layer)
    if graph is None:
        return {}
    nodes: Sequence[tuple[str, int]] = list(graph.nodes())
    return {graph.spans: {nodes[node][1] for node in event_nodes(graph)}}

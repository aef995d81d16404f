"""Parse the lines of a brat annotation into layers: spans first, then what refers to them (see `files`)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from weft.errors import FormatError
from weft.text.doc import Doc
from weft.text.layers import ClusterLayer, GraphLayer, RelationLayer, SpanLayer

SPANS, RELATIONS, EVENTS, LINKS, GROUPS = "entities", "relations", "events", "event_relations", "equivalences"


class Parser:
    """Parses the lines of a document's annotation."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.spans = SpanLayer(doc.strings, "chars")
        self.relations = RelationLayer(doc.strings, SPANS)
        self.events = GraphLayer(doc.strings, SPANS)
        self.links = GraphLayer(doc.strings, SPANS)
        self.of_name: dict[str, tuple[str, int]] = {}  # kind of layer and index
        self.groups: list[list[int]] = []
        self.path, self.line = "", 0

    def run(self, parts: list[tuple[str, str]]) -> Doc:
        lines = [
            (path, number, line)
            for path, text in parts
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]
        passes = ("T", "E", "E roles", "R", "AM*", "N#")
        for kinds in passes:
            for self.path, self.line, line in lines:
                if line[0] in kinds.partition(" ")[0]:
                    self._read(line.rstrip("\r"), kinds)
        for self.path, self.line, line in lines:
            if line[0] not in "TERAMN#*":
                raise self._fault("a line that begins with T, R, E, A, M, N, # or *", repr(line[:40]))
        return self._finish()

    def _finish(self) -> Doc:
        doc = self.doc
        doc.spans[SPANS] = self.spans
        if len(self.relations):
            doc.relations[RELATIONS] = self.relations
        if len(self.events):
            doc.graphs[EVENTS] = self.events
        if len(self.links):
            doc.graphs[LINKS] = self.links
        if self.groups:
            doc.clusters[GROUPS] = ClusterLayer(SPANS, _clusters(self.groups, len(self.spans)))
        return doc

    def _read(self, line: str, kinds: str) -> None:
        fields = line.split("\t")
        if len(fields) < 2:
            raise self._fault("a name, a tab and the annotation", repr(line[:60]))
        name, body = fields[0], fields[1].split()
        rest = "\t".join(fields[2:])
        if not body:
            raise self._fault("an annotation after the name", repr(line[:60]))
        if kinds == "T":
            self._span(name, body[0], " ".join(body[1:]), rest)
        elif kinds == "E":
            self._event(name, body[0])
        elif kinds == "E roles":
            self._roles(name, body[1:])
        elif kinds == "R":
            self._relation(name, body)
        elif line[0] == "*":
            self._equivalence(body)
        elif line[0] in "AM":
            self._attribute(name, body)
        else:
            self._remark(line[0], name, body, rest)

    def _span(self, name: str, label: str, places: str, given: str) -> None:
        text = self.doc.text
        try:
            pieces = [(_offset(a), _offset(b)) for a, b in (piece.split() for piece in places.split(";"))]
        except ValueError as error:
            raise self._fault("offsets such as `0 5` or `0 5;8 12`", repr(places[:60])) from error
        if any(not 0 <= a < b <= len(text) for a, b in pieces):
            raise self._fault(f"offsets inside the text of {len(text)} characters", repr(places[:60]))
        if any(before[1] > after[0] for before, after in pairwise(pieces)):
            raise self._fault("pieces in ascending order", repr(places[:60]))
        stands = " ".join(text[a:b] for a, b in pieces)
        if given and given.split() != stands.split():
            raise self._fault(f"the text at {places}, {stands!r}", repr(given), "Is this the .txt file it belongs to?")
        self._new(name, "spans", self.spans.add(pieces, label, name))

    def _event(self, name: str, trigger: str) -> None:
        label, _, anchor = trigger.partition(":")
        self._new(name, "events", self.events.node(label, self._target(anchor, "spans")[1], name))

    def _roles(self, name: str, roles: list[str]) -> None:
        for role in roles:
            label, colon, target = role.partition(":")
            if not colon:
                raise self._fault("a role such as `Theme:T1`", repr(role))
            self.events.edge(self.of_name[name][1], self._node(self.events, target), label)

    def _relation(self, name: str, body: list[str]) -> None:
        if len(body) != 3 or not all(":" in argument for argument in body[1:]):
            raise self._fault("a relation of two arguments, `Type Arg1:T1 Arg2:T2`", repr(" ".join(body)))
        (role, _, one), (other_role, _, other) = (argument.partition(":") for argument in body[1:])
        ends = self._target(one), self._target(other)
        if ends[0][0] == ends[1][0] == "spans":
            number = self.relations.add(ends[0][1], ends[1][1], body[0], name)
            self._new(name, "relations", number)
            if (role, other_role) != ("Arg1", "Arg2"):
                self.relations.attributes[number] = {"roles": [role, other_role]}
            return
        self.links.edge(self._node(self.links, one), self._node(self.links, other), body[0])

    def _equivalence(self, body: list[str]) -> None:
        if body[0] != "Equiv" or len(body) < 3:
            raise self._fault("`Equiv` and two or more names", repr(" ".join(body)))
        self.groups.append([self._target(name, "spans")[1] for name in body[1:]])

    def _attribute(self, name: str, body: list[str]) -> None:
        if len(body) < 2:
            raise self._fault("an attribute such as `Negation E1`", repr(" ".join(body)))
        values = self._attributes(body[1])
        values[body[0]] = " ".join(body[2:]) if len(body) > 2 else True
        self.of_name[name] = self._target(body[1])  # a note on an attribute goes to the attribute's owner

    def _remark(self, kind: str, name: str, body: list[str], rest: str) -> None:
        if len(body) < 2:
            raise self._fault("the name of the annotation referred to", repr(" ".join(body)))
        values = self._attributes(body[1])
        if kind == "#":
            values.setdefault("notes", []).append([body[0], rest])
        else:
            values.setdefault("normalizations", []).append([body[0], " ".join(body[2:]), rest])
            self.of_name[name] = self._target(body[1])

    def _attributes(self, name: str) -> dict[str, Any]:
        kind, number = self._target(name)
        layer: SpanLayer | RelationLayer | GraphLayer = getattr(self, kind)
        return layer.attributes.setdefault(number, {})

    def _node(self, graph: GraphLayer, name: str) -> int:
        """The graph node for a span or an event, created on first use."""
        if name in graph.ids:
            return graph.ids.index(name)
        kind, number = self._target(name)
        if kind == "spans":
            return graph.node(self.spans[number].label, number, name)
        if kind == "events":
            label, anchor = list(self.events.nodes())[number]
            return graph.node(label, anchor, name)
        raise self._fault("the name of a span or event", repr(name))

    def _target(self, name: str, kind: str | None = None) -> tuple[str, int]:
        if name not in self.of_name or (kind is not None and self.of_name[name][0] != kind):
            wanted = "a T line" if kind == "spans" else "an annotation"
            raise self._fault(f"the name of {wanted} of this document", repr(name))
        return self.of_name[name]

    def _new(self, name: str, kind: str, number: int) -> None:
        if name in self.of_name:
            raise self._fault("each name once", f"{name!r} again")
        self.of_name[name] = (kind, number)

    def _fault(self, expected: str, found: str, hint: str = "") -> FormatError:
        return FormatError(self.path, self.line, expected, found, hint)


def _offset(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(text)
    return int(text)


def _clusters(groups: list[list[int]], n_spans: int) -> list[int]:
    """Cluster numbers of spans; groups that share a span form one cluster."""
    cluster = [-1] * n_spans
    for number, group in enumerate(groups):
        old = {cluster[span] for span in group} - {-1}
        cluster = [number if value in old else value for value in cluster]
        for span in group:
            cluster[span] = number
    order = {value: place for place, value in enumerate(dict.fromkeys(value for value in cluster if value >= 0))}
    return [order.get(value, -1) for value in cluster]

"""Parse the lines of a brat annotation into layers: spans first, then what refers to them (see `files`)."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any, NamedTuple

from weft.errors import FormatError, WeftError
from weft.formats.brat.words import NOTE, Arc, Line, set_words
from weft.text.doc import Doc
from weft.text.layers import ClusterLayer, GraphLayer, RelationLayer, SpanLayer, words_of_chars

SPANS, RELATIONS, EVENTS, LINKS, GROUPS = "entities", "relations", "events", "event_relations", "equivalences"


class Place(NamedTuple):
    """What a name refers to: a kind of layer, the layer's name, and the number in it."""

    kind: str
    layer: str
    number: int


class Parser:
    """Parses the lines of a document's annotation."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.spans: dict[str, SpanLayer] = {}
        self.relations: dict[str, RelationLayer] = {}
        self.graphs: dict[str, GraphLayer] = {}
        self.words: list[Line] = []
        self.arcs: list[tuple[Place, Place, str, dict[str, Any]]] = []
        self.of_name: dict[str, Place] = {}
        self.groups: dict[str, list[list[int]]] = {}
        self.notes: dict[str, dict[str, Any]] = {}  # what Weft noted, by the name of the line
        self.in_words: dict[tuple[str, int], list[Any]] = {}  # pieces counted in words, by layer and number
        self.path, self.line = "", 0

    def run(self, parts: list[tuple[str, str]]) -> Doc:
        lines = [
            (path, number, line)
            for path, text in parts
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]
        for self.path, self.line, line in lines:
            if line[0] == "#":
                self._note(line.rstrip("\r"))
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
        if self.words:
            self._finish_words()
        elif not self.spans:
            self.spans[SPANS] = SpanLayer(doc.strings, "chars")
        doc.spans |= self.spans
        doc.relations |= self.relations
        doc.graphs |= self.graphs
        for layer, groups in self.groups.items():
            name = GROUPS if layer == SPANS or len(self.groups) == 1 else f"{GROUPS}-{layer}"
            doc.clusters[name] = ClusterLayer(layer, _clusters(groups, len(self.spans[layer])))
        return doc

    def _finish_words(self) -> None:
        """Sort the words, set them with their trees, and count spans in words that were counted so."""
        try:
            order = sorted(range(len(self.words)), key=lambda i: self.words[i].note["word"])
            place = {number: position for position, number in enumerate(order)}
            arcs = [Arc(label, place[head.number], place[end.number], note) for head, end, label, note in self.arcs]
            set_words(self.doc, [self.words[i] for i in order], arcs)
            for name in {layer for layer, _ in self.in_words}:
                self.spans[name] = self._counted_in_words(name)
        except (WeftError, TypeError, ValueError, KeyError, IndexError) as error:
            raise self._fault("words and trees as Weft notes them", f"something else ({error})") from error

    def _counted_in_words(self, name: str) -> SpanLayer:
        layer = self.spans[name]
        touched = words_of_chars(self.doc, layer)
        result = SpanLayer(self.doc.strings)
        starts, ends = self.doc.word_start, self.doc.word_end
        for number, (row, other) in enumerate(zip(layer, touched, strict=True)):
            noted = [(int(a), int(b)) for a, b in self.in_words.get((name, number), ())]
            inside = all(0 <= a < b <= self.doc.n_words for a, b in noted)
            same = inside and [(int(starts[a]), int(ends[b - 1])) for a, b in noted] == list(row.pieces)
            result.add(noted if noted and same else other.pieces, row.label, layer.id(number))
        result.attributes = layer.attributes
        return result

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
        note = self.notes.get(name, {})
        if "word" in note:
            self._new(name, Place("words", "", len(self.words)))
            self.words.append(Line(label, pieces[0][0], pieces[-1][1], note))
            return
        layer = self.spans.setdefault(note.get("layer", SPANS), SpanLayer(self.doc.strings, "chars"))
        number = layer.add(pieces, note.get("label", label), name if note.get("named", True) else "")
        if "words" in note:
            self.in_words[note.get("layer", SPANS), number] = note["words"]
        self._new(name, Place("spans", note.get("layer", SPANS), number))

    def _event(self, name: str, trigger: str) -> None:
        label, _, anchor = trigger.partition(":")
        span = self._target(anchor, "spans")
        layer = self.notes.get(name, {}).get("layer", EVENTS)
        graph = self.graphs.setdefault(layer, GraphLayer(self.doc.strings, span.layer))
        self._new(name, Place("graphs", layer, graph.node(label, span.number, name)))

    def _roles(self, name: str, roles: list[str]) -> None:
        event = self.of_name[name]
        graph = self.graphs[event.layer]
        for role in roles:
            label, colon, target = role.partition(":")
            if not colon:
                raise self._fault("a role such as `Theme:T1`", repr(role))
            graph.edge(event.number, self._node(graph, target), label)

    def _relation(self, name: str, body: list[str]) -> None:
        if len(body) != 3 or not all(":" in argument for argument in body[1:]):
            raise self._fault("a relation of two arguments, `Type Arg1:T1 Arg2:T2`", repr(" ".join(body)))
        (role, _, one), (other_role, _, other) = (argument.partition(":") for argument in body[1:])
        ends = self._target(one), self._target(other)
        note = self.notes.get(name, {})
        if ends[0].kind == ends[1].kind == "words":
            self.arcs.append((*ends, body[0], note))
            self._new(name, Place("arcs", "", len(self.arcs) - 1))
        elif ends[0].kind == ends[1].kind == "spans" and ends[0].layer == ends[1].layer:
            self._relation_of_spans(name, note, ends, body[0], [role, other_role])
        else:
            graph = self.graphs.setdefault(LINKS, GraphLayer(self.doc.strings, SPANS))
            graph.edge(self._node(graph, one), self._node(graph, other), body[0])

    def _relation_of_spans(
        self, name: str, note: dict[str, Any], ends: tuple[Place, Place], label: str, roles: list[str]
    ) -> None:
        of = ends[0].layer
        layer = note.get("layer", RELATIONS if of == SPANS else f"{RELATIONS}-{of}")
        relations = self.relations.setdefault(layer, RelationLayer(self.doc.strings, of))
        named = name if note.get("named", True) else ""
        number = relations.add(ends[0].number, ends[1].number, note.get("label", label), named)
        self._new(name, Place("relations", layer, number))
        if roles != ["Arg1", "Arg2"]:
            relations.attributes[number] = {"roles": roles}

    def _note(self, line: str) -> None:
        """Take a note of Weft, which says what brat has no line for."""
        body, _, text = line.partition("\t")[2].partition("\t")
        kind, _, target = body.partition(" ")
        if kind != NOTE:
            return
        try:
            values = json.loads(text)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise self._fault(f"JSON in a note of the type {NOTE}", repr(text[:60]))
        self.notes[target.strip()] = values

    def _equivalence(self, body: list[str]) -> None:
        if body[0] != "Equiv" or len(body) < 3:
            raise self._fault("`Equiv` and two or more names", repr(" ".join(body)))
        places = [self._target(name, "spans") for name in body[1:]]
        if len({place.layer for place in places}) > 1:
            raise self._fault("names of spans of one layer", repr(" ".join(body)))
        self.groups.setdefault(places[0].layer, []).append([place.number for place in places])

    def _attribute(self, name: str, body: list[str]) -> None:
        if len(body) < 2:
            raise self._fault("an attribute such as `Negation E1`", repr(" ".join(body)))
        values = self._attributes(body[1])
        values[body[0]] = " ".join(body[2:]) if len(body) > 2 else True
        self.of_name[name] = self._target(body[1])  # a note on an attribute goes to the attribute's owner

    def _remark(self, kind: str, name: str, body: list[str], rest: str) -> None:
        if len(body) < 2:
            raise self._fault("the name of the annotation referred to", repr(" ".join(body)))
        if kind == "#" and body[0] == NOTE:
            return
        values = self._attributes(body[1])
        if kind == "#":
            values.setdefault("notes", []).append([body[0], rest])
        else:
            values.setdefault("normalizations", []).append([body[0], " ".join(body[2:]), rest])
            self.of_name[name] = self._target(body[1])

    def _attributes(self, name: str) -> dict[str, Any]:
        place = self._target(name)
        if place.kind in ("words", "arcs"):
            return {}  # words and arcs have no attributes
        layer: SpanLayer | RelationLayer | GraphLayer = getattr(self, place.kind)[place.layer]
        return layer.attributes.setdefault(place.number, {})

    def _node(self, graph: GraphLayer, name: str) -> int:
        """The graph node for a span or an event, created on first use."""
        if name in graph.ids:
            return graph.ids.index(name)
        place = self._target(name)
        if place.kind == "spans":
            return graph.node(self.spans[place.layer][place.number].label, place.number, name)
        if place.kind == "graphs":
            label, anchor = list(self.graphs[place.layer].nodes())[place.number]
            return graph.node(label, anchor, name)
        raise self._fault("the name of a span or event", repr(name))

    def _target(self, name: str, kind: str | None = None) -> Place:
        if name not in self.of_name or (kind is not None and self.of_name[name].kind != kind):
            wanted = "a T line" if kind == "spans" else "an annotation"
            raise self._fault(f"the name of {wanted} of this document", repr(name))
        return self.of_name[name]

    def _new(self, name: str, place: Place) -> None:
        if name in self.of_name:
            raise self._fault("each name once", f"{name!r} again")
        self.of_name[name] = place

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

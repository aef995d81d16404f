"""Convert the layers of a document to lines of a brat annotation (see `weft.formats.brat.files`).

Spans come first, then relations, then events, each in the order of their names (T1, T2, ... T10) regardless of the
order of the layers; attributes and notes directly follow what they describe. Equivalences come last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from weft.errors import WeftError
from weft.formats.brat.parser import EVENTS, LINKS, RELATIONS, SPANS
from weft.formats.brat.words import NOTE, arcs, has_trees, plain_label, word_lines
from weft.text.doc import Doc
from weft.text.layers import GraphLayer, Pieces, RelationLayer, SpanLayer, chars_of_words


class Writer:
    """Writes the layers of a document; existing names are kept where possible, missing ones generated."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.entries: list[tuple[str, str, dict[str, Any]]] = []  # name, the rest of the line, its attributes
        self.names: dict[tuple[str, str, int], str] = {}  # by (kind, layer, index)
        self.used: set[str] = set()
        self.counts: dict[str, int] = {}
        layers = (doc.spans, doc.relations, doc.graphs)
        self.taken = {name for kind in layers for layer in kind.values() for name in layer.ids if name}

    def run(self) -> str:
        doc = self.doc
        trees = has_trees(doc)
        for name, layer in sorted(doc.spans.items()):
            self._spans(name, chars_of_words(doc, layer), layer if trees else None)
        if trees:
            self._trees()
        for name, relations in sorted(doc.relations.items()):
            self._relations(name, relations)
        for name, graph in sorted(doc.graphs.items()):
            if name == LINKS:
                self._links(graph)
            else:
                self._events(name, graph)
        lines: list[str] = []
        for name, body, attributes in sorted(self.entries, key=lambda entry: _place(entry[0])):
            lines += [f"{name}\t{body}", *self._attributes(name, attributes)]
        for _, clusters in sorted(doc.clusters.items()):
            for group in clusters.groups():
                lines.append("*\tEquiv " + " ".join(self.names["T", clusters.spans, span] for span in group))
        return "".join(line + "\n" for line in lines)

    def _spans(self, name: str, layer: SpanLayer, given: SpanLayer | None) -> None:
        """Write a layer counted in characters; `given` is the layer itself if the words are written too."""
        for number, (pieces, label) in enumerate(layer):
            span_name = self._name("T", name, number, layer.id(number))
            plain = plain_label(label)
            note: dict[str, Any] = {} if name == SPANS else {"layer": name}
            note |= {} if plain == label else {"label": label}
            if given is not None and given.unit == "words":
                note["words"] = given[number].pieces
            if note and not layer.id(number):
                note["named"] = False
            self._add(span_name, f"{plain} {self._placed(pieces)}", layer.attributes.get(number, {}), note)

    def _placed(self, pieces: Pieces) -> str:
        """The offsets and the text of pieces."""
        places = ";".join(f"{start} {end}" for start, end in pieces)
        text = " ".join(self.doc.text[start:end] for start, end in pieces)
        return f"{places}\t{' '.join(text.splitlines())}"

    def _trees(self) -> None:
        names = []
        for line in word_lines(self.doc):
            names.append(self._fresh("T"))
            self.used.add(names[-1])
            self._add(names[-1], f"{line.type} {self._placed(((line.start, line.end),))}", {}, line.note)
        for arc in arcs(self.doc):
            body = f"{arc.type} Arg1:{names[arc.head]} Arg2:{names[arc.dependent]}"
            name = self._fresh("R")
            self.used.add(name)
            self._add(name, body, {}, arc.note)

    def _add(self, name: str, body: str, attributes: dict[str, Any], note: dict[str, Any]) -> None:
        noted = {"notes": [*attributes.get("notes", []), [NOTE, json.dumps(note, ensure_ascii=False)]]} if note else {}
        self.entries.append((name, body, {**attributes, **noted}))

    def _relations(self, name: str, layer: RelationLayer) -> None:
        usual = RELATIONS if layer.spans == SPANS else f"{RELATIONS}-{layer.spans}"
        for number, (head, tail, label) in enumerate(layer):
            relation_name = self._name("R", name, number, layer.ids[number])
            attributes = dict(layer.attributes.get(number, {}))
            one, other = attributes.pop("roles", ("Arg1", "Arg2"))
            ends = (self.names["T", layer.spans, head], self.names["T", layer.spans, tail])
            plain = plain_label(label, "Relation")
            note: dict[str, Any] = {} if name == usual else {"layer": name}
            note |= {} if plain == label else {"label": label}
            if note and not layer.ids[number]:
                note["named"] = False
            self._add(relation_name, f"{plain} {one}:{ends[0]} {other}:{ends[1]}", attributes, note)

    def _events(self, name: str, graph: GraphLayer) -> None:
        nodes, edges = list(graph.nodes()), list(graph.edges())
        sources = {source for source, _, _ in edges}
        roles: dict[int, list[tuple[int, str]]] = {}
        for source, target, label in edges:
            roles.setdefault(source, []).append((target, label))
        spans = self.doc.spans.get(graph.spans)
        called: list[str] = []
        for number, (label, anchor) in enumerate(nodes):
            if anchor < 0 or spans is None:
                raise WeftError(f"graph {name!r} has a node {label!r} without a span; brat cannot represent it")
            span = self.names["T", graph.spans, anchor]
            mention = graph.ids[number] == span or (
                not graph.ids[number] and number not in sources and spans[anchor].label == label
            )
            called.append(span if mention else self._name("E", name, number, graph.ids[number]))
        for number, (label, anchor) in enumerate(nodes):
            span = self.names["T", graph.spans, anchor]
            if called[number] == span:
                continue
            parts = [f"{_word(label)}:{span}"]
            parts += [f"{_word(role)}:{called[target]}" for target, role in roles.get(number, [])]
            note = {} if name == EVENTS else {"layer": name}
            self._add(called[number], " ".join(parts), graph.attributes.get(number, {}), note)

    def _links(self, graph: GraphLayer) -> None:
        for source, target, label in graph.edges():
            body = f"{_word(label)} Arg1:{graph.ids[source]} Arg2:{graph.ids[target]}"
            self.entries.append((self._fresh("R"), body, {}))

    def _attributes(self, target: str, attributes: dict[str, Any]) -> Iterator[str]:
        for name, value in attributes.items():
            if name == "notes":
                for kind, text in value:
                    yield f"{self._fresh('#')}\t{kind} {target}\t{text}"
            elif name == "normalizations":
                for kind, reference, text in value:
                    yield f"{self._fresh('N')}\t{kind} {target} {reference}\t{text}"
            elif value is not False:
                shown = "" if value is True else f" {value}"
                yield f"{self._fresh('A')}\t{_word(name)} {target}{shown}"

    def _name(self, kind: str, layer: str, number: int, given: str) -> str:
        fits = given.startswith(kind) and given not in self.used
        name = given if fits else self._fresh(kind)
        self.used.add(name)
        self.names[kind, layer, number] = name
        return name

    def _fresh(self, kind: str) -> str:
        while True:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            name = f"{kind}{self.counts[kind]}"
            if name not in self.taken and name not in self.used:
                return name


def _place(name: str) -> tuple[int, int, str]:
    """Sort key of a line: kind, then number."""
    digits = re.search(r"\d+", name)
    return "TRE".index(name[0]), int(digits[0]) if digits else 0, name


def _word(label: str) -> str:
    """Check that brat can represent a label: it must be one word."""
    if not label or len(label.split()) != 1 or ":" in label:
        raise WeftError(f"brat cannot represent the label {label!r}: labels are single words without colons")
    return label

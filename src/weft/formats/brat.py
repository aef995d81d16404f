"""brat stand-off: `NAME.txt` holds the text, `NAME.ann` lines that point into it by character.

| line | becomes |
|---|---|
| `T1⇥Type 0 5;8 12⇥text` | a span, possibly with gaps, of the layer `entities` (triggers of events too) |
| `R1⇥Type Arg1:T1 Arg2:T2` | a relation of the layer `relations` |
| `E1⇥Type:T3 Role:T1 Role:E2` | a node of the graph `events`, anchored in its trigger, with an edge a role |
| `A1⇥Name T1 value`, `M1 ...` | an attribute of a span, relation or event |
| `N1⇥Reference T1 DB:7⇥text` | an item of the attribute `normalisations` |
| `#1⇥Type T1⇥note` | an item of the attribute `notes` |
| `*⇥Equiv T1 T2` | a group of the cluster layer `equivalences` |

Relations between events go to the graph `event_relations`. Names of T, R and E lines are kept; A, N and # are numbered
anew when written. Files `.a1` and `.a2` (BioNLP shared tasks) are read in place of `.ann`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from weft.errors import DataError, FormatError, WeftError
from weft.formats.streams import Faults, open_output, read_text
from weft.text.doc import Doc
from weft.text.layers import ClusterLayer, GraphLayer, RelationLayer, SpanLayer, chars_of_words
from weft.text.strings import StringTable

SPANS, RELATIONS, EVENTS, LINKS, GROUPS = "entities", "relations", "events", "event_relations", "equivalences"
_SUFFIXES = (".ann", ".a1", ".a2")


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents of a folder of `.txt` and `.ann` files, or of one such file and its partner."""
    faults = faults or Faults()
    strings = StringTable()
    for text_file in _text_files(Path(path)):
        try:
            text = read_text(str(text_file), encoding)
            stem = _stem(text_file)
            files = [found for suffix in _SUFFIXES for found in _partners(stem, suffix)]
            if not files:
                raise FormatError(str(text_file), None, f"annotation in {stem.name}.ann", "no such file")
            parts = [(str(file), _annotation(str(file), encoding)) for file in files]
            yield parse(text, parts, stem.name, strings)
        except FormatError as error:
            faults.meet(error)


def parse(text: str, parts: Iterable[tuple[str, str]], name: str = "", strings: StringTable | None = None) -> Doc:
    """The document of a text and its annotation, given as pairs (name of the file, what is in it).

    >>> lines = ["T1\\tPER 0 3\\tAda", "T2\\tPER 8 11\\tBob", "R1\\tMet Arg1:T1 Arg2:T2"]
    >>> doc = parse("Ada met Bob.", [("a.ann", "\\n".join(lines))])
    >>> doc.span_views("entities"), list(doc.relations["relations"])
    ([Span('Ada', 'PER'), Span('Bob', 'PER')], [(0, 1, 'Met')])
    """
    doc = Doc(text, strings, {"id": name} if name else None)
    return _Parser(doc).run(list(parts))


def write(docs: Iterable[Doc], path: str) -> int:
    """Write each document as `ID.txt` and `ID.ann` into a folder and return how many.

    All span layers go into one file; spans counted in words are turned into characters.
    """
    folder = Path(path)
    if folder.suffix == ".ann" or (folder.exists() and not folder.is_dir()):
        raise DataError(f"brat is written to a folder, {path} is not one")
    folder.mkdir(parents=True, exist_ok=True)
    count = 0
    for doc in docs:
        count += 1
        name = (doc.id or f"doc{count:05d}").replace(os.sep, "_")
        name += f".{doc.meta['part']}" if "part" in doc.meta else ""
        annotation = to_text(doc)
        with open_output(str(folder / f"{name}.txt")) as file:
            file.write(doc.text.encode())
        with open_output(str(folder / f"{name}.ann")) as file:
            file.write(annotation.encode())
    return count


class _Parser:
    """Reads the lines of a document's annotation: spans first, then what points to them."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.spans = SpanLayer(doc.strings, "chars")
        self.relations = RelationLayer(doc.strings, SPANS)
        self.events = GraphLayer(doc.strings, SPANS)
        self.links = GraphLayer(doc.strings, SPANS)
        self.of_name: dict[str, tuple[str, int]] = {}  # kind of layer and number
        self.groups: list[list[int]] = []
        self.path, self.line = "", 0

    def run(self, parts: list[tuple[str, str]]) -> Doc:
        lines = [
            (path, number, line)
            for path, text in parts
            for number, line in enumerate(text.split("\n"), start=1)
            if line.strip()
        ]
        passes = ("T", "E", "E2", "R", "AM*", "N#")
        for kinds in passes:
            for self.path, self.line, line in lines:
                if line[0] in kinds:
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
            raise self._fault("an annotation behind the name", repr(line[:60]))
        if kinds == "T":
            self._span(name, body[0], " ".join(body[1:]), rest)
        elif kinds == "E":
            self._event(name, body[0])
        elif kinds == "E2":
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
            pieces = [(int(a), int(b)) for a, b in (piece.split() for piece in places.split(";"))]
        except ValueError as error:
            raise self._fault("offsets such as `0 5` or `0 5;8 12`", repr(places)) from error
        if any(not 0 <= a < b <= len(text) for a, b in pieces):
            raise self._fault(f"offsets inside the text of {len(text)} characters", repr(places))
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
            raise self._fault("`Equiv` and two names or more", repr(" ".join(body)))
        self.groups.append([self._target(name, "spans")[1] for name in body[1:]])

    def _attribute(self, name: str, body: list[str]) -> None:
        if len(body) < 2:
            raise self._fault("an attribute such as `Negation E1`", repr(" ".join(body)))
        values = self._attributes(body[1])
        values[body[0]] = " ".join(body[2:]) if len(body) > 2 else True
        self.of_name[name] = self._target(body[1])  # a note on an attribute goes to what has it

    def _remark(self, kind: str, name: str, body: list[str], rest: str) -> None:
        if len(body) < 2:
            raise self._fault("the name of what is meant", repr(" ".join(body)))
        values = self._attributes(body[1])
        if kind == "#":
            values.setdefault("notes", []).append([body[0], rest])
        else:
            values.setdefault("normalisations", []).append([body[0], " ".join(body[2:]), rest])
            self.of_name[name] = self._target(body[1])

    def _attributes(self, name: str) -> dict[str, Any]:
        kind, number = self._target(name)
        layer: SpanLayer | RelationLayer | GraphLayer = getattr(self, kind)
        return layer.attributes.setdefault(number, {})

    def _node(self, graph: GraphLayer, name: str) -> int:
        """The node of a graph for a span or an event, made when first asked for."""
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


def to_text(doc: Doc) -> str:
    """The annotation of a document as lines of an `.ann` file.

    >>> doc = Doc("Ada met Bob.")
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 3, "PER")], "chars")
    >>> to_text(doc)
    'T1\\tPER 0 3\\tAda\\n'
    """
    return _Writer(doc).run()


class _Writer:
    """Writes the layers of a document; names are kept where they can be and made where there are none."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.lines: list[str] = []
        self.names: dict[tuple[str, str, int], str] = {}  # of (kind, layer, number)
        self.used: set[str] = set()
        self.counts: dict[str, int] = {}
        layers = (doc.spans, doc.relations, doc.graphs)
        self.taken = {name for kind in layers for layer in kind.values() for name in layer.ids if name}

    def run(self) -> str:
        doc = self.doc
        for name, layer in doc.spans.items():
            self._spans(name, chars_of_words(doc, layer))
        for name, relations in doc.relations.items():
            self._relations(name, relations)
        for name, graph in doc.graphs.items():
            if name == LINKS:
                self._links(graph)
            else:
                self._events(name, graph)
        for clusters in doc.clusters.values():
            for group in clusters.groups():
                self.lines.append("*\tEquiv " + " ".join(self.names["T", clusters.spans, span] for span in group))
        return "".join(line + "\n" for line in self.lines)

    def _spans(self, name: str, layer: SpanLayer) -> None:
        for number, (pieces, label) in enumerate(layer):
            own = self._name("T", name, number, layer.id(number))
            places = ";".join(f"{start} {end}" for start, end in pieces)
            text = " ".join(self.doc.text[start:end] for start, end in pieces)
            self.lines.append(f"{own}\t{_word(label)} {places}\t{' '.join(text.splitlines())}")
            self._attributes(own, layer.attributes.get(number, {}))

    def _relations(self, name: str, layer: RelationLayer) -> None:
        for number, (head, tail, label) in enumerate(layer):
            own = self._name("R", name, number, layer.ids[number])
            attributes = dict(layer.attributes.get(number, {}))
            one, other = attributes.pop("roles", ("Arg1", "Arg2"))
            ends = (self.names["T", layer.spans, head], self.names["T", layer.spans, tail])
            self.lines.append(f"{own}\t{_word(label)} {one}:{ends[0]} {other}:{ends[1]}")
            self._attributes(own, attributes)

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
                raise WeftError(f"graph {name!r} has a node {label!r} that stands on no span; brat cannot hold it")
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
            self.lines.append(f"{called[number]}\t{' '.join(parts)}")
            self._attributes(called[number], graph.attributes.get(number, {}))

    def _links(self, graph: GraphLayer) -> None:
        for source, target, label in graph.edges():
            own = self._fresh("R")
            self.lines.append(f"{own}\t{_word(label)} Arg1:{graph.ids[source]} Arg2:{graph.ids[target]}")

    def _attributes(self, target: str, attributes: dict[str, Any]) -> None:
        for name, value in attributes.items():
            if name == "notes":
                for kind, text in value:
                    self.lines.append(f"{self._fresh('#')}\t{kind} {target}\t{text}")
            elif name == "normalisations":
                for kind, reference, text in value:
                    self.lines.append(f"{self._fresh('N')}\t{kind} {target} {reference}\t{text}")
            elif value is not False:
                shown = "" if value is True else f" {value}"
                self.lines.append(f"{self._fresh('A')}\t{_word(name)} {target}{shown}")

    def _name(self, kind: str, layer: str, number: int, own: str) -> str:
        fits = own.startswith(kind) and own not in self.used
        name = own if fits else self._fresh(kind)
        self.used.add(name)
        self.names[kind, layer, number] = name
        return name

    def _fresh(self, kind: str) -> str:
        while True:
            self.counts[kind] = self.counts.get(kind, 0) + 1
            name = f"{kind}{self.counts[kind]}"
            if name not in self.taken and name not in self.used:
                return name


def _word(label: str) -> str:
    """A label as brat can hold it: one word."""
    if not label or len(label.split()) != 1 or ":" in label:
        raise WeftError(f"brat cannot hold the label {label!r}: labels are single words without colons")
    return label


def _clusters(groups: list[list[int]], n_spans: int) -> list[int]:
    """Cluster numbers of spans; groups that share a span are one cluster."""
    cluster = [-1] * n_spans
    for number, group in enumerate(groups):
        old = {cluster[span] for span in group} - {-1}
        cluster = [number if value in old else value for value in cluster]
        for span in group:
            cluster[span] = number
    order = {value: place for place, value in enumerate(dict.fromkeys(value for value in cluster if value >= 0))}
    return [order.get(value, -1) for value in cluster]


def _stem(file: Path) -> Path:
    return file.with_name(file.name.removesuffix(".gz").removesuffix(".txt"))


def _partners(stem: Path, suffix: str) -> list[Path]:
    names = (stem.with_name(stem.name + suffix + end) for end in ("", ".gz"))
    return [name for name in names if name.exists()][:1]


def _text_files(path: Path) -> list[Path]:
    if path.is_dir():
        files = [file for file in sorted(path.rglob("*.txt*")) if file.name.removesuffix(".gz").endswith(".txt")]
        files = [file for file in files if any(_partners(_stem(file), suffix) for suffix in _SUFFIXES)]
        if not files:
            raise DataError(f"{path} holds no .txt file with an .ann file beside it")
        return files
    for suffix in _SUFFIXES:
        name = path.name.removesuffix(".gz")
        if name.endswith(suffix):
            found = _partners(path.with_name(name.removesuffix(suffix)), ".txt")
            if not found:
                raise DataError(f"{path} has no text beside it: expected {name.removesuffix(suffix)}.txt")
            return found
    return [path]


def _annotation(path: str, encoding: str) -> str:
    """The text of an annotation file, which may be empty."""
    if Path(path).stat().st_size == 0:
        return ""
    return read_text(path, encoding)

"""A knowledge graph from annotated documents, with the sentences that say so.

| layer | becomes |
|---|---|
| entities, links, coreference | nodes; mentions of one entity are one node (`weft.tasks.knowledge.mentions`) |
| relations of two mentions | an edge, whose weight is how often it was said |
| relations of more mentions | a node of type `relation`, and an edge per slot |
| events | a node of type `event`, an edge per role, an edge from its type's name to it if it has arguments |
| timeline | links between events and times: nodes of types `event` and `time` |

    kg/graph.weft       the graph
    kg/contents.weft    which names and terms stand in which documents (`weft.tasks.knowledge.contents`)
    kg/text.weft        the text as a graph, if asked for (`weft.tasks.knowledge.text_graph`)
    kg/documents.jsonl  {"id": ..., "sentences": [...], "ends": [...]}             ends: the word after each sentence
    kg/evidence.jsonl   {"source", "relation", "target", "at": [[document, sentence], ...]}
"""

from __future__ import annotations

import json
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from weft.errors import DataError, FormatError
from weft.graph.place import save_graph
from weft.graph.store import Builder, TypedGraph, counted
from weft.tasks.knowledge.contents import CONTENTS, Contents
from weft.tasks.knowledge.mentions import Mention, Place, mentions_of, node_at, with_surnames
from weft.tasks.knowledge.text_graph import TextGraph
from weft.text.conventions.timeline import LAYER as TIMELINE
from weft.text.conventions.tuples import LAYER as RELATIONS
from weft.text.conventions.tuples import tuple_rows
from weft.text.doc import Doc
from weft.text.layers import words_of_chars

TEXT, DOCUMENTS, EVIDENCE = "text.weft", "documents.jsonl", "evidence.jsonl"
#: Layers of graphs that hold events.
EVENTS = ("events", "brat")
#: Sentences that are kept per fact.
MOST_SENTENCES = 20


class Fact(NamedTuple):
    """An edge that a document says, and the word at which its sentence is found."""

    source: str
    relation: str
    target: str
    word: int


class DocumentGraph:
    """Collects documents one by one; facts are counted, and their sentences kept.

    >>> from weft.text.conventions.tuples import TupleRow, set_tuples
    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["Mara", "left", "Bergen"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER"), (2, 3, "LOC")])
    >>> set_tuples(doc, [TupleRow("lived in", (("Arg1", 0), ("Arg2", 1)))])
    >>> collected = DocumentGraph()
    >>> collected.add(doc)
    >>> list(collected.graph().edges()), collected.evidence[("Mara", "lived in", "Bergen")]
    ([('Mara', 'lived in', 'Bergen', 1.0)], [(0, 0)])
    """

    def __init__(self, text: TextGraph | None = None, least: float = 0.0) -> None:
        self.text, self.least = text, least
        self.documents: list[dict[str, Any]] = []
        self.evidence: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
        self.contents = Contents()
        self.builder = Builder()  # what is added here beside the documents is part of the graph
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._types: dict[str, Counter[str]] = {}

    def add(self, doc: Doc) -> None:
        """Add the entities, relations, events and links of a document."""
        number = len(self.documents)
        name = doc.id or f"document {number + 1}"
        ends = doc.sentence_offsets.tolist()[1:]
        self.documents.append({"id": name, "sentences": [_said(doc, s) for s in range(len(ends))], "ends": ends})
        own = with_surnames(mentions_of(doc))
        for mention in own:
            self._types.setdefault(mention.name, Counter())[mention.type] += 1
        for fact in (*_relations(doc, own, self._types, name, self.least), *_events(doc, own, self._types, name),
                     *_timeline(doc, self._types, name)):  # fmt: skip
            key = fact[:3]
            self._counts[key] += 1
            for end in fact[:3:2]:
                self._types.setdefault(end, Counter())
            places = self.evidence.setdefault(key, [])
            place = (number, min(bisect_right(ends, fact.word), max(len(ends) - 1, 0)))
            if place not in places and len(places) < MOST_SENTENCES:
                places.append(place)
        self.contents.add(doc, name, own)
        if self.text is not None:
            self.text.add(doc, own)

    def graph(self) -> TypedGraph:
        """The graph of all facts; the type of a node is the one that most of its mentions have."""
        builder = self.builder
        for name, kinds in self._types.items():
            builder.node(name)
            known = [(count, kind) for kind, count in kinds.items() if kind]
            if known:
                builder.type(name, max(known)[1])
        for (source, relation, target), count in self._counts.items():
            builder.add(source, relation, target, float(count))
        self._counts.clear()
        return builder.graph()

    def save(self, folder: str | os.PathLike[str]) -> dict[str, Any]:
        """Write the folder of the graph; what it holds is returned."""
        graph, place = self.graph(), Path(folder)
        save_graph(graph, place)
        if not self.documents:
            return dict(counted(graph))
        with open(place / DOCUMENTS, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(each, ensure_ascii=False) + "\n" for each in self.documents)
        with open(place / EVIDENCE, "w", encoding="utf-8") as file:
            for (source, relation, target), places in self.evidence.items():
                row = {"source": source, "relation": relation, "target": target, "at": places}
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.contents.graph().save(place / CONTENTS)
        counts = {"documents": len(self.documents), **counted(graph)}
        if self.text is not None:
            text = self.text.graph()
            text.save(place / TEXT)
            counts["text"] = {"nodes": text.n_nodes, "edges": text.n_edges}
        return counts


class Evidence:
    """The sentences of a knowledge graph: by fact, and by word of a document; empty if it was built from tables."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.documents = list(_lines(Path(folder) / DOCUMENTS, ("id", "sentences", "ends")))
        rows = _lines(Path(folder) / EVIDENCE, ("source", "relation", "target", "at"))
        self._at = {(row["source"], row["relation"], row["target"]): row["at"] for row in rows}

    def of(self, source: str, relation: str, target: str, most: int = 3) -> list[tuple[str, str]]:
        """Documents and sentences that say a fact."""
        return [self._sentence(*place) for place in self._at.get((source, relation, target), ())[:most]]

    def of_word(self, document: int, word: int) -> tuple[str, str] | None:
        """The document and the sentence of a word."""
        if not 0 <= document < len(self.documents):
            return None
        return self._sentence(document, bisect_right(self.documents[document]["ends"], word))

    def _sentence(self, document: int, sentence: int) -> tuple[str, str]:
        if not 0 <= document < len(self.documents):
            raise DataError(f"{EVIDENCE} names document {document} of {len(self.documents)}; build the graph again")
        own = self.documents[document]
        return own["id"], own["sentences"][sentence] if sentence < len(own["sentences"]) else ""


def _lines(path: Path, keys: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
                fits = all(key in row for key in keys)
            except (ValueError, TypeError, RecursionError):
                fits = False
            if not fits:
                raise FormatError(str(path), number, f"an object with {', '.join(keys)}; build again", line[:80])
            yield row


def _said(doc: Doc, sentence: int) -> str:
    low, high = int(doc.sentence_offsets[sentence]), int(doc.sentence_offsets[sentence + 1])
    return " ".join(doc.text[int(doc.word_start[low]) : int(doc.word_end[high - 1])].split()) if high > low else ""


Types = dict[str, Counter[str]]


def _relations(doc: Doc, own: Iterable[Mention], types: Types, name: str, least: float) -> Iterator[Fact]:
    """Edges of the layer of relations; those below the least probability are left out."""
    if RELATIONS not in doc.relations or not doc.n_words:
        return
    layer = doc.spans.get(doc.relations[RELATIONS].spans)
    if layer is None:
        return
    spans = list(words_of_chars(doc, layer))
    nodes = node_at(list(own))
    for number, row in enumerate(tuple_rows(doc)):
        if row.probability is not None and row.probability < least:
            continue
        members = []
        for slot, span in row.members:
            place = spans[span].pieces[0][0], spans[span].pieces[-1][1]
            members.append((slot, nodes.get(place) or _words(doc, place), place[0]))
        first = members[0][2]
        if len(members) == 2:
            yield Fact(members[0][1], row.label, members[1][1], first)
            continue
        node = f"{row.label} ({name}, {number + 1})"
        types.setdefault(node, Counter())["relation"] += 1
        for slot, member, _ in members:
            yield Fact(node, slot, member, first)


def _events(doc: Doc, own: Iterable[Mention], types: Types, name: str) -> Iterator[Fact]:
    """Edges from events to what fills their roles."""
    nodes = node_at(list(own))
    for layer in EVENTS:
        graph = doc.graphs.get(layer)
        if graph is None or graph.spans not in doc.spans or not doc.n_words:
            continue
        spans = list(words_of_chars(doc, doc.spans[graph.spans]))
        listed = list(graph.nodes())
        edges = list(graph.edges())
        events = {source for source, _, _ in edges}
        names = []
        for number, (label, anchor) in enumerate(listed):
            place: Place = (0, 1)
            if anchor >= 0:
                place = spans[anchor].pieces[0][0], spans[anchor].pieces[-1][1]
            if number in events:
                node = f"{label}: {_words(doc, place)} ({name}, {number + 1})"
                types.setdefault(node, Counter())["event"] += 1
                names.append((node, place[0]))
            else:
                names.append((nodes.get(place) or _words(doc, place), place[0]))
        for source, target, role in edges:
            yield Fact(names[source][0], role, names[target][0], names[source][1])
        for number in sorted(events):
            yield Fact(names[number][0], "is a", listed[number][0], names[number][1])


def _timeline(doc: Doc, types: Types, name: str) -> Iterator[Fact]:
    """Temporal links between events and times."""
    layer = doc.relations.get(TIMELINE)
    if layer is None or layer.spans not in doc.spans or not doc.n_words:
        return
    spans = doc.spans[layer.spans]
    rows = list(words_of_chars(doc, spans))

    def node(span: int) -> tuple[str, int]:
        row = rows[span]
        place = row.pieces[0][0], row.pieces[-1][1]
        timed = row.label != "EVENT"
        value = str(spans.attributes.get(span, {}).get("value", "")) if timed else ""
        told = value or (_words(doc, place) if timed else f"{_words(doc, place)} ({name}, {span + 1})")
        types.setdefault(told, Counter())["time" if timed else "event"] += 1
        return told, place[0]

    for head, tail, label in layer:
        (source, word), (target, _) = node(head), node(tail)
        yield Fact(source, label, target, word)


def _words(doc: Doc, place: Place) -> str:
    return " ".join(doc.text[int(doc.word_start[place[0]]) : int(doc.word_end[place[1] - 1])].split())

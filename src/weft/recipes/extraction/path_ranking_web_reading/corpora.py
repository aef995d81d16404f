"""The data: Re-DocRED as a knowledge base and its parsed passages, and the triples of FB15k-237.

An entity of Re-DocRED is named by its most frequent mention; equal names in different passages are one node. Times and
numbers are left out. Relations are properties of Wikidata: P27 country of citizenship, P17 country, P131 located in.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.graph.store import Builder, TypedGraph
from weft.graph.triples import read_edges
from weft.pipeline.pipeline import Pipeline
from weft.tasks.knowledge.mentions import Mention
from weft.tasks.knowledge.text_graph import TextGraph
from weft.text.doc import Doc

REDOCRED = "knowledge-graphs/re-docred/{}.jsonl.gz"
FREEBASE = "knowledge-graphs/fb15k-237/train.txt.gz"
VALUES = ("TIME", "NUM")
TARGETS = {"P27": "citizenship", "P17": "country", "P131": "located in"}
FREEBASE_TARGETS = {
    "profession": "/people/person/profession", "nationality": "/people/person/nationality",
    "place of birth": "/people/person/place_of_birth",
}  # fmt: skip


@dataclass(frozen=True)
class Passage:
    """A parsed passage with its mentions and triples."""

    doc: Doc
    mentions: list[Mention]
    triples: list[tuple[str, str, str]]


def passages(paths: Sequence[Path], nlp: Pipeline, most: int = 0) -> list[Passage]:
    """The passages of files, parsed; the first `most` of them, 0 for all."""
    values = [value for path in paths for value in _lines(path)]
    values = values[:most] if most else values
    docs = [Doc.from_words(value["sents"]) for value in values]
    for component in nlp.components:
        if {"upos", "head"} & set(component.provides):
            component(docs)
    return [_passage(value, doc) for value, doc in zip(values, docs, strict=True)]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _passage(value: dict[str, Any], doc: Doc) -> Passage:
    names: list[str] = []
    mentions = []
    first = doc.sentence_offsets.tolist()
    for entity in value["vertexSet"]:
        kind = Counter(each["type"] for each in entity).most_common(1)[0][0]
        name = "" if kind in VALUES else Counter(each["name"] for each in entity).most_common(1)[0][0]
        names.append(name)
        for each in entity if name else ():
            start = first[each["sent_id"]]
            mentions.append(Mention(start + each["pos"][0], start + each["pos"][1], name, kind))
    triples = [
        (names[each["h"]], each["r"], names[each["t"]])
        for each in value["labels"]
        if names[each["h"]] and names[each["t"]]
    ]
    return Passage(doc, sorted(mentions), triples)


def knowledge_base(given: Sequence[Passage], without: tuple[str, str] = ("", "")) -> TypedGraph:
    """The triples of all passages; `without` = (x, y) leaves out triples of x in passages that have one of y."""
    builder = Builder()
    for passage in given:
        for mention in passage.mentions:
            builder.node(mention.name)
        has = any(relation == without[1] for _, relation, _ in passage.triples)
        builder.add_all(each for each in passage.triples if not (has and each[1] == without[0]))
    return builder.graph()


def text_graph(given: Sequence[Passage], kinds: Sequence[str], least: int = 3) -> TypedGraph:
    """The text of all passages as a graph."""
    text = TextGraph(kinds, least)
    for passage in given:
        text.add(passage.doc, passage.mentions)
    return text.graph()


def freebase(path: Path) -> TypedGraph:
    """The training triples of FB15k-237."""
    builder = Builder()
    for edge in read_edges(path):
        builder.add(edge.source, edge.relation, edge.target)
    return builder.graph()

"""The data of the experiment: word senses, entity links, and the graph of Freebase entities."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft import data
from weft.errors import FormatError
from weft.formats import read
from weft.graph.triples import opened
from weft.lexical.network.entities import title_index
from weft.lexical.network.network import NetworkBuilder
from weft.text.conventions.links import LAYER
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

SEMCOR = "wsd/semcor3.0-brown1/brown1.tsv.gz"
ENTITIES, EDGES = (f"knowledge-graphs/fb15k-entities/{name}.tsv.gz" for name in ("entities", "edges"))
SENSES = "wsd/{0}/{0}.data.xml"
LINKS = "entity-linking/elevant/{}.jsonl"
Find = Callable[[str], Path]
_UPOS = {"NN": "NOUN", "VB": "VERB", "JJ": "ADJ", "RB": "ADV"}


def sense_documents(name: str, find: Find = data.find) -> list[Doc]:
    """A test set of word senses, with nouns as mentions."""
    return [only_nouns(doc) for doc in read(find(SENSES.format(name)), "wsd")]


def only_nouns(doc: Doc) -> Doc:
    """A document whose links are those of nouns."""
    tags, links = doc.column("upos"), doc.spans[LAYER]
    kept = SpanLayer(doc.strings)
    for row, (pieces, label) in enumerate(links):
        if tags[pieces[0][0]] == "NOUN":
            kept.add(pieces, label, links.id(row), **links.attributes.get(row, {}))
    doc.spans[LAYER] = kept
    return doc


def semcor_documents(count: int | None = None, find: Find = data.find) -> list[Doc]:
    """The first documents of SemCor, with nouns as mentions; names that stand for a class alone are left out."""
    path = os.fspath(find(SEMCOR))
    found: list[Doc] = []
    for name, sentences in _texts(path):
        if count is not None and len(found) == count:
            break
        doc = Doc.from_words(
            [[row[0].replace("_", " ") for row in sentence] for sentence in sentences],
            lemma=[[row[1].replace("_", " ") if row[1] != "_" else "" for row in sentence] for sentence in sentences],
            upos=[[_upos(row) for row in sentence] for sentence in sentences],
        )  # fmt: skip
        doc.id = name
        layer = doc.spans[LAYER] = SpanLayer(doc.strings)
        for word, row in enumerate(row for sentence in sentences for row in sentence):
            if row[3] != "_" and row[2] == "NN" and "%1:" in row[3]:
                first, *others = row[3].replace(",", ";").split(";")
                also: dict[str, Any] = {"also": others} if others else {}
                layer.add([(word, word + 1)], first, **also)
        found.append(doc)
    return found


def _upos(row: list[str]) -> str:
    return "PROPN" if row[2] == "NNP" else _UPOS.get(row[2], "X")


def _texts(path: str) -> Iterator[tuple[str, list[list[list[str]]]]]:
    name = ""
    sentences: list[list[list[str]]] = []
    sentence: list[list[str]] = []
    with opened(path) as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("# doc"):
                if sentence:
                    sentences.append(sentence)
                if sentences:
                    yield name, sentences
                name, sentences, sentence = line.partition("=")[2].strip(), [], []
            elif not line.strip():
                if sentence:
                    sentences.append(sentence)
                sentence = []
            else:
                cells = line.split("\t")
                if len(cells) != 4:
                    raise FormatError(path, number, "word, lemma, tag and sense key, separated by tabs", line[:80])
                sentence.append(cells)
    if sentence:
        sentences.append(sentence)
    if sentences:
        yield name, sentences


@dataclass(frozen=True)
class EntityGraph:
    """The Freebase entities: Wikidata ids, and what was joined to WordNet."""

    ids: frozenset[str]
    joined: int


def add_freebase(builder: NetworkBuilder, instances: set[str] | None = None, find: Find = data.find) -> EntityGraph:
    """Add the entities with their labels, aliases and links; those whose label names one instance are joined to it."""
    titles = title_index(builder, instances or set())
    numbers: dict[str, str] = {}
    joined = 0
    with opened(os.fspath(find(ENTITIES))) as lines:
        for line in lines:
            number, _, id, label, aliases, description = (*line.rstrip("\n").split("\t"), "", "", "", "")[:6]
            if not id or not label:
                continue
            numbers[number] = id
            known = titles.get(label.casefold())
            if known is not None:
                builder.join(known, id)
                joined += 1
            else:
                builder.vertex(id, label, description, entity=True)
            for name in (label, *aliases.split("|")):
                builder.name(id, name)
    with opened(os.fspath(find(EDGES))) as lines:
        for line in lines:
            source, target = (numbers.get(each, "") for each in line.split())
            if source and target:
                builder.edge(source, target)
    return EntityGraph(frozenset(numbers.values()), joined)


def link_documents(name: str, ids: frozenset[str], find: Find = data.find) -> list[Doc]:
    """A set of entity links, of which those to entities of the graph are left."""
    docs = []
    for doc in read(find(LINKS.format(name)), "links"):
        links = doc.spans[LAYER]
        kept = SpanLayer(doc.strings, "chars")
        for row, (pieces, label) in enumerate(links):
            if label in ids:
                kept.add(pieces, label, **links.attributes.get(row, {}))
        doc.spans[LAYER] = kept
        docs.append(doc)
    return docs

"""Entities as a part of a semantic network: a graph from a file, with labels, aliases and descriptions.

Edges come line by line from TSV, JSON Lines or N-Triples (`weft.graph.triples`). Some relations name their source:

    label, title, name, prefLabel           what the entity is called; of a language with `@de`, in TSV `label@de`
    alias, altLabel, redirect               further names
    description, comment, abstract          what a card shows

In JSON Lines, an object with `id` says all of an entity: {"id": "Q312", "label": ..., "aliases": [...],
"description": ...}. An entity without a label is called by its id. An entity whose title is the name of exactly one
instance in WordNet (a city, a person) is joined to it: both become one vertex, under the id of WordNet.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from weft.errors import DataError, FormatError
from weft.graph.triples import FORMATS, Edge, opened, read_edges
from weft.lexical.network.network import NetworkBuilder

LABELS = ("label", "title", "name", "prefLabel")
ALIASES = ("alias", "altLabel", "redirect")
DESCRIPTIONS = ("description", "comment", "abstract")


class AddedEntities(NamedTuple):
    """How many entities were added, and how many of them were joined to known vertices."""

    entities: int
    joined: int
    links: int


def add_entities(
    builder: NetworkBuilder, paths: Sequence[str | os.PathLike[str]], instances: set[str] | None = None,
    language: str = "en",
) -> AddedEntities:  # fmt: skip
    """Add the entities of files; those with the title of one of the `instances` are joined to it."""
    titles = title_index(builder, instances or set())
    names: dict[str, list[tuple[str, str]]] = {}
    labels: dict[str, str] = {}
    descriptions: dict[str, str] = {}
    edges: list[tuple[str, str, str]] = []
    for path in paths:
        for edge, code in _statements(os.fspath(path), language):
            kind = edge.relation.partition("@")[0]
            if kind in LABELS or kind in ALIASES:
                names.setdefault(edge.source, []).append((edge.target, code))
                if kind in LABELS and (code == language or edge.source not in labels):
                    labels[edge.source] = edge.target
            elif kind in DESCRIPTIONS:
                if code == language or edge.source not in descriptions:
                    descriptions[edge.source] = edge.target
            elif not edge.literal:
                edges.append((edge.source, edge.relation, edge.target))
    ids = dict.fromkeys([*names, *(end for source, _, target in edges for end in (source, target))])
    if not ids:
        raise DataError(f"{', '.join(map(str, paths))}: no entities; expected edges, labels or both")
    joined = 0
    for id in ids:
        label = labels.get(id, id)
        known = titles.get(label.casefold())
        if known is not None:
            builder.join(known, id)
            joined += 1
        else:
            builder.vertex(id, label, descriptions.get(id, ""), entity=True)
        for name, code in names.get(id) or [(id, language)]:
            builder.name(id, name, code)
    for source, relation, target in edges:
        builder.edge(source, target, relation)
    return AddedEntities(len(ids), joined, len(edges))


def title_index(builder: NetworkBuilder, instances: set[str]) -> dict[str, str]:
    """The names that belong to exactly one of some vertices, without case, and that vertex."""
    owners: dict[str, set[str]] = {}
    for name, ids in builder.names.get("en", {}).items():
        own = instances & ids.keys()
        if own:
            owners.setdefault(name.casefold(), set()).update(own)
    return {name: next(iter(own)) for name, own in owners.items() if len(own) == 1}


def _statements(path: str, language: str) -> Iterator[tuple[Edge, str]]:
    """The edges and names of a file, each with its language."""
    kind = FORMATS.get(Path(path.removesuffix(".gz")).suffix)
    if kind == "jsonl":
        yield from _objects(path, language)
        return
    for edge in read_edges(path):
        code = edge.language or edge.relation.partition("@")[2] or language
        yield edge, code


def _objects(path: str, language: str) -> Iterator[tuple[Edge, str]]:
    with opened(path) as lines:
        rows = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    for number, line in rows:
        try:
            value = json.loads(line)
            if "source" in value:
                yield Edge(str(value["source"]), str(value.get("relation", "linked")), str(value["target"])), language
                continue
            id = str(value["id"])
            texts = [("label", value.get("label", id)), *(("alias", each) for each in value.get("aliases", []))]
            texts += [("description", value["description"])] if value.get("description") else []
            if not all(isinstance(text, str) for _, text in texts):
                raise TypeError("names must be texts")
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            expected = 'an edge with "source" and "target", or an entity with "id"'
            raise FormatError(path, number, expected, line.strip()[:80]) from None
        for relation, text in texts:
            yield Edge(id, relation, text, literal=True), str(value.get("language", language))

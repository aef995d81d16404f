"""Edges of graphs from files, line by line: tab-separated columns, JSON Lines or N-Triples, gzipped or not.

.tsv  .txt      source  relation  target  [weight]      or  source  target
.jsonl          {"source": ..., "relation": ..., "target": ..., "weight": ...}      relation and weight optional
.nt             <http://.../A> <http://.../related> <http://.../B> .                IRIs are shortened to their ends
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import unquote

from weft.errors import DataError, FormatError
from weft.graph.store import Builder, TypedGraph

FORMATS = {".tsv": "tsv", ".txt": "tsv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".nt": "nt"}
#: The relation of edges that have none.
LINKED = "linked"
_TRIPLE = re.compile(
    r"(?:<([^<>\s]*)>|(_:\S+))[ \t]+<([^<>\s]*)>[ \t]+(?:<([^<>\s]*)>|(_:\S+)"
    r'|"((?:[^"\\]|\\.)*)"(?:\^\^<[^<>\s]*>|@([\w-]+))?)'
    r"[ \t]*\.[ \t]*(?:#.*)?$"
)
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([tnrbf"\'\\]))')
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


class Edge(NamedTuple):
    """An edge of a file; `literal` if its target is a text rather than a node."""

    source: str
    relation: str
    target: str
    weight: float = 1.0
    literal: bool = False
    language: str = ""


def read_edges(path: str | os.PathLike[str], format: str | None = None) -> Iterator[Edge]:
    """The edges of a file, in constant memory; a bad line is an error that names it."""
    name = os.fspath(path)
    kind = format or FORMATS.get(Path(name.removesuffix(".gz")).suffix)
    if kind not in ("tsv", "jsonl", "nt"):
        raise DataError(f"cannot tell the format of {name}; edges are read from {', '.join(sorted(FORMATS))}")
    read = {"tsv": _columns, "jsonl": _object, "nt": _triple}[kind]
    with opened(name) as lines:
        for number, line in enumerate(lines, 1):
            line = line.rstrip("\r\n")
            if line.strip() and not line.startswith("#"):
                yield read(name, number, line)


def read_graph(*paths: str | os.PathLike[str]) -> TypedGraph:
    """The graph of the edges of files; literals are left out.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "g.tsv").write_text("a\\tknows\\tb\\nb\\tknows\\tc\\t2\\n")
    ...     graph = read_graph(Path(folder, "g.tsv"))
    >>> list(graph.edges())
    [('a', 'knows', 'b', 1.0), ('b', 'knows', 'c', 2.0)]
    """
    builder = Builder()
    for path in paths:
        for edge in read_edges(path):
            if not edge.literal:
                builder.add(edge.source, edge.relation, edge.target, edge.weight)
    return builder.graph()


def opened(name: str) -> IO[str]:
    """A text file for reading, gzipped or not; what is not UTF-8 is replaced."""
    try:
        with open(name, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        if packed:
            return gzip.open(name, "rt", encoding="utf-8", errors="replace")
        return open(name, encoding="utf-8", errors="replace")
    except OSError as error:
        raise DataError(f"cannot read {name}: {error.strerror}") from None


def _columns(name: str, number: int, line: str) -> Edge:
    cells = line.split("\t")
    if not 2 <= len(cells) <= 4 or not all(cells):
        raise FormatError(name, number, "source, relation, target and perhaps a weight, separated by tabs", line[:80])
    if len(cells) == 2:
        return Edge(cells[0], LINKED, cells[1])
    return Edge(cells[0], cells[1], cells[2], _weight(name, number, cells[3]) if len(cells) == 4 else 1.0)


def _object(name: str, number: int, line: str) -> Edge:
    try:
        value = json.loads(line)
        source, target = value["source"], value["target"]
        relation, weight = value.get("relation", LINKED), value.get("weight", 1.0)
        fits = all(isinstance(each, str) and each for each in (source, relation, target))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        fits = False
    if not fits:
        raise FormatError(name, number, 'an object with the texts "source" and "target"', line[:80])
    return Edge(source, relation, target, _weight(name, number, weight))


def _weight(name: str, number: int, given: object) -> float:
    try:
        weight = float(given)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        weight = 0.0
    if not 0 < weight < 1e30:
        raise FormatError(name, number, "a weight above 0", repr(given)[:80])
    return weight


def _triple(name: str, number: int, line: str) -> Edge:
    match = _TRIPLE.match(line.strip())
    if match is None:
        raise FormatError(name, number, "a triple as in <a> <b> <c> .", line[:80])
    source, blank, relation, target, other, literal, language = match.groups()
    if literal is not None:
        text = _ESCAPE.sub(_unescaped, literal)
        return Edge(_end(source or blank), _end(relation), text, literal=True, language=language or "")
    return Edge(_end(source or blank), _end(relation), _end(target or other))


def _end(iri: str) -> str:
    """The last part of an IRI, with spaces: `http://dbpedia.org/resource/Mario_Gómez` is `Mario Gómez`."""
    last = re.split(r"[/#]", iri.rstrip("/#"))[-1] if "://" in iri else iri
    return unquote(last).replace("_", " ") or iri


def _unescaped(match: re.Match[str]) -> str:
    short, long, plain = match.groups()
    if plain:
        return _PLAIN.get(plain, plain)
    point = int(short or long, 16)
    return chr(point) if point < 0x110000 and not 0xD800 <= point < 0xE000 else "�"

"""Edges of graphs from files: tab-separated columns, CSV, JSON Lines, N-Triples, gzipped or not, and Parquet.

.tsv  .txt      source  relation  target  [weight  [begin  [end]]]      or  source  target
.csv  .parquet  columns source, relation, target, weight, begin, end; or one row per thing (`weft.graph.tables`)
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
from typing import IO
from urllib.parse import unquote

from weft.errors import DataError, FormatError
from weft.graph.store import Builder, TypedGraph
from weft.graph.tables import LINKED, Edge, csv_edges, is_header, parquet_edges, weight_of, window_at

FORMATS = {
    ".tsv": "tsv", ".txt": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".nt": "nt",
    ".parquet": "parquet",
}  # fmt: skip
_TRIPLE = re.compile(
    r"(?:<([^<>\s]*)>|(_:\S+))[ \t]+<([^<>\s]*)>[ \t]+(?:<([^<>\s]*)>|(_:\S+)"
    r'|"((?:[^"\\]|\\.)*)"(?:\^\^<[^<>\s]*>|@([\w-]+))?)'
    r"[ \t]*\.[ \t]*(?:#.*)?$"
)
_ESCAPE = re.compile(r'\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([tnrbf"\'\\]))')
_PLAIN = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


def read_edges(path: str | os.PathLike[str], format: str | None = None, identity: str = "") -> Iterator[Edge]:
    """The edges of a file, in constant memory; a bad line is an error that names it.

    `identity` is the column that names the rows of tables of things.
    """
    name = os.fspath(path)
    kind = format or FORMATS.get(Path(name.removesuffix(".gz")).suffix)
    if kind is None or kind not in FORMATS.values():
        raise DataError(f"cannot tell the format of {name}; edges are read from {', '.join(sorted(FORMATS))}")
    if kind == "parquet":
        yield from parquet_edges(name, identity)
        return
    with opened(name) as lines:
        if kind == "csv" or (kind == "tsv" and identity):
            yield from csv_edges(name, lines, identity)
            return
        yield from _lines(name, kind, lines)


def _lines(name: str, kind: str, lines: IO[str]) -> Iterator[Edge]:
    read = {"tsv": _columns, "jsonl": _object, "nt": _triple}[kind]
    first = True
    for number, line in enumerate(lines, 1):
        line = line.rstrip("\r\n")
        if not line.strip() or line.startswith("#"):
            continue
        if first and kind == "tsv" and is_header(line.split("\t")):
            yield from csv_edges(name, _numbered(number, line, lines))
            return
        first = False
        yield read(name, number, line)


def _numbered(number: int, line: str, lines: IO[str]) -> Iterator[str]:
    """A line that was read and those after it."""
    yield line + "\n"
    yield from lines


def read_graph(*paths: str | os.PathLike[str], identity: str = "") -> TypedGraph:
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
        for edge in read_edges(path, identity=identity):
            if not edge.literal:
                builder.add(edge.source, edge.relation, edge.target, edge.weight, edge.window)
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
    if not 2 <= len(cells) <= 6 or not all(cells[:4]):
        expected = "source, relation, target and perhaps a weight and two dates, separated by tabs"
        raise FormatError(name, number, expected, line[:80])
    if len(cells) == 2:
        return Edge(cells[0], LINKED, cells[1])
    weight = weight_of(name, number, cells[3]) if len(cells) > 3 else 1.0
    begin, end = (*cells[4:], "", "")[:2]
    return Edge(cells[0], cells[1], cells[2], weight, window=window_at(name, number, begin, end))


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
    begin, end = (str(value.get(key) or "") for key in ("begin", "end"))
    window = window_at(name, number, begin, end)
    return Edge(source, relation, target, weight_of(name, number, weight), window=window)


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

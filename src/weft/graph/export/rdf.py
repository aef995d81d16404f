"""RDF: N-Triples as text, or a store of pyoxigraph that answers SPARQL.

    <base node/Mara%20Lind>  <base relation/lives%20in>  <base node/Bergen> .        rdf:type and rdfs:label beside them

RDF knows no weights and no windows of edges: use DuckDB, CSV or Cypher where they matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from itertools import islice
from pathlib import Path
from urllib.parse import quote

from weft.errors import DataError
from weft.graph.store import TypedGraph
from weft.packages import needed

BASE = "http://weft.invalid/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
#: Triples that are given to the store together.
BATCH = 200_000
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def iri(kind: str, name: str) -> str:
    """The IRI of a node, a relation or a type.

    >>> iri("node", "Mara Lind")
    '<http://weft.invalid/node/Mara%20Lind>'
    """
    return f"<{BASE}{kind}/{quote(name, safe='')}>"


def triples(graph: TypedGraph) -> Iterator[str]:
    """The graph as lines of N-Triples: labels and types of nodes first."""
    for number, name in enumerate(graph.names):
        text = "".join(_ESCAPES.get(letter, letter) for letter in name)
        yield f'{iri("node", name)} <{LABEL}> "{text}" .\n'
        kind = graph.type_of(number)
        if kind:
            yield f"{iri('node', name)} <{TYPE}> {iri('type', kind)} .\n"
    last = None
    for edge in graph.edges():
        if edge[:3] != last:
            yield f"{iri('node', edge[0])} {iri('relation', edge[1])} {iri('node', edge[2])} .\n"
        last = edge[:3]


def write_ntriples(graph: TypedGraph, path: Path) -> list[Path]:
    """Write N-Triples."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.writelines(triples(graph))
    return [path]


def write_oxigraph(graph: TypedGraph, path: Path) -> list[Path]:
    """Write a store of pyoxigraph, a folder that holds nothing else."""
    oxigraph = needed("pyoxigraph", "writing a SPARQL store (for N-Triples give a file that ends in .nt)")
    if path.is_file() or (path.is_dir() and any(path.iterdir())):
        raise DataError(f"{path} is in the way; a SPARQL store is written to a new folder, N-Triples to a file .nt")
    try:
        store = oxigraph.Store(str(path))
        lines = triples(graph)
        while batch := "".join(islice(lines, BATCH)):
            store.bulk_load(BytesIO(batch.encode()), format=oxigraph.RdfFormat.N_TRIPLES)
        store.flush()
    except (OSError, SyntaxError, ValueError) as error:
        raise DataError(f"pyoxigraph cannot write {path}: {error}") from None
    return [path]

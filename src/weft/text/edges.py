"""Dependency graphs of documents: the column DEPS of CoNLL-U, in which a word may have several heads.

    4:nsubj|7:nsubj        word 4 and word 7 of the sentence are heads; 0 is ROOT

Edges to and from empty nodes (`5.1:obj`) are not edges between words and are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.errors import DataError
from weft.text.doc import Doc


class Edges(NamedTuple):
    """Edges of a document, by word and then by head: the head in its sentence, the word in the document, the name."""

    head: NDArray[np.int32]
    word: NDArray[np.int64]
    relation: list[str]

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, str]]) -> Edges:
        """From rows (word, head, relation) in any order; of an edge that is there twice the first stays.

        >>> Edges.of([(1, 0, "root"), (0, 2, "nsubj")]).word.tolist()
        [0, 1]
        """
        ordered = sorted({(word, head): relation for word, head, relation in reversed(rows)}.items())
        word, head = (np.array([pair[side] for pair, _ in ordered], dtype=np.int64) for side in (0, 1))
        return cls(head.astype(np.int32), word, [relation for _, relation in ordered])


class Dropped(NamedTuple):
    """Edges that stood in documents and that a graph without cycles between words has not."""

    cycles: int
    empty_nodes: int


def edges_of(doc: Doc) -> Edges:
    """The edges of a document: of DEPS; of a word that has nothing there the edge of HEAD and DEPREL.

    >>> doc = Doc.from_words([["Dogs", "bark", "and", "howl"]], head=[[2, 0, 4, 2]],
    ...                    deprel=[["nsubj", "root", "cc", "conj"]], deps=[["2:nsubj|4:nsubj", "", "", ""]])
    >>> list(zip(*edges_of(doc)))[:3] == [(2, 0, "nsubj"), (4, 0, "nsubj"), (0, 1, "root")]
    True
    """
    rows: list[tuple[int, int, str]] = []
    for word, (deps, head, relation) in enumerate(_columns(doc)):
        own = [(at, name) for at, name in _heads_of(doc, word, deps) if at >= 0]
        if not deps and head >= 0:
            own = [(head, relation)]
        rows += [(word, at, name) for at, name in own]
    return Edges.of(rows)


def acyclic_edges(doc: Doc) -> tuple[Edges, Dropped]:
    """The tree of a document and those further heads of DEPS, from left to right, that close no cycle.

    Trees must be whole. The relation of an edge is that of DEPS where the edge stands there.

    >>> doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]],
    ...                    deps=[["2:nsubj|1.1:obj", "0:root|1:acl"]])
    >>> edges, dropped = acyclic_edges(doc)
    >>> edges.head.tolist(), dropped
    ([2, 0], Dropped(cycles=1, empty_nodes=1))
    """
    if doc.head is None:
        raise DataError("graphs are made of trees and further heads, but the document has no heads")
    rows: list[tuple[int, int, str]] = []
    cycles = empty = 0
    columns = _columns(doc)
    for first, end in pairwise(doc.sentence_offsets.tolist()):
        above = [[int(head)] for head in doc.head[first:end]]
        for word in range(first, end):
            deps, head, relation = columns[word]
            further = _heads_of(doc, word, deps)
            rows.append((word, head, dict(further).get(head, relation)))
            for at, name in further:
                if at in above[word - first] or at == 0:
                    continue
                if at < 0:
                    empty += 1
                elif at > end - first or _reaches(above, at, word - first + 1):
                    cycles += 1
                else:
                    above[word - first].append(at)
                    rows.append((word, at, name))
    return Edges.of(rows), Dropped(cycles, empty)


def note_edges(doc: Doc, edges: Edges) -> None:
    """Write edges to the column DEPS of a document.

    >>> doc = Doc.from_words([["Dogs", "bark"]])
    >>> note_edges(doc, Edges.of([(0, 2, "nsubj"), (1, 0, "root")]))
    >>> doc.column("deps")
    ['2:nsubj', '0:root']
    """
    found: list[list[str]] = [[] for _ in range(doc.n_words)]
    for head, word, relation in zip(edges.head.tolist(), edges.word.tolist(), edges.relation, strict=True):
        found[word].append(f"{head}:{relation or '_'}")
    doc.set_column("deps", ["|".join(own) for own in found])


def _columns(doc: Doc) -> list[tuple[str, int, str]]:
    """DEPS, HEAD and DEPREL of every word."""
    heads = [-1] * doc.n_words if doc.head is None else doc.head.tolist()
    return list(zip(doc.column("deps"), heads, doc.column("deprel"), strict=True))


def _heads_of(doc: Doc, word: int, deps: str) -> list[tuple[int, str]]:
    """Heads and relations of a value of DEPS; -1 for empty nodes."""
    found = []
    for edge in deps.split("|") if deps else ():
        head, colon, relation = edge.partition(":")
        if not colon or not head.replace(".", "", 1).isdecimal():
            form = doc.column("form")[word]
            raise DataError(f"cannot read {edge!r} in the column DEPS of the word {form!r}: expected HEAD:RELATION")
        found.append((-1 if "." in head else int(head), relation))
    return found


def _reaches(above: Sequence[Sequence[int]], start: int, goal: int) -> bool:
    """Whether a word is the other or stands below it."""
    waiting, seen = [start], {start}
    while waiting:
        at = waiting.pop()
        if at == goal:
            return True
        new = [head for head in (above[at - 1] if at > 0 else ()) if head not in seen]
        seen.update(new)
        waiting += new
    return False

"""Pieces of graphs: what one span of words stands for, as the parser stores and produces it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from weft.tasks.amr.aligner import MONTHS, Fragment
from weft.text.conventions.amr import Amr, Edge

#: What a sentence without concepts means.
EMPTY = "amr-empty"
_OP = re.compile(r"op\d*")
_YEAR = re.compile(r"1\d\d\d|20\d\d")
_ISO = re.compile(r"(1\d\d\d|20\d\d)[-/](\d\d?)(?:[-/](\d\d?))?")
_DAY = re.compile(r"(\d\d?)(?:st|nd|rd|th)?")


class Piece(NamedTuple):
    """A rooted graph: the labels of its nodes, root first, which of them are constants, and its relations."""

    labels: tuple[str, ...]
    constants: tuple[bool, ...]
    edges: tuple[Edge, ...]

    @classmethod
    def of(cls, amr: Amr, fragment: Fragment) -> Piece:
        """The piece that a fragment of an alignment stands for."""
        number = {node: i for i, node in enumerate(fragment.nodes)}
        edges = [
            Edge(number[source], number[target], role)
            for source, target, role in amr.relations()
            if source in number and target in number
        ]
        labels = tuple(amr.labels[node] for node in fragment.nodes)
        return cls(labels, tuple(amr.is_constant(node) for node in fragment.nodes), tuple(edges))

    @classmethod
    def concept(cls, label: str) -> Piece:
        """A single concept.

        >>> Piece.concept("boy").labels
        ('boy',)
        """
        return cls((label,), (False,), ())

    @classmethod
    def from_row(cls, row: Sequence[Any]) -> Piece:
        """The piece of a row of plain values."""
        labels, constants, edges = row
        return cls(tuple(labels), tuple(map(bool, constants)), tuple(Edge(*edge) for edge in edges))

    def row(self) -> list[Any]:
        """The piece as plain values."""
        return [list(self.labels), [int(value) for value in self.constants], [list(edge) for edge in self.edges]]


def named_entity(words: Sequence[str], kind: str, wiki: bool) -> Piece:
    """The piece of a name: its type, the words as `op1`, `op2` ..., and an unknown entry of Wikipedia if asked for.

    >>> named_entity(["New", "York"], "city", wiki=False).labels
    ('city', 'name', '"New"', '"York"')
    """
    labels = [kind, "name", *(f'"{word}"' for word in words)]
    edges = [Edge(0, 1, "name"), *(Edge(1, 2 + i, f"op{i + 1}") for i in range(len(words)))]
    if wiki:
        edges.append(Edge(0, len(labels), "wiki"))
        labels.append("-")
    return Piece(tuple(labels), tuple(i > 1 for i in range(len(labels))), tuple(edges))


def date_entity(words: Sequence[str]) -> Piece | None:
    """The piece of a date or year, or None: `1943`, `May 1943`, `5 May 1943`, `May 5 , 1943`, `1943-05-29`.

    >>> date_entity(["May", "5", ",", "1943"]).labels
    ('date-entity', '1943', '5', '5')
    >>> date_entity(["six"]) is None
    True
    """
    parts: dict[str, str] = {}
    lowered = [word.lower().rstrip(".") for word in words if word not in (",", ".")]
    if not lowered or len(words) > 6 or words[0] in (",", ".") or words[-1] in (",", "."):
        return None
    whole = _ISO.fullmatch(lowered[0]) if len(lowered) == 1 else None
    if whole:
        parts = {
            role: str(int(value)) for role, value in zip(("year", "month", "day"), whole.groups(), strict=True) if value
        }
    else:
        for word in lowered:
            month = next((i for i, name in enumerate(MONTHS, 1) if word in (name, name[:3])), 0)
            day = _DAY.fullmatch(word)
            if month and "month" not in parts:
                parts["month"] = str(month)
            elif _YEAR.fullmatch(word) and "year" not in parts:
                parts["year"] = word
            elif day and 1 <= int(day[1]) <= 31 and "day" not in parts:
                parts["day"] = str(int(day[1]))
            else:
                return None
    if "year" not in parts and not {"month", "day"} <= set(parts):
        return None
    if set(parts) == {"year", "day"}:
        return None
    roles = [role for role in ("year", "month", "day") if role in parts]
    edges = tuple(Edge(0, i, role) for i, role in enumerate(roles, 1))
    return Piece(("date-entity", *(parts[role] for role in roles)), (False, *[True] * len(roles)), edges)


def plain_role(role: str) -> str:
    """A role as the parser learns it: `op1`, `op2` ... are one.

    >>> plain_role("op12"), plain_role("ARG1"), plain_role("operator")
    ('op', 'ARG1', 'operator')
    """
    return "op" if _OP.fullmatch(role) else role


def numbered_ops(edges: Sequence[Edge], position: Sequence[int]) -> list[Edge]:
    """Edges with the `op` children of each node numbered from left to right, after those that have numbers.

    >>> numbered_ops([Edge(0, 1, "op"), Edge(0, 2, "op")], [0, 5, 3])
    [Edge(source=0, target=1, role='op2'), Edge(source=0, target=2, role='op1')]
    """
    taken: dict[int, int] = {}
    for edge in edges:
        if _OP.fullmatch(edge.role) and edge.role != "op":
            taken[edge.source] = max(taken.get(edge.source, 0), int(edge.role[2:]))
    order = sorted((edge for edge in edges if edge.role == "op"), key=lambda edge: (position[edge.target], edge.target))
    number: dict[Edge, int] = {}
    for edge in order:
        number[edge] = taken[edge.source] = taken.get(edge.source, 0) + 1
    return [edge._replace(role=f"op{number[edge]}") if edge.role == "op" else edge for edge in edges]

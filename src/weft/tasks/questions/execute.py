"""Answers: the nodes or values that a meaning denotes in a view of a graph, best first.

    sources(r, S) = {x : x -r-> s in S}      and = intersection      not = complement within the rest of its conjunction

Sets are sorted arrays of node numbers. `most` cuts the inner sets of relations, for the cheap question whether a
suggestion has an answer at all. Results are ranked by closeness to the user and number of edges.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft.arrays import Bools, Floats, Ids
from weft.errors import DataError
from weft.graph.attributes import Column, day_of
from weft.tasks.questions.terms import VALUES, Term
from weft.tasks.questions.view import View

OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_NONE = np.zeros(0, dtype=np.int32)
#: Where inner sets are cut, sets of all nodes of a type are this many times larger.
_CUT = 10


@dataclass(frozen=True)
class Answer:
    """The nodes of an answer with what is told of them, or values."""

    nodes: list[int] = field(default_factory=list)
    values: list[tuple[int | None, str]] = field(default_factory=list)
    total: int = 0


def nodes_of(term: Term, view: View, most: int | None = None) -> Ids:
    """The nodes that a meaning denotes, sorted.

    >>> from weft.graph.store import Builder
    >>> from weft.tasks.questions.schema import inferred
    >>> from weft.tasks.questions.view import Store
    >>> builder = Builder()
    >>> builder.add_all([("Ada", "likes", "Bo"), ("Cy", "likes", "Bo"), ("Ada", "knows", "Cy")])
    >>> graph = builder.graph()
    >>> view = View(Store(graph, inferred(graph)))
    >>> bo = graph.names.find("Bo")
    >>> [graph.names[node] for node in nodes_of(("sources", "likes", ("entity", bo)), view)]
    ['Ada', 'Cy']
    """
    op = term[0]
    if op == "entity":
        return np.array([term[1]], dtype=np.int32)
    if op == "me":
        if view.user is None:
            raise DataError("the question is about the one who asks: say who that is with --me NAME")
        return np.array([view.user], dtype=np.int32)
    if op == "all":
        return view.store.members.get(term[1], _NONE)[: None if most is None else _CUT * most]
    if op in ("sources", "targets"):
        return view.image(term[1], "in" if op == "sources" else "out", nodes_of(term[2], view, most), most)
    if op == "or":
        return np.unique(np.concatenate([nodes_of(part, view, most) for part in term[1:]]))
    if op == "and":
        return _conjunction(term, view, most)
    if op == "value":
        column = view.store.columns.get(term[1])
        if column is None:
            return _NONE
        return column.nodes[_compared(column, term[2], _numbers(term[3], view))]
    if op == "count":
        members = _side(term, view)[: None if most is None else _CUT * most]
        return members[OPERATORS[term[3]](view.counts(term[1], term[2])[members], _number(term[4]))]
    if op == "most":
        return _extremes(term, view, most)
    if op == "not":
        raise DataError("a negation needs something that it is taken from")
    raise DataError(f"{op!r} denotes values, not nodes")


def _side(term: Term, view: View) -> Ids:
    relation = view.schema.relations[term[1]]
    return view.store.members.get(relation.source if term[2] == "out" else relation.target, _NONE)


def _conjunction(term: Term, view: View, most: int | None) -> Ids:
    # A set of all nodes of a type, cheap to test and costly to build, comes last.
    parts = sorted((part for part in term[1:] if part[0] != "not"), key=lambda part: part[0] in ("all", "count"))
    if not parts:
        raise DataError("a negation needs something that it is taken from")
    found = nodes_of(parts[0], view, most)
    for part in parts[1:]:
        if not len(found):
            return found
        if part[0] == "all":
            number = list(view.schema.types).index(part[1])
            found = found[view.schema.node_types[found] == number]
        else:
            found = _intersection(found, nodes_of(part, view, most))
    for part in term[1:]:
        if part[0] == "not":
            # What is taken away must be whole: a cut would answer too much.
            taken = nodes_of(part[1], view) if most is None else nodes_of(part[1], view, _CUT * most)
            found = np.setdiff1d(found, taken, assume_unique=True)
    return found


def _intersection(one: Ids, other: Ids) -> Ids:
    """The common members of two sorted sets, by searching those of the smaller one in the larger one."""
    small, large = (one, other) if len(one) <= len(other) else (other, one)
    if not len(large):
        return small[:0]
    places = np.searchsorted(large, small)
    places[places == len(large)] = 0
    return small[large[places] == small]


def _number(value: Term) -> float:
    return float(value[1])


def _numbers(value: Term, view: View) -> Floats:
    """The numbers that a value stands for; a set of nodes may have several."""
    if value[0] == "either":
        return np.concatenate([_numbers(part, view) for part in value[1:]])
    if value[0] == "number":
        return np.array([float(value[1])])
    if value[0] == "date":
        day = day_of(str(value[1]))
        return np.array([float(day)] if day is not None else [])
    column = view.store.columns.get(value[1])
    if column is None:
        return np.zeros(0)
    return column.values[np.isin(column.nodes, nodes_of(value[2], view))]


def _compared(column: Column, op: str, values: Floats) -> Bools:
    """Which values of a column compare so with any of some values; a year stands for its first day."""
    found = np.zeros(len(column.values), dtype=np.bool_)
    for value in values:
        found |= OPERATORS[op](column.values, value)
    return found


def _extremes(term: Term, view: View, most: int | None = None) -> Ids:
    inner, measure = nodes_of(term[1], view, most), term[2]
    if measure[0] == "value":
        column = view.store.columns.get(measure[1])
        if column is None:
            return _NONE
        inner = _intersection(inner, column.nodes)
        values = column.values[np.searchsorted(column.nodes, inner)]
    else:
        values = view.counts(measure[1], measure[2])[inner].astype(np.float64)
    if not len(inner):
        return inner
    return inner[values == (values.max() if term[3] == "max" else values.min())]


def answer(term: Term, view: View, closeness: dict[int, float] | None = None, limit: int = 100) -> Answer:
    """The answer to a question: nodes by closeness and number of edges, or values."""
    op = term[0]
    if op == "size":
        return Answer(values=[(None, str(len(nodes_of(term[1], view))))], total=1)
    if op in VALUES:
        column = view.store.columns.get(term[1])
        nodes = nodes_of(term[2], view)
        if column is None or not len(_intersection(nodes, column.nodes)):
            return Answer()
        nodes = _intersection(nodes, column.nodes)
        values = column.values[np.searchsorted(column.nodes, nodes)]
        if op != "attribute":
            number = float(values.mean() if op == "average" else values.sum())
            return Answer(values=[(None, f"{number:g}")], total=1)
        rows: list[tuple[int | None, str]] = [
            (int(node), column.text(float(value))) for node, value in zip(nodes, values, strict=True)
        ]
        return Answer([int(node) for node in nodes[:limit]], rows[:limit], len(rows))
    found = nodes_of(term, view)
    close = closeness or {}
    degrees = view.store.degrees
    ranked = sorted(found.tolist(), key=lambda node: (-close.get(node, 0.0), -int(degrees[node]), node))
    return Answer(ranked[:limit], [], len(found))


def is_empty(term: Term, view: View, most: int = 200) -> bool | None:
    """Whether a question has no answer; None if that was not found out with inner sets of `most` nodes."""
    if term[0] in VALUES:
        term = term[-1]
    if any(part in ("most", "count") for part in (term[0],)):
        return None
    try:
        if len(nodes_of(term, view, most)):
            return False
    except DataError:
        return None
    return True

"""Meanings of questions: typed set expressions over a graph, and their normal form.

    ("entity", n)  ("me",)  ("all", type)               one node, the user, all nodes of a type
    ("sources", r, S)   {x : x -r-> s in S}             ("targets", r, S)   {y : s -r-> y, s in S}
    ("and", S, ...)  ("or", S, ...)  ("not", S)         a negation stands within a conjunction only
    ("value", a, op, V)                                 nodes whose attribute a compares so with a value V
    ("count", r, side, op, n)                           nodes with so many edges of r ("out" or "in")
    ("most", S, measure, "max" or "min")                the extremes of S; measure is ("value", a) or ("count", r, side)
    ("attribute", a, S)  ("size", S)  ("average", a, S)  ("total", a, S)                   values, at the top only
    V: ("number", x)  ("date", "2004-05-01")  ("attribute", a, S)  ("either", V, W)

Two questions mean the same if their normal forms are equal: conjunctions and unions are flat, sorted and without
repetition, and `all(T)` is left out of a conjunction with another set of that type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from weft.errors import DataError

if TYPE_CHECKING:
    from weft.tasks.questions.schema import Schema

Term = tuple[Any, ...]
#: Nested relations that a question may have.
DEPTH = 4
#: How often a relation may follow itself: friends of friends of friends.
LOOPS = 3
VALUES = ("attribute", "size", "average", "total")
_LISTS = ("and", "or")


def normal(term: Term) -> Term:
    """The normal form of a term.

    >>> normal(("and", ("and", ("entity", 3), ("all", "person")), ("entity", 1), ("entity", 3)))
    ('and', ('all', 'person'), ('entity', 1), ('entity', 3))
    >>> normal(("and", ("all", "person"), ("sources", "likes", ("or", ("entity", 2), ("entity", 2)))))
    ('and', ('all', 'person'), ('sources', 'likes', ('entity', 2)))
    """
    op = term[0]
    parts = [normal(part) if isinstance(part, tuple) else part for part in term[1:]]
    if op in _LISTS:
        flat: list[Term] = []
        for part in parts:
            flat.extend(part[1:] if part[0] == op else [part])
        parts = sorted(set(flat), key=repr)
        if len(parts) == 1:
            return parts[0]
    elif op == "not" and parts[0][0] == "not":
        return parts[0][1]
    elif op == "either":
        parts = sorted(set(parts), key=repr)
        if len(parts) == 1:
            return parts[0]
    return (op, *parts)


def simple(term: Term, schema: Schema) -> Term:
    """The normal form in which no conjunction says the type that its other members have anyway."""
    term = normal(term)
    op = term[0]
    parts = [simple(part, schema) if isinstance(part, tuple) and part else part for part in term[1:]]
    if op == "and":
        rest = [part for part in parts if part[0] != "all"]
        types = {part[1] for part in parts if part[0] == "all"}
        if rest and types and any(part[0] != "not" and type_of(part, schema) in types for part in rest):
            parts = [part for part in parts if part[0] != "all" or part[1] not in types]
        if len(parts) == 1:
            return parts[0]
    return (op, *parts)


def parts_of(term: Term) -> Iterator[Term]:
    """A term and everything in it that is a term.

    >>> [part[0] for part in parts_of(("targets", "likes", ("me",)))]
    ['targets', 'me']
    """
    yield term
    for part in term[1:]:
        if isinstance(part, tuple) and part:
            yield from parts_of(part)


def type_of(term: Term, schema: Schema) -> str:
    """The type of the nodes of a set; "" where the types do not fit each other."""
    op = term[0]
    if op == "entity":
        return schema.type_of_node(term[1])
    if op == "me":
        return schema.me
    if op == "all":
        return str(term[1])
    if op in ("sources", "targets"):
        relation = schema.relations.get(term[1])
        if relation is None:
            return ""
        inner, outer = (relation.target, relation.source) if op == "sources" else (relation.source, relation.target)
        return outer if type_of(term[2], schema) == inner else ""
    if op in _LISTS:
        types = {type_of(part, schema) for part in term[1:]}
        return types.pop() if len(types) == 1 else ""
    if op == "not":
        return type_of(term[1], schema)
    if op == "value":
        attribute = schema.attributes.get(term[1])
        return attribute.type if attribute and _fits(term[3], attribute.kind, schema) else ""
    if op == "count":
        relation = schema.relations.get(term[1])
        return "" if relation is None else relation.source if term[2] == "out" else relation.target
    if op == "most":
        inner = type_of(term[1], schema)
        measure = term[2]
        if measure[0] == "value":
            own = schema.attributes[measure[1]].type if measure[1] in schema.attributes else ""
        else:
            own = type_of(("count", measure[1], measure[2], ">", 0), schema)
        return inner if inner == own else ""
    return ""


def _fits(value: Term, kind: str, schema: Schema) -> bool:
    if value[0] == "either":
        return all(_fits(part, kind, schema) for part in value[1:])
    if value[0] == "attribute":
        attribute = schema.attributes.get(value[1])
        return bool(attribute and attribute.kind == kind and type_of(value[2], schema) == attribute.type)
    return value[0] == kind


def is_typed(term: Term, schema: Schema) -> bool:
    """Whether every part of a question fits what is around it."""
    if term[0] == "size":
        return bool(type_of(term[1], schema))
    if term[0] in VALUES:
        attribute = schema.attributes.get(term[1])
        return bool(attribute and type_of(term[2], schema) == attribute.type)
    return bool(type_of(term, schema))


def contradiction(term: Term, schema: Schema) -> str:
    """What makes a question senseless: a contradiction, a repetition or a loop; "" if nothing does."""
    for part in parts_of(term):
        if part[0] == "and":
            single: dict[str, Term] = {}
            for member in part[1:]:
                if ("not", member) in part:
                    return "something and its negation"
                one = member[0] == "sources" and member[2][0] == "entity" and schema.relations[member[1]].functional
                if one and single.setdefault(member[1], member) != member:
                    return f"two values of {member[1]!r}"
                if member[0] == "value" and member[2] == "=" and single.setdefault(member[1], member) != member:
                    return f"two values of {member[1]!r}"
            if sum(member[0] == "entity" for member in part[1:]) > 1:
                return "two entities at once"
    return _loops(term, "", 0, 0)


def _loops(term: Term, before: str, repeated: int, depth: int) -> str:
    if term[0] in ("sources", "targets"):
        depth += 1
        repeated = repeated + 1 if term[1] == before else 1
        before = term[1]
        if repeated > LOOPS:
            return f"{before!r} of itself more than {LOOPS} times"
        if depth > DEPTH:
            return f"more than {DEPTH} nested relations"
    for part in term[1:]:
        if isinstance(part, tuple) and part and (found := _loops(part, before, repeated, depth)):
            return found
    return ""


def check(term: Term, schema: Schema) -> None:
    """Raise an error for a term that means nothing in a schema."""
    if not is_typed(term, schema):
        raise DataError(f"the parts of {shown(term)} do not fit each other")
    if found := contradiction(term, schema):
        raise DataError(f"{shown(term)} makes no sense: {found}")


def shown(term: Term) -> str:
    """A term as text.

    >>> shown(("and", ("all", "person"), ("sources", "works for", ("entity", 4))))
    'and(all(person), sources(works for, entity(4)))'
    """
    inner = ", ".join(shown(part) if isinstance(part, tuple) else str(part) for part in term[1:])
    return f"{term[0]}({inner})" if inner else str(term[0])

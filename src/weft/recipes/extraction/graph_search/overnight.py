"""OVERNIGHT (Wang, Berant and Liang 2015): paraphrases, and the reader from its logical forms to terms.

Properties whose values are entities are relations, events are types with a role, dates and heights are attributes.
Several forms are one term where they mean the same set: "gender of alice" and "gender that is gender of alice". Left
out (None) are forms that no sentence of the grammar means: lists of dates, heights that are people, and the like.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.graph.store import Builder
from weft.tasks.questions.schema import read_schema
from weft.tasks.questions.terms import Term, is_typed, simple
from weft.tasks.questions.view import Store

FILES = "semantic-parsing/overnight/{}_{}.tsv.gz"
SCHEMA = Path(__file__).parent / "socialnetwork.toml"
#: The entities that the domain's questions name.
ENTITIES = {
    "person": ("alice", "bob"), "gender": ("male", "female"), "relationship_status": ("single", "married"),
    "city": ("new york", "beijing"), "university": ("brown university", "ucla"),
    "field": ("computer science", "history"), "company": ("mckinsey", "google"),
    "job_title": ("software engineer", "program manager"), "state": ("logged in",),
}  # fmt: skip
VALUES = {"date": ("2004", "2010"), "number": (180.0, 200.0, 2.0)}
_RENAMED = {"brown": "brown university", "bejing": "beijing"}
_AGGREGATES = {"avg": "average", "sum": "total"}


@dataclass(frozen=True)
class Question:
    """A paraphrase with its canonical sentence, logical form, and meaning if the grammar has it."""

    text: str
    canonical: str
    form: str
    term: Term | None


def domain() -> Store:
    """A graph of the domain's entities, so that they have names and types; it has no edges that answer anything."""
    schema = read_schema(SCHEMA)
    builder = Builder()
    for kind, names in ENTITIES.items():
        for name in names:
            builder.type(name, kind)
    return Store(builder.graph(), schema)


def read(path: Path, reader: Reader) -> Iterator[Question]:
    """The questions of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            text, canonical, form = line.rstrip("\n").split("\t")
            yield Question(text, canonical, form, reader.term(form))


def parse_form(text: str) -> Any:
    """A logical form as nested lists.

    >>> parse_form("( call f ( string a ) )")
    ['call', 'f', ['string', 'a']]
    """
    stack: list[list[Any]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0]


class Reader:
    """From logical forms to terms in normal form."""

    def __init__(self, store: Store) -> None:
        self.store, self.schema = store, store.schema
        self._known: dict[str, Term | None] = {}

    def term(self, form: str) -> Term | None:
        """The meaning of a form, None if the terms have none."""
        if form not in self._known:
            try:
                term = simple(self._read(parse_form(form)[2]), self.schema)
                self._known[form] = term if is_typed(term, self.schema) else None
            except (KeyError, IndexError, TypeError, ValueError):
                self._known[form] = None
        return self._known[form]

    def _read(self, form: Any) -> Term:
        if isinstance(form, str):
            return self._entity(form)
        if form[0] == "number":
            return "number", float(form[1])
        if form[0] == "date":
            return "date", form[1]
        name, rest = form[1].removeprefix("SW."), form[2:]
        if name in ("ensureNumericProperty", "ensureNumericEntity"):
            return self._read(rest[0])
        if name == ".size":
            return "size", self._read(rest[0])
        if name == "aggregate":
            return self._aggregate(rest)
        if name == "concat":
            parts = [self._read(part) for part in rest]
            return ("either" if parts[0][0] in ("number", "date") else "or", *parts)
        if name == "getProperty":
            return self._property(rest[0], rest[1])
        if name == "filter":
            return self._filter(rest)
        if name in ("countComparative", "countSuperlative", "superlative"):
            return self._counted(name, rest)
        if name == "domain":
            return "all", self.schema.relations[_string(rest[0])].source
        raise ValueError(name)

    def _aggregate(self, rest: Any) -> Term:
        inner = rest[1]  # getProperty of a set
        return _AGGREGATES[_string(rest[0])], _string(inner[3]), self._read(inner[2])

    def _entity(self, name: str) -> Term:
        text = name.split(".", 2)[-1].replace("_", " ")
        node = self.store.graph.names.find(_RENAMED.get(text, text))
        if node < 0:
            raise KeyError(name)
        return "entity", node

    def _property(self, of: Any, named: Any) -> Term:
        if isinstance(of, list) and of[1:2] == ["SW.singleton"]:
            return "all", of[2].removeprefix("en.")
        inner = self._applied(of) if isinstance(of, list) and isinstance(of[0], list) else self._read(of)
        return self._step(inner, *_direction(named))

    def _step(self, inner: Term, name: str, backward: bool) -> Term:
        if name in self.schema.attributes:
            return "attribute", name, inner
        if name not in self.schema.relations:
            raise KeyError(name)
        return ("sources" if backward else "targets"), name, inner

    def _applied(self, form: Any) -> Term:
        """`( ( lambda s BODY ) ARGUMENT )`, of which the body has one `( var s )`."""
        return self._read(_substituted(form[0][2], form[1]))

    def _filter(self, rest: Any) -> Term:
        base = self._read(rest[0])
        name, backward = _direction(rest[1])
        if len(rest) == 2:
            state = self.store.graph.names.find("logged in")
            return "and", base, ("sources", name, ("entity", state))
        op, value = _string(rest[2]), self._read(rest[3])
        if name in self.schema.attributes and not backward:
            return "and", base, ("value", name, op, value)
        found: Term = (("targets" if backward else "sources"), name, value)
        if op not in ("=", "!="):
            raise ValueError(op)
        return "and", base, (found if op == "=" else ("not", found))

    def _counted(self, kind: str, rest: Any) -> Term:
        base = self._read(rest[0])
        if kind == "superlative":
            return "most", base, ("value", _direction(rest[2])[0]), _string(rest[1])
        if kind == "countSuperlative":
            name, backward = _direction(rest[2])
            self.schema.relations[name]
            return "most", base, ("count", name, "in" if backward else "out"), _string(rest[1])
        name, backward = _direction(rest[1])
        self.schema.relations[name]
        return "and", base, ("count", name, "in" if backward else "out", _string(rest[2]), self._read(rest[3]))


def _string(form: Any) -> str:
    return str(form[1])


def _direction(form: Any) -> tuple[str, bool]:
    """The name of a property, and whether it is taken backwards."""
    if form[0] == "call":
        name, backward = _direction(form[2])
        return (name, not backward) if form[1] == "SW.reverse" else (name, backward)
    return _string(form).removeprefix("!"), form[1].startswith("!")


def _substituted(body: Any, argument: Any) -> Any:
    if body == ["var", "s"]:
        return argument
    return [_substituted(part, argument) for part in body] if isinstance(body, list) else body

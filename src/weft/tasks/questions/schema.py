"""What a graph is about, in words: types, relations and attributes with the nouns and verbs that name them.

    me = "person"                          # the type of those who ask
    [type.person]        singular = "person"   synonyms = ["folk"]
    [type.stay]          role = "guest"                        # events: "guests whose hotel is Ekely"
    [relation."lives in"]  from = "person"  to = "city"  verb = "live in"  noun = "resident"  of = "home town"
                         synonyms = ["reside in"]  past = "lived in"  tense = "past"
                         functional = true  adjective = true  class = true
    [attribute.birthdate]  of = "person"  kind = "date"  noun = "birth date"  synonyms = ["birthday"]

Everything but `from` and `to` may be left out. Without a file, `inferred` derives a schema from the relations' names.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from weft.arrays import Ids
from weft.errors import ConfigError, DataError, did_you_mean
from weft.graph.attributes import Column
from weft.graph.store import TypedGraph
from weft.tasks.questions import naming, words

#: The file of a graph's folder that holds its schema.
SCHEMA = "schema.toml"


@dataclass(frozen=True)
class NodeType:
    """A type of nodes; an event's `role` is the relation to those whom its noun names."""

    name: str
    singular: str
    plural: str
    synonyms: tuple[str, ...] = ()
    pronoun: str = "that"
    role: str = ""


@dataclass(frozen=True)
class Relation:
    """A relation from `source` to `target`: sources VERB targets, sources are NOUNS of targets, targets OF sources."""

    name: str
    source: str
    target: str
    verb: str = ""
    verbs: tuple[str, ...] = ()
    noun: str = ""
    nouns: tuple[str, ...] = ()
    of: str = ""
    ofs: tuple[str, ...] = ()
    passive: str = ""
    tense: str = "present"
    past: str = ""
    functional: bool = False
    adjective: bool = False
    instance: bool = False


@dataclass(frozen=True)
class Attribute:
    """A number or date of the nodes of a type, and words for its comparison: "taller than", "the tallest"."""

    name: str
    type: str
    kind: str
    noun: str
    nouns: tuple[str, ...] = ()
    larger: tuple[str, ...] = ()
    smaller: tuple[str, ...] = ()
    largest: tuple[str, ...] = ()
    smallest: tuple[str, ...] = ()


@dataclass
class Schema:
    """Types, relations and attributes by name, and the type of every node of a graph (-1: none)."""

    types: dict[str, NodeType]
    relations: dict[str, Relation]
    attributes: dict[str, Attribute] = field(default_factory=dict)
    me: str = ""
    node_types: Ids = field(default_factory=lambda: np.zeros(0, dtype=np.int32))

    def type_of_node(self, node: int) -> str:
        """The type of a node, "" if it has none."""
        number = int(self.node_types[node]) if 0 <= node < len(self.node_types) else -1
        return list(self.types)[number] if number >= 0 else ""

    def check(self) -> None:
        """Raise an error if something names a type or relation that is not there."""
        for relation in self.relations.values():
            for name, end in (("from", relation.source), ("to", relation.target)):
                _known(end, self.types, f"relation {relation.name!r}, {name}")
            if relation.past:
                _known(relation.past, self.relations, f"relation {relation.name!r}, past")
        for attribute in self.attributes.values():
            _known(attribute.type, self.types, f"attribute {attribute.name!r}, of")
        for kind in self.types.values():
            if kind.role:
                _known(kind.role, self.relations, f"type {kind.name!r}, role")
                if self.relations[kind.role].source != kind.name:
                    raise ConfigError(f"the role {kind.role!r} of type {kind.name!r} must be a relation from it")
        if self.me:
            _known(self.me, self.types, "me")

    def bound(self, graph: TypedGraph) -> Schema:
        """The schema with the types of a graph's nodes: the graph's own, or what their edges say."""
        names = list(self.types)
        found = np.full(graph.n_nodes, -1, dtype=np.int32)
        for number, relation in enumerate(graph.relations):
            if relation in self.relations:
                part = slice(int(graph.slices[number]), int(graph.slices[number + 1]))
                own = self.relations[relation]
                for nodes, end in ((graph.targets[part], own.target), (graph.sources[part], own.source)):
                    found[nodes] = names.index(end)
        own_types = np.array([names.index(each) if each in names else -1 for each in graph.types], dtype=np.int32)
        given = own_types[graph.type] if len(own_types) else found
        self.node_types = np.where(given >= 0, given, found).astype(np.int32)
        return self


def read_schema(path: str | os.PathLike[str]) -> Schema:
    """The schema of a TOML file; what is wrong in it is named.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "s.toml").write_text('[type.cat]\\n[relation.likes]\\nfrom = "cat"\\nto = "cat"\\n')
    ...     schema = read_schema(Path(folder, "s.toml"))
    >>> schema.types["cat"].plural, schema.relations["likes"].verb
    ('cats', 'like')
    """
    place = Path(path)
    try:
        values = tomllib.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError(f"there is no schema {place}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{place} is not TOML: {error}") from None
    return schema_of(values, str(place))


def schema_of(values: Mapping[str, Any], where: str = "the schema") -> Schema:
    """The schema of what a TOML file holds."""
    extra = sorted(set(values) - {"me", "type", "relation", "attribute"})
    if extra:
        raise DataError(f"{where} has {extra[0]!r}; expected me, [type.NAME], [relation.NAME] and [attribute.NAME]")
    tables = {key: _table(values.get(key, {}), f"{where}: {key}") for key in ("type", "relation", "attribute")}
    schema = Schema(
        {name: _type(name, _Given(row, f"{where}: type {name!r}")) for name, row in tables["type"].items()},
        {name: _relation(name, _Given(row, f"{where}: relation {name!r}")) for name, row in tables["relation"].items()},
        {name: _attribute(name, _Given(row, f"{where}: attribute {name!r}"))
         for name, row in tables["attribute"].items()},
        str(values.get("me", "")),
    )  # fmt: skip
    try:
        schema.check()
    except ConfigError as error:
        raise DataError(f"{where}: {error}") from None
    return schema


def _table(value: Any, where: str) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(row, dict) for row in value.values()):
        raise DataError(f"{where}: expected tables such as [{where.rsplit(' ', 1)[-1]}.NAME]")
    return value


class _Given:
    """The values of one table, each taken once and checked; what is left over is an error."""

    def __init__(self, row: Mapping[str, Any], where: str) -> None:
        self.row, self.where = dict(row), where

    def text(self, key: str, default: str | None = "") -> str:
        value = self.row.pop(key, default)
        if not isinstance(value, str):
            raise DataError(f"{self.where}: {key} must be a text" if value is not None else f"{self.where} needs {key}")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        value = self.row.pop(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
            raise DataError(f"{self.where}: {key} must be a list of texts")
        return tuple(value)

    def flag(self, key: str) -> bool:
        value = self.row.pop(key, False)
        if not isinstance(value, bool):
            raise DataError(f"{self.where}: {key} must be true or false")
        return value

    def done(self, known: str) -> None:
        if self.row:
            key = next(iter(self.row))
            raise DataError(
                f"{self.where} has no setting {key!r}; {did_you_mean(key, known.split(), f'it has {known}')}"
            )


def _type(name: str, given: _Given) -> NodeType:
    singular = given.text("singular", name.replace("_", " "))
    role = given.text("role")
    found = NodeType(
        name, singular, given.text("plural", words.plural(singular)), given.texts("synonyms"),
        given.text("pronoun", "who" if singular == "person" or role else "that"), role,
    )  # fmt: skip
    given.done("singular plural synonyms pronoun role")
    return found


def _relation(name: str, given: _Given) -> Relation:
    source, target = given.text("from", None), given.text("to", None)
    head, _, rest = name.partition(" ")
    has_frame = any(key in given.row for key in ("verb", "noun", "of"))
    verb = given.text("verb", "" if has_frame else f"{words.base(head)} {rest}".strip())
    found = Relation(
        name, source, target, verb, given.texts("synonyms"), given.text("noun"), given.texts("noun_synonyms"),
        given.text("of"), given.texts("of_synonyms"), given.text("passive"), given.text("tense", "present"),
        given.text("past"), given.flag("functional"), given.flag("adjective"), given.flag("class"),
    )  # fmt: skip
    if found.tense not in ("present", "past"):
        raise DataError(f"{given.where}: tense must be present or past, got {found.tense!r}")
    given.done("from to verb synonyms noun noun_synonyms of of_synonyms passive tense past functional adjective class")
    return found


def _attribute(name: str, given: _Given) -> Attribute:
    found = Attribute(
        name, given.text("of", None), given.text("kind", "number"), given.text("noun", name.replace("_", " ")),
        given.texts("synonyms"), given.texts("larger"), given.texts("smaller"), given.texts("largest"),
        given.texts("smallest"),
    )  # fmt: skip
    if found.kind not in ("number", "date"):
        raise DataError(f"{given.where}: kind must be number or date, got {found.kind!r}")
    given.done("of kind noun synonyms larger smaller largest smallest")
    return found


def _known(name: str, known: Mapping[str, Any], where: str) -> None:
    if name not in known:
        raise ConfigError(f"{where} names {name!r}, which is not there; {did_you_mean(name, list(known), '')}")


def inferred(graph: TypedGraph, columns: Mapping[str, Column] | None = None) -> Schema:
    """A schema from a graph's own names: its types, or one for all ends of relations that share nodes.

    `columns` are the attributes of its nodes, which belong to the type that most of their nodes have.

    >>> from weft.graph.store import Builder
    >>> builder = Builder()
    >>> builder.add_all([("Mara Lind", "works for", "Nordvik"), ("Mara Lind", "friend of", "Ina Dahl")])
    >>> schema = inferred(builder.graph())
    >>> schema.relations["works for"].verb, schema.relations["friend of"].noun, len(schema.types)
    ('work for', 'friend', 3)
    """
    groups = _groups(graph)
    ends: dict[int, list[tuple[int, int]]] = {}
    for end, group in groups.items():
        ends.setdefault(group, []).append(end)
    types: dict[str, NodeType] = {}
    names: dict[int, str] = {}
    for group, members in ends.items():
        own = _graph_type(graph, members)
        noun, synonyms = naming.TYPES.get(own.upper(), (own, ())) if own else (_noun_of_ends(graph, members), ())
        name = own or (noun if noun not in types else f"{noun} {len(types)}")
        names[group] = name
        pronoun = "who" if noun == "person" else "that"
        types[name] = NodeType(name, noun, words.plural(noun), synonyms, pronoun)
    relations = {
        relation: _derived(relation, names[groups[number, 0]], names[groups[number, 1]])
        for number, relation in enumerate(graph.relations)
        if (number, 0) in groups
    }
    schema = Schema(types, relations, {}, "").bound(graph)
    for attribute, column in (columns or {}).items():
        kind = schema.node_types[column.nodes]
        counts = np.bincount(kind[kind >= 0], minlength=len(types))
        if counts.any():
            noun = attribute.replace("_", " ")
            schema.attributes[attribute] = Attribute(attribute, list(types)[int(counts.argmax())], column.kind, noun)
    schema.me = next((name for name, kind in types.items() if kind.singular == "person"), "")
    return schema


def _groups(graph: TypedGraph) -> dict[tuple[int, int], int]:
    """Groups of ends of relations (number, 0 source or 1 target), which become types.

    An end whose nodes have types is of the type that most of them have: what a model predicts is sometimes wrong, and
    one wrong edge must not make people of places. Ends without typed nodes are one group if they share a node.
    """
    parent: dict[object, object] = {}

    def root(key: object) -> object:
        while parent.setdefault(key, key) != key:
            key = parent[key]
        return key

    for number in range(len(graph.relations)):
        part = slice(int(graph.slices[number]), int(graph.slices[number + 1]))
        for side, nodes in enumerate((graph.sources[part], graph.targets[part])):
            if not len(nodes):
                continue
            kind = _usual_type(graph, nodes)
            for key in [("type", kind)] if kind else np.unique(nodes).tolist():
                parent[root(key)] = root((number, side))
    found: dict[tuple[int, int], int] = {}
    numbers: dict[object, int] = {}
    for key in list(parent):
        if isinstance(key, tuple) and isinstance(key[0], int):
            found[key] = numbers.setdefault(root(key), len(numbers))
    return dict(sorted(found.items()))


def _usual_type(graph: TypedGraph, nodes: Ids) -> str:
    """The type that most of those nodes have that have one; "" if none has."""
    counts = np.bincount(graph.type[nodes], minlength=len(graph.types))
    for number, name in enumerate(graph.types):
        if not name:
            counts[number] = 0
    return graph.types[int(counts.argmax())] if len(counts) and counts.max() else ""


def _graph_type(graph: TypedGraph, members: list[tuple[int, int]]) -> str:
    for number, side in members:
        part = slice(int(graph.slices[number]), int(graph.slices[number + 1]))
        if part.start < part.stop:
            return _usual_type(graph, (graph.targets if side else graph.sources)[part])
    return ""


def _noun_of_ends(graph: TypedGraph, members: list[tuple[int, int]]) -> str:
    firsts = {words.base(graph.relations[number].split(" ")[0]) for number, side in members if side == 0}
    return "person" if firsts & naming.PERSONAL else "thing"


def _derived(name: str, source: str, target: str) -> Relation:
    """A relation with the words that its name gives it."""
    found = naming.phrase_of(name)
    return Relation(
        name, source, target, found.verb, noun=found.noun, of=found.of, tense=found.tense, instance=found.instance
    )

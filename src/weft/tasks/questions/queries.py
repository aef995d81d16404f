"""A meaning as a query that people can run elsewhere: SQL, SPARQL or Cypher.

    SQL      tables  nodes(name, type)  edges(source, relation, target)  attributes(node, attribute, value)
    SPARQL   every node, relation, type and attribute is an IRI under one prefix; a node's type is `a`
    Cypher   nodes have a label and the property `name`; relations and attributes keep their names

Dates are texts such as 2004-01-01, which compare as dates do.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from urllib.parse import quote

from weft.errors import ConfigError
from weft.graph.attributes import date_of, day_of
from weft.tasks.questions.schema import Schema
from weft.tasks.questions.terms import VALUES, Term

LANGUAGES = ("sql", "sparql", "cypher")
PREFIX = "http://example.org/"


def query(term: Term, language: str, schema: Schema, name_of: Callable[[int], str], me: str | None = None) -> str:
    """A meaning in one of the languages; `name_of` names nodes, `me` is who asks.

    >>> from weft.tasks.questions.schema import schema_of
    >>> schema = schema_of({"type": {"cat": {}}, "relation": {"likes": {"from": "cat", "to": "cat"}}})
    >>> print(query(("sources", "likes", ("entity", 0)), "sql", schema, lambda node: "Tom's cat"))
    SELECT source AS node FROM edges WHERE relation = 'likes' AND target IN (SELECT 'Tom''s cat' AS node)
    """
    if language == "sql":
        return _Sql(schema, name_of, me).question(term)
    if language == "sparql":
        return _Sparql(schema, name_of, me).question(term)
    if language == "cypher":
        return _Cypher(schema, name_of, me).question(term)
    raise ConfigError(f"there is no language {language!r}; queries are written as {', '.join(LANGUAGES)}")


class _Language:
    def __init__(self, schema: Schema, name_of: Callable[[int], str], me: str | None) -> None:
        self.schema, self.name_of, self.me = schema, name_of, me
        self._fresh = count()

    def name(self, term: Term) -> str:
        return self.name_of(term[1]) if term[0] == "entity" else self.me or "?"

    def side(self, term: Term) -> str:
        relation = self.schema.relations[term[1]]
        return relation.source if term[2] == "out" else relation.target

    def fresh(self) -> str:
        return f"x{next(self._fresh)}"


def _literal(value: Term, quoted: str) -> str:
    if value[0] == "number":
        return f"{value[1]:g}"
    day = day_of(str(value[1]))
    return f"{quoted}{date_of(day) if day is not None else value[1]}{quoted}"


class _Sql(_Language):
    def text(self, value: str) -> str:
        return "'" + value.replace("'", "''") + "'"

    def question(self, term: Term) -> str:
        op = term[0]
        if op == "size":
            return f"SELECT count(DISTINCT node) FROM ({self.nodes(term[1])})"
        if op in VALUES:
            what = {"attribute": "node, value", "average": "avg(value)", "total": "sum(value)"}[op]
            return (f"SELECT {what} FROM attributes WHERE attribute = {self.text(term[1])} "
                    f"AND node IN ({self.nodes(term[2])})")  # fmt: skip
        return self.nodes(term)

    def nodes(self, term: Term) -> str:
        op = term[0]
        if op in ("entity", "me"):
            return f"SELECT {self.text(self.name(term))} AS node"
        if op == "all":
            return f"SELECT name AS node FROM nodes WHERE type = {self.text(term[1])}"
        if op in ("sources", "targets"):
            own, other = ("source", "target") if op == "sources" else ("target", "source")
            return (f"SELECT {own} AS node FROM edges WHERE relation = {self.text(term[1])} "
                    f"AND {other} IN ({self.nodes(term[2])})")  # fmt: skip
        if op == "or":
            return " UNION ".join(self.nodes(part) for part in term[1:])
        if op == "and":
            parts = [part for part in term[1:] if part[0] != "not"]
            conditions = [f"node IN ({self.nodes(part)})" for part in parts[1:]]
            conditions += [f"node NOT IN ({self.nodes(part[1])})" for part in term[1:] if part[0] == "not"]
            return f"SELECT node FROM ({self.nodes(parts[0])}) WHERE {' AND '.join(conditions)}"
        if op == "value":
            return f"SELECT node FROM attributes WHERE attribute = {self.text(term[1])} AND {self.compared(term)}"
        if op == "count":
            return (f"SELECT name AS node FROM nodes WHERE type = {self.text(self.side(term))} "
                    f"AND {self.measure(('count', *term[1:3]), 'name')} {term[3]} {term[4][1]:g}")  # fmt: skip
        inner = self.nodes(term[1])
        best = f"SELECT {term[3]}({self.measure(term[2], 'rival.node')}) FROM ({inner}) AS rival"
        return f"SELECT node FROM ({inner}) AS own WHERE {self.measure(term[2], 'own.node')} = ({best})"

    def compared(self, term: Term) -> str:
        value = term[3]
        if value[0] == "either":
            return "(" + " OR ".join(self.compared((*term[:3], part)) for part in value[1:]) + ")"
        if value[0] == "attribute":
            inner = f"SELECT value FROM attributes WHERE attribute = {self.text(value[1])}"
            other = f"{inner} AND node IN ({self.nodes(value[2])})"
            return f"EXISTS (SELECT 1 FROM ({other}) AS other WHERE attributes.value {term[2]} other.value)"
        return f"value {term[2]} {_literal(value, chr(39))}"

    def measure(self, measure: Term, node: str) -> str:
        if measure[0] == "value":
            return (
                f"(SELECT value FROM attributes AS a WHERE a.attribute = {self.text(measure[1])} AND a.node = {node})"
            )
        own, other = ("source", "target") if measure[2] == "out" else ("target", "source")
        return (f"(SELECT count(DISTINCT {other}) FROM edges WHERE relation = {self.text(measure[1])} "
                f"AND {own} = {node})")  # fmt: skip


class _Sparql(_Language):
    def iri(self, name: str) -> str:
        return f"<{PREFIX}{quote(name)}>"

    def question(self, term: Term) -> str:
        op, x = term[0], "?" + self.fresh()
        if op == "size":
            return f"SELECT (COUNT(DISTINCT {x}) AS ?number) WHERE {{ {self.nodes(term[1], x)} }}"
        if op in VALUES:
            what = {
                "attribute": f"{x} ?value",
                "average": "(AVG(?value) AS ?average)",
                "total": "(SUM(?value) AS ?total)",
            }
            return f"SELECT {what[op]} WHERE {{ {self.nodes(term[2], x)} {x} {self.iri(term[1])} ?value . }}"
        return f"SELECT DISTINCT {x} WHERE {{ {self.nodes(term, x)} }}"

    def nodes(self, term: Term, x: str) -> str:
        op = term[0]
        if op in ("entity", "me"):
            return f"VALUES {x} {{ {self.iri(self.name(term))} }}"
        if op == "all":
            return f"{x} a {self.iri(term[1])} ."
        if op in ("sources", "targets"):
            y = "?" + self.fresh()
            edge = f"{x} {self.iri(term[1])} {y}" if op == "sources" else f"{y} {self.iri(term[1])} {x}"
            return f"{self.nodes(term[2], y)} {edge} ."
        if op == "or":
            return " UNION ".join(f"{{ {self.nodes(part, x)} }}" for part in term[1:])
        if op == "and":
            parts = [self.nodes(part, x) for part in term[1:] if part[0] != "not"]
            parts += [f"FILTER NOT EXISTS {{ {self.nodes(part[1], x)} }}" for part in term[1:] if part[0] == "not"]
            return " ".join(parts)
        if op == "value":
            return self.value(term, x)
        if op == "count":
            y, n = "?" + self.fresh(), "?" + self.fresh()
            return (f"{{ SELECT {x} (COUNT(DISTINCT {y}) AS {n}) WHERE {{ {x} a {self.iri(self.side(term))} . "
                    f"OPTIONAL {{ {self.edge(term, x, y)} }} }} GROUP BY {x} }} "
                    f"FILTER ({n} {term[3]} {term[4][1]:g})")  # fmt: skip
        return self.most(term, x)

    def edge(self, term: Term, x: str, y: str) -> str:
        return f"{x} {self.iri(term[1])} {y} ." if term[2] == "out" else f"{y} {self.iri(term[1])} {x} ."

    def value(self, term: Term, x: str) -> str:
        v, value = "?" + self.fresh(), term[3]
        start = f"{x} {self.iri(term[1])} {v} ."
        if value[0] == "either":
            tests = " || ".join(f"{v} {term[2]} {_literal(part, chr(34))}" for part in value[1:])
            return f"{start} FILTER ({tests})"
        if value[0] == "attribute":
            y, w = "?" + self.fresh(), "?" + self.fresh()
            return f"{start} {self.nodes(value[2], y)} {y} {self.iri(value[1])} {w} . FILTER ({v} {term[2]} {w})"
        return f"{start} FILTER ({v} {term[2]} {_literal(value, chr(34))})"

    def most(self, term: Term, x: str) -> str:
        y, mine, other = ("?" + self.fresh() for _ in range(3))
        worse = "<" if term[3] == "max" else ">"

        def measured(node: str, number: str) -> str:
            inner = self.nodes(term[1], node)
            if term[2][0] == "value":
                return f"{inner} {node} {self.iri(term[2][1])} {number} ."
            z = "?" + self.fresh()
            return (f"{{ SELECT {node} (COUNT(DISTINCT {z}) AS {number}) WHERE {{ {inner} "
                    f"OPTIONAL {{ {self.edge(('count', *term[2][1:]), node, z)} }} }} GROUP BY {node} }}")  # fmt: skip

        return f"{measured(x, mine)} FILTER NOT EXISTS {{ {measured(y, other)} FILTER ({mine} {worse} {other}) }}"


class _Cypher(_Language):
    def text(self, value: str) -> str:
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"

    def named(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"

    def question(self, term: Term) -> str:
        op, x = term[0], self.fresh()
        if op == "size":
            return f"MATCH ({x}) WHERE {self.holds(term[1], x)} RETURN count(DISTINCT {x})"
        if op in VALUES:
            value = f"{x}.{self.named(term[1])}"
            what = {"attribute": f"{x}.name, {value}", "average": f"avg({value})", "total": f"sum({value})"}[op]
            return f"MATCH ({x}) WHERE {self.holds(term[2], x)} RETURN {what}"
        return f"MATCH ({x}) WHERE {self.holds(term, x)} RETURN DISTINCT {x}.name"

    def holds(self, term: Term, x: str) -> str:
        op = term[0]
        if op in ("entity", "me"):
            return f"{x}.name = {self.text(self.name(term))}"
        if op == "all":
            return f"{x}:{self.named(term[1])}"
        if op in ("sources", "targets"):
            y = self.fresh()
            edge = f"-[:{self.named(term[1])}]->" if op == "sources" else f"<-[:{self.named(term[1])}]-"
            return f"EXISTS {{ MATCH ({x}){edge}({y}) WHERE {self.holds(term[2], y)} }}"
        if op in ("and", "or"):
            return "(" + f" {op.upper()} ".join(self.holds(part, x) for part in term[1:]) + ")"
        if op == "not":
            return f"NOT {self.holds(term[1], x)}"
        if op == "value":
            return self.value(term, x)
        if op == "count":
            number = f"{self.measure(('count', *term[1:3]), x)} {term[3]} {term[4][1]:g}"
            return f"({x}:{self.named(self.side(term))} AND {number})"
        y = self.fresh()
        better = ">" if term[3] == "max" else "<"
        own, other = self.measure(term[2], x), self.measure(term[2], y)
        rival = f"NOT EXISTS {{ MATCH ({y}) WHERE {self.holds(term[1], y)} AND {other} {better} {own} }}"
        return f"({self.holds(term[1], x)} AND {own} IS NOT NULL AND {rival})"

    def value(self, term: Term, x: str) -> str:
        value, own = term[3], f"{x}.{self.named(term[1])}"
        if value[0] == "either":
            return "(" + " OR ".join(self.value((*term[:3], part), x) for part in value[1:]) + ")"
        op = "<>" if term[2] == "!=" else term[2]
        if value[0] == "attribute":
            y = self.fresh()
            return f"EXISTS {{ MATCH ({y}) WHERE {self.holds(value[2], y)} AND {own} {op} {y}.{self.named(value[1])} }}"
        return f"{own} {op} {_literal(value, chr(39))}"

    def measure(self, measure: Term, x: str) -> str:
        if measure[0] == "value":
            return f"{x}.{self.named(measure[1])}"
        edge = f"-[:{self.named(measure[1])}]->" if measure[2] == "out" else f"<-[:{self.named(measure[1])}]-"
        return f"COUNT {{ ({x}){edge}() }}"

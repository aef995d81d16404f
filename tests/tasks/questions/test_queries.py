"""Queries in other languages: SQL is run by SQLite and answers as the evaluator does."""

import sqlite3

import pytest

from weft.errors import ConfigError
from weft.graph.attributes import date_of, read_attributes
from weft.graph.triples import read_graph
from weft.tasks.questions.asking import Questions
from weft.tasks.questions.queries import query
from weft.tasks.questions.schema import read_schema
from weft.tasks.questions.view import Store

ASKED = [
    "people who studied in Bergen and work for a shipping company", "people who do not live in Bergen",
    "cities that my friends live in", "number of people who live in Bergen", "birth date of Ole Berg",
    "people born after 1985", "oldest people who live in Bergen", "companies that at least 2 people work for",
    "companies that the most people work for", "people born after ole berg's birth date", "my friends",
]  # fmt: skip


@pytest.fixture(scope="module")
def town():
    graph = read_graph("examples/graph/town.tsv")
    columns = read_attributes(graph, "examples/graph/town-attributes.tsv")
    return Questions(Store(graph, read_schema("examples/graph/town.toml"), columns=columns))


@pytest.fixture(scope="module")
def database(town):
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE nodes (name, type)")
    base.execute("CREATE TABLE edges (source, relation, target)")
    base.execute("CREATE TABLE attributes (node, attribute, value)")
    names, schema = town.store.graph.names, town.store.schema
    base.executemany("INSERT INTO nodes VALUES (?, ?)", [(names[n], schema.type_of_node(n)) for n in range(len(names))])
    base.executemany("INSERT INTO edges VALUES (?, ?, ?)", [edge[:3] for edge in town.store.graph.edges()])
    for attribute, column in town.store.columns.items():
        rows = [(names[int(n)], attribute, date_of(v)) for n, v in zip(column.nodes, column.values, strict=True)]
        base.executemany("INSERT INTO attributes VALUES (?, ?, ?)", rows)
    return base


@pytest.mark.parametrize("text", ASKED)
def test_sql_answers_as_the_evaluator_does(town, database, text):
    me = town.user("Mara Lind")
    best, _ = town.understand(text, me)
    names = town.store.graph.names
    sql = query(best.term, "sql", town.store.schema, lambda node: names[node], "Mara Lind")
    found = {tuple(map(str, row)) for row in database.execute(sql)}
    answer = town.answer(best.term, me)
    if answer.values:
        expected = {(names[node], value) if node is not None else (value,) for node, value in answer.values}
    else:
        expected = {(names[node],) for node in answer.nodes}
    assert expected
    assert found == expected


@pytest.mark.parametrize("text", ASKED)
@pytest.mark.parametrize("language", ["sparql", "cypher"])
def test_the_other_languages_name_what_the_question_names(town, text, language):
    best, _ = town.understand(text, town.user("Mara Lind"))
    written = query(best.term, language, town.store.schema, lambda node: town.store.graph.names[node], "Mara Lind")
    assert written.startswith("SELECT" if language == "sparql" else "MATCH")
    assert written.count("{") == written.count("}")
    assert written.count("(") == written.count(")")


def test_quotes_in_names_are_escaped(town):
    schema = town.store.schema
    assert "'O''Hara'" in query(("entity", 0), "sql", schema, lambda node: "O'Hara")
    assert "O%27Hara" in query(("entity", 0), "sparql", schema, lambda node: "O'Hara")
    assert "O\\'Hara" in query(("entity", 0), "cypher", schema, lambda node: "O'Hara")


def test_an_unknown_language_is_an_error(town):
    with pytest.raises(ConfigError, match="sql, sparql, cypher"):
        query(("me",), "prolog", town.store.schema, str)

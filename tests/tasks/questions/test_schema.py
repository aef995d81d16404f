"""Schemas: read from TOML with plain errors, or derived from a graph's own names."""

import tomllib

import pytest

from weft.errors import DataError
from weft.graph.store import Builder
from weft.graph.triples import read_graph
from weft.tasks.questions.place import load_questions
from weft.tasks.questions.schema import inferred, read_schema, schema_of
from weft.tasks.questions.view import Store


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "not TOML"),
        ("types = 1", "has 'types'"),
        ("[type.cat]\nplurals = 'x'", "no setting 'plurals'"),
        ("[type.cat]\n[relation.likes]\nfrom = 'cat'", "needs to"),
        ("[type.cat]\n[relation.likes]\nfrom = 'cat'\nto = 'dog'", "names 'dog'"),
        ("[type.cat]\n[relation.likes]\nfrom = 'cat'\nto = 'cat'\nfunctional = 1", "true or false"),
        ("[type.cat]\n[relation.likes]\nfrom = 'cat'\nto = 'cat'\ntense = 'never'", "present or past"),
        ("[type.cat]\nsynonyms = 'x'", "list of texts"),
        ("[type.cat]\n[attribute.age]\nof = 'cat'\nkind = 'text'", "number or date"),
        ("[type.cat]\nrole = 'owner'", "names 'owner'"),
        ("me = 'dog'", "names 'dog'"),
        ("type = 3", "expected tables"),
    ],
)
def test_what_is_wrong_in_a_schema_is_named(tmp_path, text, message):
    (tmp_path / "schema.toml").write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        read_schema(tmp_path / "schema.toml")
    assert "schema.toml" in str(caught.value)


def test_a_schema_is_derived_from_names_of_relations():
    schema = inferred(read_graph("examples/graph/harbour.tsv"))
    verbs = {name: (relation.verb, relation.noun, relation.tense) for name, relation in schema.relations.items()}
    assert verbs["works for"] == ("work for", "", "present")
    assert verbs["studied in"] == ("study in", "", "past")
    assert verbs["friend of"] == ("", "friend", "present")
    assert schema.me == "person"
    questions = load_questions("examples/graph/harbour.tsv")
    assert questions.suggest("who studid in bergen")[0].text == "people who studied in Bergen"


def test_nodes_without_edges_and_relations_without_words_are_no_error():
    builder = Builder()
    builder.node("Alone")
    builder.add("a", "r", "b")
    graph = builder.graph()
    store = Store(graph, inferred(graph))
    assert store.schema.type_of_node(graph.names.find("Alone")) == ""
    assert load_questions("examples/graph/harbour.tsv").suggest("alone in the dark", complete=True) is not None


def test_types_of_a_graph_win_over_those_of_edges():
    builder = Builder()
    builder.add("Bo", "likes", "Cy")
    builder.type("Cy", "dog")
    schema = schema_of(tomllib.loads('[type.cat]\n[type.dog]\n[relation.likes]\nfrom = "cat"\nto = "cat"\n')).bound(
        builder.graph()
    )
    assert [schema.type_of_node(node) for node in (0, 1)] == ["cat", "dog"]

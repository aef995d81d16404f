"""Typed graphs: what is added is there, by relation and together, after saving, loading and mapping."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft import storage
from weft.errors import ConfigError, DataError, FormatError, ModelError
from weft.graph.store import Builder, TypedGraph, counted, rows_of
from weft.graph.strings import Strings
from weft.graph.triples import read_edges, read_graph

EDGES = st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("rst"), st.sampled_from("abcdef")), max_size=25)


def built(edges) -> TypedGraph:
    builder = Builder()
    builder.add_all(edges)
    return builder.graph()


@settings(max_examples=60, deadline=None)
@given(EDGES)
def test_rows_hold_the_edges_of_a_relation_and_of_all(edges):
    graph = built(edges)
    assert sorted((s, r, t) for s, r, t, _ in graph.edges()) == sorted(edges)
    for relation in graph.relations:
        rows = graph.rows(relation)
        found = {(graph.names[u], graph.names[v]) for u in range(graph.n_nodes) for v in rows.of(u)}
        assert found == {(s, t) for s, r, t in edges if r == relation}
        assert rows.weights.sum() == sum(r == relation for _, r, _ in edges)
    if edges:
        rows = graph.rows()
        every = {(graph.names[u], graph.names[v]) for u in range(graph.n_nodes) for v in rows.of(u)}
        assert every == {(s, t) for s, _, t in edges}
        back = rows.reversed()
        assert {(t, s) for s, t in every} == {
            (graph.names[u], graph.names[v]) for u in range(graph.n_nodes) for v in back.of(u)
        }


@pytest.mark.parametrize("mapped", [False, True])
def test_a_saved_graph_is_the_same_loaded_and_mapped(tmp_path, mapped):
    builder = Builder()
    builder.add("Zürich", "in", "Schweiz", 2.5)
    builder.type("Zürich", "city")
    builder.node("alone")
    graph = builder.graph()
    graph.save(tmp_path / "g.weft")
    again = TypedGraph.load(tmp_path / "g.weft", mapped)
    assert list(again.edges()) == list(graph.edges()) == [("Zürich", "in", "Schweiz", 2.5)]
    assert [again.type_of(node) for node in range(3)] == ["city", "", ""]
    assert counted(again) == counted(graph)
    assert isinstance(again.sources, np.memmap) == mapped


@pytest.mark.parametrize(
    ("name", "value"),
    [("sources", 9), ("targets", -1), ("type", 5), ("slices", 7), ("weights", np.inf), ("names/offsets", 99)],
)
@pytest.mark.parametrize("mapped", [False, True])
def test_hostile_files_are_refused(tmp_path, name, value, mapped):
    graph = built([("a", "r", "b"), ("b", "r", "c")])
    graph.save(tmp_path / "g.weft")
    header, arrays = storage.load(tmp_path / "g.weft")
    header.pop("checksums")
    broken = {key: np.array(array) for key, array in arrays.items()}
    broken[name][0] = value
    storage.save(tmp_path / "bad.weft", header, broken)
    with pytest.raises(ModelError):
        TypedGraph.load(tmp_path / "bad.weft", mapped)


def test_unknown_relations_and_bad_weights_are_plain_errors():
    with pytest.raises(ConfigError, match="did you mean knows"):
        built([("a", "knows", "b")]).rows("know")
    with pytest.raises(DataError, match="weight above 0"):
        Builder().add("a", "r", "b", 0.0)
    with pytest.raises(DataError, match="nodes 0 to 1"):
        rows_of(2, np.array([0]), np.array([2]), np.ones(1, np.float32))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=6)))
def test_strings_are_found_by_number_and_by_text(texts):
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    strings = Strings.of(texts)
    assert list(strings) == texts
    for text in texts:
        assert strings.find(text) == texts.index(text)
    assert strings.find("never there") == -1


def test_edges_are_read_from_three_formats(tmp_path):
    (tmp_path / "a.tsv").write_text("# names\nMario\tplays for\tBayern\t2\nMario\tBayern\n", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"source": "Mario", "target": "Bayern", "relation": "r"}\n', encoding="utf-8")
    (tmp_path / "c.nt").write_text(
        "<http://x.org/Mario_G%C3%B3mez> <http://x.org/p#playsFor> <http://x.org/Bayern> .\n"
        '<http://x.org/Bayern> <http://w3.org/label> "Bayern \\u004Dunich \\"FC\\""@de . # a comment\n'
        '_:b0 <http://w3.org/age> "3"^^<http://w3.org/integer> .\n',
        encoding="utf-8",
    )
    assert [tuple(edge)[:4] for edge in read_edges(tmp_path / "a.tsv")] == [
        ("Mario", "plays for", "Bayern", 2.0),
        ("Mario", "linked", "Bayern", 1.0),
    ]
    assert list(read_graph(tmp_path / "b.jsonl").edges()) == [("Mario", "r", "Bayern", 1.0)]
    first, label, age = read_edges(tmp_path / "c.nt")
    assert first[:6] == ("Mario Gómez", "playsFor", "Bayern", 1.0, False, "")
    assert label[:6] == ("Bayern", "label", 'Bayern Munich "FC"', 1.0, True, "de")
    assert age[2:5] == ("3", 1.0, True)
    assert read_graph(tmp_path / "c.nt").n_edges == 1


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("a.tsv", "a\tb\na\n", 2),
        ("a.tsv", "a\tr\tb\t-1\n", 1),
        ("a.tsv", "a\tr\tb\tmuch\n", 1),
        ("a.jsonl", '{"source": "a"}\n', 1),
        ("a.jsonl", "[1\n", 1),
        ("a.nt", "<a> <b> .\n", 1),
    ],
)
def test_bad_lines_are_named(tmp_path, name, text, line):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=f"line {line}:"):
        list(read_edges(tmp_path / name))


def test_missing_and_unknown_files_are_plain_errors(tmp_path):
    with pytest.raises(DataError, match="cannot read"):
        list(read_edges(tmp_path / "none.tsv"))
    with pytest.raises(DataError, match="cannot tell the format"):
        list(read_edges(tmp_path / "a.png"))

"""Graphs of pairs, columns and attributes; and what their propagation says of the sheet's example."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import FormatError
from weft.graph.propagation.classes import classes
from weft.graph.store import Builder
from weft.lexical.instances.columns import Column
from weft.lexical.instances.graphs import (
    add_attributes,
    add_columns,
    add_graph,
    add_pairs,
    builder_of,
    pairs_of,
    read_pairs,
)


def test_pairs_of_several_extractors_add_up_and_their_ends_have_types() -> None:
    builder = Builder()
    assert add_pairs(builder, [("a", "x", 0.5), ("x", "x", 1.0)]) == 1
    add_pairs(builder, [("a", "x", 0.25)])
    graph = builder.graph()
    assert graph.rows().weights.tolist() == [0.75]
    assert graph.type_of(graph.names.find("x")) == "class"
    assert len(pairs_of(graph)) == 2


def test_rare_cells_are_left_out() -> None:
    builder = Builder()
    assert add_columns(builder, [Column.of("one", "s", ["a", "b"]), Column.of("two", "s", ["a"])], least=2) == 2
    assert builder.graph().names.find("b") == -1


def test_graphs_are_joined_with_their_types() -> None:
    one, two = Builder(), Builder()
    add_pairs(one, [("a", "x", 1.0)])
    add_attributes(two, [("a", "tall")])
    two.node("alone")
    joined = builder_of(one.graph())
    add_graph(joined, two.graph())
    graph = joined.graph()
    assert graph.n_edges == 2
    assert graph.names.find("alone") >= 0
    assert graph.type_of(graph.names.find("attribute: tall")) == "attribute"


@pytest.mark.parametrize("method", ["lp", "adsorption", "mad"])
def test_an_attribute_pulls_one_person_to_a_class_and_not_another(method: str) -> None:
    builder = Builder()
    people, films = ["newton", "dylan", "cash"], ["dylan"]
    add_columns(builder, [Column.of("people: name", "p", people), Column.of("films: composer", "f", films)])
    seeds = [("dylan", "musician"), ("newton", "scientist")]
    before = {each.label: each.score for each in classes(builder.graph(), seeds, method).of("cash")}
    add_attributes(builder, [("dylan", "albums"), ("cash", "albums")])
    found = classes(builder.graph(), seeds, method)
    after = {each.label: each.score for each in found.of("cash")}
    assert found.answer("cash") == "musician"
    assert after["musician"] / after["scientist"] > 1.5 * before["musician"] / before["scientist"]
    assert found.answer("newton") == "scientist"


@pytest.mark.parametrize("line", ["a", "a\tb\tc\td", "a\tb\t0", "a\tb\tmany", "a\tb\tnan", "\tb"])
def test_a_broken_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "p.tsv").write_text(f"# two names\n\na\tb\t2\n{line}\n", encoding="utf-8")
    with pytest.raises(FormatError, match="4"):
        read_pairs(tmp_path / "p.tsv")

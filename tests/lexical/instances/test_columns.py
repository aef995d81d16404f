"""Columns of tables scored against classes, and read from files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.errors import ConfigError, DataError, FormatError
from weft.lexical.instances.columns import Column, ColumnScorer, known_instances, read_columns

KNOWN = {
    "city": ["bergen", "oslo", "turku", "ulm"],
    "port": ["bergen", "oslo", "kiel"],
    "river": ["glomma", "vosso", "aura"],
    "team": ["brann", "oslo"],
}


@pytest.mark.must_show("adsorption-class-instances", 4)
def test_scores_of_a_table_made_by_hand() -> None:
    scorer = ColumnScorer(KNOWN, least=2)
    # Two cities, two ports, one team: the team falls below the bound; the union of cities and ports has five members.
    assert scorer.scores(Column.of("t", "s", ["bergen", "oslo", "bodø"])) == {"city": 4 / 5, "port": 4 / 5}
    assert scorer.scores(Column.of("t", "s", ["bergen", "glomma"])) == {}
    # Three cities and two ports of the same union.
    assert scorer.scores(Column.of("t", "s", ["bergen", "oslo", "turku"])) == {"city": 9 / 5, "port": 4 / 5}


@pytest.mark.must_show("adsorption-class-instances", 4)
def test_unrelated_classes_cost_a_column_more_than_overlapping_ones() -> None:
    scorer = ColumnScorer(KNOWN)
    coherent = scorer.scores(Column.of("t", "s", ["turku", "ulm", "fjell", "vidde"]))["city"]
    overlapping = scorer.scores(Column.of("t", "s", ["bergen", "oslo", "fjell", "vidde"]))["city"]
    mixed = scorer.scores(Column.of("t", "s", ["turku", "ulm", "glomma", "vosso"]))["city"]
    assert (coherent, overlapping, mixed) == (4 / 4, 4 / 5, 4 / 7)


@pytest.mark.must_show("adsorption-class-instances", 4)
def test_cells_sum_the_scores_of_their_columns_over_the_best_of_their_class() -> None:
    columns = [
        Column.of("a", "one", ["turku", "ulm", "bodø"]),
        Column.of("b", "two", ["turku", "ulm", "bodø", "alta"]),
        Column.of("c", "two", ["turku", "ulm", "alta"]),
    ]
    found = {instance: weight for instance, _, weight in ColumnScorer(KNOWN).pairs(columns, sources=1)}
    assert found == {"turku": 1.0, "ulm": 1.0, "bodø": 2 / 3, "alta": 2 / 3}
    # "alta" stands in two columns of one source only.
    assert {pair[0] for pair in ColumnScorer(KNOWN).pairs(columns, sources=2)} == {"turku", "ulm", "bodø"}


def test_sources_count_with_the_class_or_without() -> None:
    columns = [Column.of("a", "one", ["turku", "ulm", "bodø"]), Column.of("b", "two", ["bodø", "x"])]
    assert {pair[0] for pair in ColumnScorer(KNOWN).pairs(columns, 2)} == {"bodø"}
    assert ColumnScorer(KNOWN).pairs(columns, 2, together=True) == []


def test_known_instances_need_weight_and_number() -> None:
    pairs = [("a", "x", 5.0), ("b", "x", 5.0), ("c", "x", 1.0), ("a", "y", 9.0)]
    assert known_instances(pairs, 2.0, 2) == {"x": {"a", "b"}}


def test_tables_are_read_from_lines_of_json(tmp_path: Path) -> None:
    path = tmp_path / "tables.jsonl"
    table = {"source": "site", "header": ["a", "b"], "rows": [["1", "2"], ["1", ""]]}
    path.write_text(json.dumps(table) + "\n\n" + json.dumps({**table, "source": ""}) + "\n", encoding="utf-8")
    found = list(read_columns(path))
    assert [(column.source, column.cells) for column in found] == [
        ("site", ("1",)), ("site", ("2",)), ("tables 3", ("1",)), ("tables 3", ("2",)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("t.csv", "a,b\n1,2\n1\n", 3),
        ("t.tsv", "\t\n", 1),
        ("t.csv", "", 1),
        ("t.jsonl", '{"header": ["a"], "rows": [["1", "2"]]}\n', 1),
        ("t.jsonl", '{"header": ["a"], "rows": [["1"]]}\n[]\n', 2),
        ("t.jsonl", '{"header": ["a"], "rows": [[1]]}\n', 1),
        ("t.jsonl", "no\n", 1),
    ],
)
def test_broken_tables_are_named_with_their_line(tmp_path: Path, name: str, text: str, line: int) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=f"{name}:{line}|{name}.*line {line}|{name}, line {line}"):
        list(read_columns(tmp_path / name))


def test_bad_bounds_and_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        ColumnScorer(KNOWN, least=0)
    with pytest.raises(ConfigError):
        ColumnScorer(KNOWN).pairs([], sources=0)
    with pytest.raises(DataError, match=r"\.csv"):
        list(read_columns(tmp_path / "t.xlsx"))

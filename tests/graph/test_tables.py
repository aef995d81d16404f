"""Tables as graphs: edges per row, things per row, windows of time; what is broken is named with its line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weft.errors import DataError, FormatError
from weft.graph.days import ALWAYS, Window, date_of, day, window_of
from weft.graph.store import Builder, TypedGraph, rows_of
from weft.graph.strings import Strings
from weft.graph.triples import read_edges, read_graph

CSV = "target,relation,source,begin,end,weight\nNordvik,works for,Mara,2001,2004-03,2\nBergen,lives in,Mara,,,\n"


def test_columns_are_found_by_name_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(CSV, encoding="utf-8")
    (tmp_path / "b.csv").write_text('﻿Subject;Object\n"Lind; Mara";Bergen\n\n', encoding="utf-8")
    (tmp_path / "c.tsv").write_text("# people\nsubject\tpredicate\tobject\nMara\tknows\tOle\n", encoding="utf-8")
    graph = read_graph(tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.tsv")
    assert sorted(graph.edges()) == [
        ("Lind; Mara", "linked", "Bergen", 1.0), ("Mara", "knows", "Ole", 1.0), ("Mara", "lives in", "Bergen", 1.0),
        ("Mara", "works for", "Nordvik", 2.0),
    ]  # fmt: skip
    windows = {edge[1]: graph.window(k) for k, edge in enumerate(graph.edges())}
    assert windows["works for"] == Window(day("2001-01-01"), day("2004-03-31"))
    assert windows["lives in"] == windows["linked"] == ALWAYS


def test_rows_of_things_become_one_edge_per_cell(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "name,age,languages,home\nMara,41,Norwegian|Dutch,Bergen\nOle,,,\n", encoding="utf-8"
    )
    found = [edge[:3] for edge in read_edges(tmp_path / "a.csv", identity="name")]
    assert found == [("Mara", "languages", "Norwegian"), ("Mara", "languages", "Dutch"), ("Mara", "home", "Bergen")]


def test_parquet_holds_the_same_tables(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"source": ["Mara", "Mara"], "relation": ["works for", "knows"], "target": ["Nordvik", "Ole"],
               "weight": [2.0, None], "begin": ["2001", None]}  # fmt: skip
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet")
    graph = read_graph(tmp_path / "a.parquet")
    assert list(graph.edges()) == [("Mara", "knows", "Ole", 1.0), ("Mara", "works for", "Nordvik", 2.0)]
    assert graph.window(1) == Window(day("2001"), ALWAYS.last)
    (tmp_path / "b.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(DataError, match="as Parquet"):
        list(read_edges(tmp_path / "b.parquet"))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "source,target\na\n", "line 2"),
        ("a.csv", "source,target\na,\n", "line 2"),
        ("a.csv", "source,target,weight\na,b,-1\n", "weight above 0"),
        ("a.csv", "source,target,begin\na,b,soon\n", "dates such as"),
        ("a.csv", "source,target,begin,end\na,b,2004,2001\n", "cannot end"),
        ("a.csv", "name,age\nMara,41\n", "--id COLUMN"),
        ("a.csv", "", "--id COLUMN"),
        ("a.tsv", "a\tr\tb\t1\t2001\t2002\t7\n", "line 1"),
        ("a.tsv", "a\tr\tb\t1\tsoon\n", "dates such as"),
        ("a.jsonl", '{"source": "a", "target": "b", "begin": "x"}\n', "dates such as"),
    ],
)
def test_broken_tables_are_named_with_their_lines(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises((FormatError, DataError), match=message):
        list(read_edges(tmp_path / name))


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,home\nMara,Bergen\n", encoding="utf-8")
    with pytest.raises(DataError, match="did you mean name"):
        list(read_edges(tmp_path / "a.csv", identity="nam"))


@pytest.mark.parametrize("mapped", [False, True])
def test_windows_are_kept_in_files_and_choose_edges(tmp_path: Path, mapped: bool) -> None:
    builder = Builder()
    builder.add("Mara", "lives in", "Bergen")
    builder.add("Mara", "works for", "Nordvik", window=window_of("2001", "2004"))
    builder.add("Mara", "works for", "Museum", window=window_of("2005", ""))
    builder.graph().save(tmp_path / "g.weft")
    graph = TypedGraph.load(tmp_path / "g.weft", mapped)
    told = {graph.names[graph.targets[k]]: [date_of(each) for each in graph.window(k)] for k in range(graph.n_edges)}
    assert told == {"Bergen": ["", ""], "Nordvik": ["2001-01-01", "2004-12-31"], "Museum": ["2005-01-01", ""]}

    def during(first: str, last: str) -> set[str]:
        return {edge[2] for edge in graph.during(day(first), day(last, last=True)).edges()}

    assert during("1990", "1999") == {"Bergen"}
    assert during("2003", "2003") == {"Bergen", "Nordvik"}
    assert during("2004", "2005") == {"Bergen", "Nordvik", "Museum"}
    assert graph.during(day("1990"), day("1999")).rows("works for").targets.tolist() == []


def test_edges_of_arrays_are_sorted_whatever_their_order() -> None:
    draw = np.random.default_rng(0)
    n, size = 50, 4000
    arrays = [draw.integers(limit, size=size).astype(np.int32) for limit in (3, n, n)]
    names = Strings.of([f"n{k}" for k in range(n)])
    weights = draw.random(size).astype(np.float32)
    graph = TypedGraph.of_arrays(names, ["t", "r", "s"], *arrays, weights)
    assert graph.relations == ["r", "s", "t"]
    order = np.lexsort((arrays[2], arrays[1], np.array([2, 0, 1])[arrays[0]]))
    assert graph.sources.tolist() == arrays[1][order].tolist()
    assert graph.targets.tolist() == arrays[2][order].tolist()
    assert graph.weights.tolist() == weights[order].tolist()
    own = arrays[0] == 1
    for inverse in (False, True):
        ends = (arrays[2], arrays[1]) if inverse else (arrays[1], arrays[2])
        wanted = rows_of(n, ends[0][own], ends[1][own], weights[own])
        found = graph.rows("r", inverse=inverse)
        assert found.targets.tolist() == wanted.targets.tolist()
        assert np.allclose(found.weights, wanted.weights)
    with pytest.raises(DataError, match="nodes 0 to 49"):
        TypedGraph.of_arrays(names, ["r"], np.zeros(1, np.int32), np.array([50], np.int32), np.zeros(1, np.int32),
                             np.ones(1, np.float32))  # fmt: skip


def test_rows_of_a_mapped_relation_are_parts_of_the_file(tmp_path: Path) -> None:
    builder = Builder()
    builder.add_all([("a", "r", "b"), ("a", "r", "c"), ("b", "s", "c")])
    builder.graph().save(tmp_path / "g.weft")
    graph = TypedGraph.load(tmp_path / "g.weft", mapped=True)
    assert isinstance(graph.rows("r").targets, np.memmap)


def test_building_takes_steps_in_proportion_to_edges() -> None:
    """A pass counts and a pass moves, for each of three keys: nothing is compared."""
    from steps import steps_of

    from weft.graph import store

    def lines(size: int) -> int:
        keys = np.arange(size, dtype=np.int32) % 7
        place, into = np.arange(size, dtype=np.int32), np.empty(size, np.int32)
        return steps_of(lambda: store._by_counting(keys, place, into, np.zeros(8, np.int64)))

    few, many = lines(500), lines(5000)
    assert many < 10.5 * few

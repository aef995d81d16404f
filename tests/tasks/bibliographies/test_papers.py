"""Tables of papers in all formats, their terms, and the typed graph that they become."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weft.errors import ConfigError, DataError, FormatError
from weft.tasks.bibliographies.papers import Paper, is_table_of_papers, read_papers
from weft.tasks.bibliographies.people import people_of_name
from weft.tasks.bibliographies.schema import bibliography
from weft.tasks.bibliographies.terms import single_terms, title_terms

ROWS = [
    {"id": "p1", "title": "Tides, and winds", "year": 1999, "venue": ["Sea", "Air"], "authors": ["Mara", "Ole"],
     "institutions": ["Nordvik", ""], "cites": []},
    {"id": "p2", "title": "Winds", "year": None, "venue": ["Air"], "authors": ["Mara"], "institutions": ["Nordvik"],
     "cites": ["p1", "p1", "p9", "p2"]},
]  # fmt: skip
WANTED = [
    Paper("p1", "Tides, and winds", 1999, ("Sea", "Air"), ("Mara", "Ole"), ("Nordvik", ""), ()),
    Paper("p2", "Winds", None, ("Air",), ("Mara",), ("Nordvik",), ("p1", "p9", "p2")),
]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_papers_are_the_same_from_all_formats(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"papers{suffix}"
    if suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        parquet.write_table(arrow.Table.from_pylist(ROWS), path)
    elif suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    else:
        cells = [[*ROWS[0]]]
        for row in ROWS:
            cells.append(["; ".join(v) if isinstance(v, list) else "" if v is None else str(v) for v in row.values()])
        if suffix == ".csv":
            cells = [[f'"{cell}"' for cell in row] for row in cells]
        path.write_text("\n".join(("," if suffix == ".csv" else "\t").join(row) for row in cells), encoding="utf-8")
    assert read_papers(path) == WANTED
    assert is_table_of_papers(path)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "id,title\np1,A\np1,B\n", "line 3: expected an id of its own"),
        ("a.csv", "id,title\np1,A,B\n", "line 2: expected 2 cells, found 3"),
        ("a.csv", "id,name\np1,A\n", "line 1: expected a column authors or title"),
        ("a.csv", "id,title,year\np1,A,soon\n", "line 2: expected a year, found soon"),
        ("a.csv", "id,title,year\np1,A,inf\n", "line 2: expected a year"),
        ("a.jsonl", '{"title": "A"}\n[1]\n', "line 2: expected an object of JSON"),
        ("a.jsonl", '{"title": {"x": 1}}\n', "line 1: expected a text"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=said):
        read_papers(tmp_path / name)


def test_missing_empty_and_foreign_files_are_plain_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no table"):
        read_papers(tmp_path / "none.csv")
    (tmp_path / "empty.csv").write_text("id,title\n")
    with pytest.raises(DataError, match="has no papers"):
        read_papers(tmp_path / "empty.csv")
    (tmp_path / "a.parquet").write_text("no")
    with pytest.raises(DataError, match="not a Parquet file"):
        read_papers(tmp_path / "a.parquet")
    (tmp_path / "edges.tsv").write_text("a\tr\tb\n")
    assert not is_table_of_papers(tmp_path / "edges.tsv")


def test_a_bibliography_has_types_weights_and_joint_venues() -> None:
    found = bibliography(WANTED, [["winds"], ["winds", "Sea"]])
    edges = {(source, relation, target): weight for source, relation, target, weight in found.graph.edges()}
    assert edges == {
        ("Mara", "writes", "p1"): 1, ("Ole", "writes", "p1"): 1, ("Mara", "writes", "p2"): 1,
        ("p2", "cites", "p1"): 1, ("p1", "published in", "Sea"): 1, ("p1", "published in", "Air"): 1,
        ("p2", "published in", "Air"): 1, ("Mara", "affiliated with", "Nordvik"): 2,
        ("p1", "contains", "winds"): 1, ("p2", "contains", "winds"): 1, ("p2", "contains", "Sea (term)"): 1,
    }  # fmt: skip
    assert found.years() == {int(found.nodes[0]): 1999}
    assert [found.graph.names[node] for node in found.of_type("venue").tolist()] == ["Sea", "Air"]


def test_terms_are_runs_of_frequent_words_that_matter() -> None:
    titles = ["Machine translation of tides", "On machine translation", "Statistical machine translation", "Tides"]
    found = title_terms(titles, least=2, share=1.0)
    assert found == [["machine translation", "tides"], ["machine translation"], ["machine translation"], ["tides"]]
    assert title_terms(titles, least=2, most=2, share=1.0) == [["tides"], [], [], ["tides"]]
    assert title_terms(["", "of the"], least=1) == [[], []]
    assert single_terms(titles, 2, 2) == [["tides"], [], [], ["tides"]]
    with pytest.raises(ConfigError, match="share"):
        title_terms(titles, share=0.0)


def test_names_without_papers_and_bad_numbers_are_plain_errors() -> None:
    graph = bibliography([*WANTED, Paper("p3")]).graph
    with pytest.raises(DataError, match="'p3' has no neighbours"):
        people_of_name(graph, "p3")
    with pytest.raises(ConfigError, match="1 or above"):
        people_of_name(graph, "Mara", numbers=[0])
    [person] = people_of_name(graph, "Ole", numbers=[1])
    assert person.papers == ("p1",)

"""`weft graph rank`, `disambiguate` and `topics`, on tables of papers, typed graphs and edges."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

from weft.graph.place import save_graph
from weft.tasks.bibliographies import bibliography, read_papers, title_terms

Weft = Callable[..., Any]
PAPERS = ROOT / "examples/graph/papers.csv"


def rows(done: Any) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


@pytest.fixture
def kg(tmp_path: Path) -> Path:
    papers = read_papers(PAPERS)
    save_graph(bibliography(papers, title_terms([paper.title for paper in papers], 2)).graph, tmp_path / "kg")
    return tmp_path / "kg"


def test_a_graph_and_its_table_are_ranked_alike(weft: Weft, kg: Path) -> None:
    one, two = (rows(weft("graph", "rank", source, "--json")) for source in (kg, PAPERS))
    assert one == two
    assert {row["type"] for row in one} == {"paper", "author", "venue", "term"}
    first = next(row for row in one if row["type"] == "author")
    assert (first["name"], first["rank"]) == ("M. Lind", 1)


def test_weights_restarts_and_directions_change_ranks(weft: Weft) -> None:
    plain = rows(weft("graph", "rank", PAPERS, "--type", "author", "--json"))
    near = rows(weft("graph", "rank", PAPERS, "--type", "author", "--near", "m5", "--json"))
    assert near[0]["name"] in ("Ina Dahl", "Eva Strand")
    cites = rows(weft("graph", "rank", PAPERS, "--type", "paper", "--weights", "cites=9", "--directed", "--json"))
    assert cites[0]["name"] in ("t1", "m1")
    assert plain[0]["name"] == "M. Lind"


def test_years_are_ranked_by_the_edges_of_their_window(weft: Weft, kg: Path, tmp_path: Path) -> None:
    words = ("--years", "2001-2006", "--window", "2", "--type", "venue", "--json")
    found = rows(weft("graph", "rank", PAPERS, *words))
    alive = {year: {row["name"] for row in found if row["year"] == year} for year in (2001, 2003, 2006)}
    assert alive[2001] == {"Coastal Surveys", "Forest Notes"}
    assert alive[2003] == {"Coastal Surveys", "Forest Notes", "Harbour Days"}
    assert alive[2006] == {"Forest Notes", "Harbour Days"}
    years = tmp_path / "years.tsv"
    years.write_text("".join(f"{paper.id}\t{paper.year}\n" for paper in read_papers(PAPERS)) + "who\t1999\n")
    assert rows(weft("graph", "rank", kg, *words, "--years-of", years)) == found
    done = weft("graph", "rank", kg, *words)
    assert done.returncode == 1
    assert "--years-of" in done.stderr


def test_people_of_one_name_are_told_apart(weft: Weft, kg: Path, tmp_path: Path) -> None:
    for source in (PAPERS, kg):
        for distance in ("propflow", "ghost"):
            found = rows(weft("graph", "disambiguate", source, "M. Lind", "--distance", distance, "--json"))
            assert [person["papers"] for person in found] == [["t1", "t2", "t3", "t5"], ["m1", "m2", "m4"]]
            assert "Ole Berg" in found[0]["shared"]
    out = tmp_path / "people.csv"
    assert weft("graph", "disambiguate", PAPERS, "M. Lind", "--people", "2", "--out", out).returncode == 0
    with open(out, newline="") as file:
        assert {row["paper"] for row in csv.DictReader(file) if row["person"] == "2"} == {"m1", "m2", "m4"}


@pytest.mark.parametrize("joined", ["cooccurrence", "walks"])
def test_topics_are_of_words_and_score_authors(weft: Weft, joined: str) -> None:
    found = rows(weft("graph", "topics", PAPERS, "--topics", "2", "--joined-by", joined, "--json"))
    terms = {topic: {r["name"] for r in found if r["topic"] == topic and r["type"] == "term"} for topic in (1, 2)}
    wood = next(topic for topic, own in terms.items() if "lichen" in own)
    assert "storm" in terms[3 - wood]
    authors = [row["name"] for row in found if row["topic"] == wood and row["type"] == "author"]
    assert authors[0] == "Ina Dahl"
    assert "Ole Berg" not in authors


def test_drawn_walks_find_the_same(weft: Weft) -> None:
    words = ("graph", "topics", PAPERS, "--topics", "2", "--type", "venue", "--json")
    exact, drawn = (rows(weft(*words, *more)) for more in ((), ("--walks", "20000")))
    assert [row["name"] for row in exact] == [row["name"] for row in drawn]
    assert all(abs(a["score"] - b["score"]) < 0.03 for a, b in zip(exact, drawn, strict=True))


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_tables_are_written_in_four_formats(weft: Weft, tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"ranks.{suffix}"
    done = weft("graph", "rank", PAPERS, "--type", "author", "--top", "2", "--out", out)
    assert done.returncode == 0, done.stderr
    assert "wrote 2 rows" in done.stdout
    assert out.stat().st_size > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("rank", PAPERS, "--type", "book"), "no nodes of type 'book'"),
        (("rank", PAPERS, "--weights", "cite=2"), "did you mean cites"),
        (("rank", PAPERS, "--weights", "cites=much"), "takes numbers"),
        (("rank", PAPERS, "--near", "Ole Brg"), "did you mean Ole Berg"),
        (("rank", PAPERS, "--years", "new"), "FIRST-LAST"),
        (("rank", PAPERS, "--out", "ranks.doc"), ".parquet"),
        (("rank", "nowhere"), "there is no graph nowhere"),
        (("disambiguate", PAPERS, "M. Lnd"), "did you mean M. Lind"),
        (("disambiguate", PAPERS, "M. Lind", "--people", "many"), "--people is a number"),
        (("disambiguate", PAPERS, "M. Lind", "--people", "9"), "7 instances cannot be 9 clusters"),
        (("disambiguate", PAPERS, "M. Lind", "--distance", "far"), "not by 'far'"),
        (("disambiguate", PAPERS, "M. Lind", "--relation", "write"), "did you mean writes"),
        (("topics", PAPERS, "--word-type", "terms"), "did you mean term"),
        (("topics", PAPERS, "--joined-by", "luck"), "not by 'luck'"),
        (("topics", ROOT / "examples/graph/harbour.tsv"), "its nodes have no types"),
    ],
)
def test_mistakes_are_plain_errors(weft: Weft, words: tuple[Any, ...], said: str) -> None:
    done = weft("graph", *words)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr

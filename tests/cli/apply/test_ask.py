"""`weft ask`."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Weft = Callable[..., Any]
GRAPHS = Path(__file__).resolve().parents[3] / "examples" / "graph"
TOWN = (GRAPHS / "town.tsv", "--schema", GRAPHS / "town.toml")
SHIPPING = "people who studied in Bergen and work for a shipping company"


def test_a_question_is_answered_with_what_was_understood(weft: Weft) -> None:
    done = weft("ask", TOWN[0], SHIPPING, *TOWN[1:])
    assert done.returncode == 0, done.stderr
    assert "Understood: people who studied in Bergen and who work for shipping companies" in done.stdout
    assert "Mara Lind" in done.stdout
    assert "Tor Vik" in done.stdout


def test_json_says_what_was_understood_and_left_out(weft: Weft) -> None:
    done = weft("ask", TOWN[0], "studied bergn peple unicorn", *TOWN[1:], "--json")
    report = json.loads(done.stdout)
    assert report["understood"] == "people who studied in Bergen"
    assert report["ignored"] == ["unicorn"]
    assert {row["name"] for row in report["answer"]} == {"Mara Lind", "Ina Dahl", "Tor Vik"}


@pytest.mark.parametrize(("language", "start"), [("sql", "SELECT"), ("sparql", "SELECT"), ("cypher", "MATCH")])
def test_a_query_is_printed_instead(weft: Weft, language: str, start: str) -> None:
    done = weft("ask", TOWN[0], SHIPPING, *TOWN[1:], "--as", language)
    assert done.stdout.startswith(start)
    assert "shipping" in done.stdout


@pytest.mark.parametrize("question", ["", "what is the weather tomorrow", "asdf qwer", "?", "'; DROP TABLE nodes"])
def test_a_question_that_means_nothing_gets_a_plain_answer(weft: Weft, question: str) -> None:
    done = weft("ask", TOWN[0], question, *TOWN[1:])
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("This question means nothing in the graph.")
    assert "It can be asked:" in done.stdout


def test_the_beginning_of_a_question_is_completed_in_whole_sentences(weft: Weft) -> None:
    done = weft("ask", TOWN[0], "my friends who li", *TOWN[1:], "--me", "Mara Lind", "--suggest")
    assert "my friends who live in Bergen" in done.stdout.splitlines()


def test_nobody_of_an_unknown_name_can_ask(weft: Weft) -> None:
    done = weft("ask", TOWN[0], "my friends", *TOWN[1:], "--me", "Nobody")
    assert done.returncode == 1
    assert "no node 'Nobody'" in done.stderr
    done = weft("ask", TOWN[0], "my friends", *TOWN[1:], "--as", "prolog")
    assert done.returncode == 1
    assert "sql, sparql, cypher" in done.stderr


def test_a_folder_keeps_schema_and_hidden_edges(weft: Weft, tmp_path: Path) -> None:
    assert weft("graph", "build", TOWN[0], "--out", tmp_path / "kg").returncode == 0
    shutil.copy(GRAPHS / "town.toml", tmp_path / "kg" / "schema.toml")
    (tmp_path / "kg" / "hidden.tsv").write_text("Mara Lind\tfriend of\tIna Dahl\n", encoding="utf-8")
    seen = json.loads(weft("ask", tmp_path / "kg", "my friends", "--me", "Mara Lind", "--json").stdout)
    assert [row["name"] for row in seen["answer"]] == ["Ina Dahl"]
    other = json.loads(weft("ask", tmp_path / "kg", "friends of mara lind", "--me", "Ole Berg", "--json").stdout)
    assert "Ina Dahl" not in json.dumps(other["answer"])
    (tmp_path / "kg" / "hidden.tsv").write_text("Mara Lind\tfriend of\tNobody\n", encoding="utf-8")
    done = weft("ask", tmp_path / "kg", "my friends", "--me", "Mara Lind")
    assert done.returncode == 1
    assert "hidden.tsv" in done.stderr


@pytest.mark.parametrize("name", ["missing.tsv", "broken.tsv"])
def test_a_broken_graph_is_named(weft: Weft, tmp_path: Path, name: str) -> None:
    (tmp_path / "broken.tsv").write_text("a\tb\tc\nd\n", encoding="utf-8")
    done = weft("ask", tmp_path / name, "who")
    assert done.returncode == 1
    assert name in done.stderr

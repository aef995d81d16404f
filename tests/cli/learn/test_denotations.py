"""`weft lexicon denotations`: building, adding, asking, and what users get wrong."""

from __future__ import annotations

import json

import pytest
from places import ROOT

CAPTIONS = ROOT / "examples" / "denotations" / "captions.tsv"


@pytest.fixture(scope="module")
def half(tmp_path_factory):
    folder = tmp_path_factory.mktemp("captions")
    lines = CAPTIONS.read_text().splitlines(keepends=True)
    (folder / "first.tsv").write_text("".join(lines[:18]))
    (folder / "second.tsv").write_text("".join(lines[18:]))
    (folder / "nouns.tsv").write_text("poodle\tdog\ndog\tanimal\n")
    return folder


def test_a_graph_is_built_asked_and_extended(weft, half, tmp_path):
    given = ("--hypernyms", half / "nouns.tsv", "--json")
    whole = weft("lexicon", "denotations", CAPTIONS, "--out", tmp_path / "whole", *given, "--tables", "none")
    assert whole.returncode == 0, whole.stderr
    weft("lexicon", "denotations", half / "first.tsv", "--out", tmp_path / "g", *given)
    added = weft(
        "lexicon", "denotations", half / "second.tsv", "--graph", tmp_path / "g", "--out", tmp_path / "g", "--json"
    )
    one, other = json.loads(whole.stdout), json.loads(added.stdout)
    assert {**one, "files": 0} == {**other, "files": 0}
    assert {path.name for path in (tmp_path / "g").iterdir()} == {
        "graph.weft", "nodes.parquet", "edges.parquet", "images.parquet", "pairs.parquet"
    }  # fmt: skip
    asked = weft(
        "lexicon", "denotations", "--graph", tmp_path / "g", "--phrase", "sit", "--condition", "eat lunch", "--json"
    )
    report = json.loads(asked.stdout)
    assert (report["P(phrase | given)"], report["images"]) == (1.0, ["ferry-02", "beach-03"])
    shown = weft("lexicon", "denotations", "--graph", tmp_path / "g", "--phrase", "dog run")
    assert "quay-02, beach-01" in shown.stdout
    assert "poodle run" not in weft("lexicon", "denotations", "--graph", tmp_path / "g", "--phrase", "cat").stdout


def test_released_tables_are_text(weft, half, tmp_path):
    ran = weft(
        "lexicon", "denotations", half / "first.tsv", "--out", tmp_path, "--tables", "released", "--hypernyms",
        half / "nouns.tsv",
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "node-tree.txt").read_text().count("\t") > 100


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "name files of captions"),
        (["CAPTIONS"], "--out"),
        (["CAPTIONS", "--out", "x", "--tables", "csv"], "parquet, released or none"),
        (["CAPTIONS", "--condition", "sit", "--out", "x"], "name both"),
        (["--graph", "nowhere.weft", "--phrase", "sit"], "nowhere.weft"),
    ],
)
def test_mistakes_are_told_in_plain_words(weft, tmp_path, words, message):
    ran = weft("lexicon", "denotations", *[str(CAPTIONS) if word == "CAPTIONS" else word for word in words])
    assert ran.returncode == 1
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr


def test_bad_lines_are_named(weft, tmp_path):
    (tmp_path / "bad.tsv").write_text("a#0\tA dog.\nno tab here\n")
    ran = weft("lexicon", "denotations", tmp_path / "bad.tsv", "--out", tmp_path / "g")
    assert ran.returncode == 1
    assert "bad.tsv, line 2" in ran.stderr
    (tmp_path / "nouns.tsv").write_text("dog\n")
    ran = weft("lexicon", "denotations", CAPTIONS, "--hypernyms", tmp_path / "nouns.tsv", "--out", tmp_path / "g")
    assert "nouns.tsv, line 1" in ran.stderr

"""`weft graph complete`, `weft graph export`, and `weft graph build` of documents."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from places import ROOT

Weft = Callable[..., Any]
COAST = ROOT / "examples" / "graph" / "coast.tsv"


def test_new_facts_come_with_their_reasons(weft: Weft, tmp_path: Path) -> None:
    kg = tmp_path / "kg"
    assert weft("graph", "build", COAST, "--out", kg).returncode == 0
    done = weft("graph", "complete", kg, "--relation", "citizen of", "--top", "3", "--save", tmp_path / "m.weft",
                "--out", tmp_path / "new.tsv")  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    facts = [line for line in lines if " — citizen of — " in line and not line.startswith(" ")]
    assert len(facts) == 3
    assert all(lines[lines.index(fact) + 1].lstrip().startswith("+") for fact in facts)
    assert "in country — Norway" in done.stdout
    assert (tmp_path / "new.tsv").read_text(encoding="utf-8").startswith("source\trelation\ttarget\tprobability")
    again = weft("graph", "complete", kg, "--relation", "citizen of", "--top", "3", "--model", tmp_path / "m.weft")
    assert again.stdout.splitlines()[: len(lines) - 2] == lines[:-2]


def test_json_has_facts_reasons_and_the_model(weft: Weft) -> None:
    done = weft("graph", "complete", COAST, "--relation", "citizen of", "--of", "Asta Lind", "--json")
    found = json.loads(done.stdout)
    assert {fact["source"] for fact in found["facts"]} == {"Asta Lind"}
    assert found["facts"][0]["reasons"][0]["walk"][0][0] == "Asta Lind"
    assert found["model"]["queries"] > 10


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--relation", "citizen"], "did you mean citizen of"),
        (["--relation", "citizen of", "--of", "Nobody"], "no node 'Nobody'"),
        (["--relation", "citizen of", "--candidates", "some"], "known, typed, all"),
        (["--relation", "citizen of", "--sampling", "some"], "stratified, random, all"),
        (["--relation", "citizen of", "--model", "none.weft"], "none.weft"),
        (["--relation", "citizen of", "--out", "new.doc"], r"\.tsv, \.csv or \.jsonl"),
    ],
)
def test_mistakes_are_told_in_one_line(weft: Weft, words: list[str], message: str) -> None:
    import re

    done = weft("graph", "complete", COAST, *words)
    assert done.returncode == 1
    assert re.search(message, " ".join(done.stderr.split()))
    assert "Traceback" not in done.stderr


def test_nothing_new_is_an_answer(weft: Weft) -> None:
    done = weft("graph", "complete", COAST, "--relation", "based in")
    assert done.returncode == 0
    assert done.stdout.startswith("no new facts")


def test_a_node_without_edges_to_walk_gets_no_facts(weft: Weft, tmp_path: Path) -> None:
    more = COAST.read_text(encoding="utf-8") + "Hermit\tthinks of\tHermit\n"
    (tmp_path / "a.tsv").write_text(more, encoding="utf-8")
    done = weft("graph", "complete", tmp_path / "a.tsv", "--relation", "citizen of", "--of", "Hermit")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("no new facts")


def test_a_graph_is_exported(weft: Weft, tmp_path: Path) -> None:
    for kind, name in (("csv", "tables"), ("cypher", "kg.cypher"), ("sparql", "kg.nt")):
        done = weft("graph", "export", COAST, "--to", kind, "--out", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert "wrote" in done.stdout
        assert (tmp_path / name).exists()
    done = weft("graph", "export", COAST, "--to", "duckdp", "--out", tmp_path / "x")
    assert done.returncode == 1
    assert "did you mean duckdb" in done.stderr


def test_documents_and_tables_are_built_together(weft: Weft, tmp_path: Path) -> None:
    import weft as library
    from weft.text.conventions.tuples import TupleRow, set_tuples
    from weft.text.doc import Doc
    from weft.text.layers import SpanLayer

    doc = Doc.from_words([["Mara", "left", "Bergen"]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER"), (2, 3, "LOC")])
    set_tuples(doc, [TupleRow("lived in", (("Arg1", 0), ("Arg2", 1)))])
    (tmp_path / "annotated").mkdir()
    library.write([doc], tmp_path / "annotated" / "a.jsonl")
    (tmp_path / "people.csv").write_text("who,employer\nMara,Nordvik\n", encoding="utf-8")
    done = weft("graph", "build", tmp_path / "annotated", tmp_path / "people.csv", "--id", "who", "--text", "paths",
                "--out", tmp_path / "kg")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "3 nodes, 2 edges, 2 relations, from 1 document" in done.stdout
    assert (tmp_path / "kg" / "text.weft").is_file()

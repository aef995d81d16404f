"""`weft lexicon entities`: tables, scores, thresholds, documents as input, and messages."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import weft as package
from weft.recipes.semantics.cross_document_coreference.experiment import killed_and_resumed, write_made
from weft.text.layers import SpanLayer

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
WEIGHTS = ("--context-weight", "0.8", "--name-weight", "0.2", "--thresholds", "0.22")


def test_entities_of_a_file_are_written_with_evidence_and_again_at_once(weft: Weft, tmp_path, examples) -> None:
    command = ("lexicon", "entities", examples / "mentions" / "news.jsonl", "--out", tmp_path / "out", *WEIGHTS)
    done = weft(*command, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["thresholds"] == [{"threshold": 0.22, "mentions": 14, "entities": 5, "largest": 4}]
    lines = [json.loads(line) for line in (tmp_path / "out" / "mentions.jsonl").read_text().splitlines()]
    assert {line["entity"] for line in lines} == {"n01", "n05", "n08", "n11", "n14"}
    assert all("words" in json.loads(line) for line in (tmp_path / "out" / "merges.jsonl").read_text().splitlines())
    again = weft(*command, "--json")
    assert json.loads(again.stdout) == report
    other = weft(*command, "--seed", "7")
    assert other.returncode == 1
    assert "checkpoint of a run with other mentions or settings" in other.stderr


def test_gold_entities_are_scored_at_every_threshold(weft: Weft, tmp_path) -> None:
    rows = [{"id": str(k), "name": "Lee", "context": f"topic{k % 2}", "entity": str(k % 2)} for k in range(6)]
    path = tmp_path / "m.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = weft(
        "lexicon", "entities", path, "--out", tmp_path / "out", "--thresholds", "0.8,0.1",
        "--format", "parquet", "--workers", "2", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    high, low = json.loads(done.stdout)["thresholds"]
    assert (high["threshold"], high["B3 F1"], low["entities"]) == (0.8, 1.0, 1)
    assert low["B3 precision"] == 0.5
    assert (tmp_path / "out" / "mentions.parquet").is_file()


def test_documents_with_entities_can_be_given(weft: Weft, tmp_path) -> None:
    docs = []
    for k in range(2):
        doc = package.Doc.from_words([["The", "rower", "Vance", "won", "."]])
        doc.meta["id"] = f"d{k}"
        doc.spans["entities"] = SpanLayer.of(doc.strings, [(2, 3, "PER")])
        docs.append(doc)
    package.write(docs, tmp_path / "docs.jsonl")
    done = weft("lexicon", "entities", tmp_path / "docs.jsonl", "--layer", "entities", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "out" / "mentions.jsonl").read_text().splitlines()]
    assert [line["id"] for line in lines] == ["d0:10-15", "d1:10-15"]


def test_mistakes_are_told_in_plain_words(weft: Weft, tmp_path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"id": "1", "name": "Lee"}\n{"id": "1", "name": "Lee"}\n')
    out = tmp_path / "out"
    bad = weft("lexicon", "entities", path, "--out", out)
    assert (bad.returncode, "line 2: expected an id that no other mention has" in bad.stderr) == (1, True)
    skipped = weft("lexicon", "entities", path, "--out", out, "--skip-bad")
    assert (skipped.returncode, "left out 1 line" in skipped.stderr) == (0, True)
    number = weft("lexicon", "entities", path, "--out", out, "--thresholds", "0.5;0.4")
    assert (number.returncode, "takes numbers such as 0.5 or 0.5,0.4,0.3" in number.stderr) == (1, True)
    wrong = weft("lexicon", "entities", path, "--out", out, "--format", "csv")
    assert (wrong.returncode, "--format must be one of jsonl, parquet" in wrong.stderr) == (1, True)


def test_a_run_that_is_killed_resumes_to_the_same_files(weft: Weft, tmp_path) -> None:
    path = tmp_path / "made.jsonl"
    write_made(600, 0, path)
    options = ("--context-weight", "0.9", "--name-weight", "0.1", "--thresholds", "0.15", "--iterations", "60")
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    command = [sys.executable, "-m", "weft", "lexicon", "entities", str(path), "--out", str(killed), *options, "--json"]
    saved, report = killed_and_resumed(command, killed / "checkpoint.weft", after=3)
    assert 3 <= saved < 60
    done = weft("lexicon", "entities", path, "--out", whole, *options, "--json")
    assert json.loads(done.stdout)["trace"] == report["trace"]
    for name in ("mentions", "entities", "merges"):
        assert (killed / f"{name}.jsonl").read_bytes() == (whole / f"{name}.jsonl").read_bytes()

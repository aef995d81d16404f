"""`weft lexicon network`: a model of links from graphs, its report and its messages."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

from weft.graph.store import TypedGraph

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


def test_a_network_links_the_example_and_is_scored(weft: Weft, tmp_path, examples) -> None:
    model, graph = tmp_path / "net.weft", tmp_path / "net.graph"
    done = weft(
        "lexicon", "network", "--entities", examples / "links" / "football.tsv", "--out", model, "--graph", graph,
        "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["entities"], report["joined"], report["names"]) == (22, 0, {"de": 4, "en": 24})
    assert "plays-for" in TypedGraph.load(graph, mapped=True).relations
    out = tmp_path / "out.links.jsonl"
    done = weft("annotate", examples / "links" / "match.txt", "--model", "en", "--model", model, "--out", out)
    assert done.returncode == 0, done.stderr
    [line] = out.read_text(encoding="utf-8").splitlines()
    labels = json.loads(line)["labels"]
    assert [(label["entity_id"], label["name"]) for label in labels][:2] == [
        ("thomas-mueller", "Thomas Müller"),
        ("mario-gomez", "Mario Gomez"),
    ]
    done = weft("evaluate", out, out, "--layer", "links", "--json")
    assert done.returncode == 0, done.stderr
    page = tmp_path / "page.html"
    records = tmp_path / "out.jsonl"
    weft("annotate", examples / "links" / "match.txt", "--model", "en", "--model", model, "--out", records)
    done = weft("draw", records, "--what", "spans", "--out", page)
    assert done.returncode == 0, done.stderr
    assert "FC Bayern Munich" in page.read_text(encoding="utf-8")


def test_what_cannot_be_built_is_said_plainly(weft: Weft, tmp_path, examples) -> None:
    out = tmp_path / "net.weft"
    for arguments, message in [
        ((), "a network is made of WordNet"),
        (("--entities", tmp_path / "none.tsv"), "cannot read"),
        (("--wordnet", tmp_path), "no file data.noun"),
        (("--entities", examples / "links" / "football.tsv", "--names", "x.tab"), "--names adds names"),
        (("--entities", examples / "links" / "football.tsv", "--threshold", "2"), "threshold must lie between"),
        (("--entities", examples / "links" / "football.tsv", "--method", "guess"), "push or walks"),
        (("--entities", examples / "note.txt"), "line 1: expected source, relation, target"),
    ]:
        done = weft("lexicon", "network", *arguments, "--out", out)
        assert done.returncode == 1, arguments
        assert message in " ".join(done.stderr.split()), arguments
        assert not out.exists()

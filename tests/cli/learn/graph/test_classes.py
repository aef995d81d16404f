"""`weft graph classes`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from weft.graph.place import save_graph
from weft.graph.triples import read_graph

Weft = Callable[..., Any]
EDGES = "ann\tis a\tsinger\nbob\tis a\tsinger\nbob\tis a\tdrummer\nkai\tis a\tfjord\n"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    (tmp_path / "edges.tsv").write_text(EDGES, encoding="utf-8")
    (tmp_path / "seeds.tsv").write_text("ann\tmusician\n", encoding="utf-8")
    save_graph(read_graph(tmp_path / "edges.tsv"), tmp_path / "kg")
    return tmp_path


@pytest.mark.parametrize("method", ["lp", "adsorption", "mad"])
def test_nodes_within_reach_get_classes_and_others_are_unknown(weft: Weft, graph: Path, method: str) -> None:
    done = weft("graph", "classes", graph / "kg", "--seeds", graph / "seeds.tsv", "--method", method, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["nodes"] == {"musician": 4, "unknown": 2}
    assert {each["node"] for each in found["instances"]["musician"]} == {"singer", "bob", "drummer"}


def test_the_table_names_unknown_nodes(weft: Weft, graph: Path) -> None:
    done = weft("graph", "classes", graph / "kg", "--seeds", graph / "seeds.tsv")
    assert "unknown" in done.stdout
    assert "2 nodes of 6: no seed reaches them" in done.stdout


def test_one_node_is_shown_with_the_share_of_unknown(weft: Weft, graph: Path) -> None:
    words = ("graph", "classes", graph / "kg", "--seeds", graph / "seeds.tsv")
    assert "kai: unknown" in weft(*words, "--node", "kai").stdout
    found = json.loads(weft(*words, "--node", "bob", "--json").stdout)
    assert found["answer"] == "musician"
    assert 0 < found["unknown"] < 1


@pytest.mark.parametrize("suffix", [".tsv", ".csv", ".jsonl", ".parquet"])
def test_all_labels_are_written_in_every_format(weft: Weft, graph: Path, suffix: str) -> None:
    out = graph / f"classes{suffix}"
    done = weft("graph", "classes", graph / "kg", "--seeds", graph / "seeds.tsv", "--out", out)
    assert done.returncode == 0, done.stderr
    if suffix == ".parquet":
        rows = pytest.importorskip("pyarrow.parquet").read_table(out).to_pylist()
    elif suffix == ".jsonl":
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    else:
        rows = list(csv.DictReader(out.open(), delimiter="\t" if suffix == ".tsv" else ","))
    assert {row["node"]: row["label"] for row in rows} == {
        "ann": "musician", "bob": "musician", "singer": "musician", "drummer": "musician", "kai": "unknown",
        "fjord": "unknown",
    }  # fmt: skip
    assert float(rows[-1]["unknown"]) == 1.0


def test_other_sources_join_the_graph(weft: Weft, graph: Path) -> None:
    (graph / "pairs.tsv").write_text("kai\tdrummer\t0.5\n", encoding="utf-8")
    (graph / "towns.csv").write_text("town\nkai\nbob\n", encoding="utf-8")
    (graph / "attributes.tsv").write_text("kai\talbums\nann\talbums\n", encoding="utf-8")
    (graph / "more.tsv").write_text("kai\tknows\tann\n", encoding="utf-8")
    words = ("graph", "classes", graph / "kg", "--seeds", graph / "seeds.tsv", "--node", "kai", "--json")
    for flag, name in (
        ("--extracted", "pairs.tsv"), ("--tables", "towns.csv"), ("--attributes", "attributes.tsv"),
        ("--add", "more.tsv"),
    ):  # fmt: skip
        done = weft(*words, flag, graph / name)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["answer"] == "musician", flag


def test_cells_get_the_classes_of_their_columns(weft: Weft, graph: Path) -> None:
    (graph / "acts.csv").write_text("act\nann\nbob\nkai\n", encoding="utf-8")
    words = ("graph", "classes", graph / "kg", "--seeds", graph / "seeds.tsv", "--node", "kai", "--json")
    assert json.loads(weft(*words, "--score-tables", graph / "acts.csv").stdout)["answer"] == "musician"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--method", "walks"], "lp, adsorption, mad"),
        (["--method", "lp", "--mu1", "2"], "mu1"),
        (["--relation", "has"], "has"),
        (["--type", "person"], "person"),
        (["--node", "nobody"], "nobody"),
        (["--out", "x.doc"], ".parquet"),
        (["--entropy", "nats"], "exp, bits"),
        (["--tables", "broken.csv"], "broken.csv"),
        (["--tables", "empty.csv"], "names of the columns"),
        (["--extracted", "broken.tsv"], "broken.tsv"),
        (["--attributes", "missing.tsv"], "missing.tsv"),
    ],
)
def test_mistakes_are_told_in_plain_words(weft: Weft, graph: Path, words: list[str], says: str) -> None:
    (graph / "broken.csv").write_text("a,b\n1\n", encoding="utf-8")
    (graph / "empty.csv").write_text("", encoding="utf-8")
    (graph / "broken.tsv").write_text("a\tb\t-1\n", encoding="utf-8")
    given = [str(graph / word) if word.endswith((".csv", ".tsv")) else word for word in words]
    done = weft("graph", "classes", graph / "kg", "--seeds", graph / "seeds.tsv", *given)
    assert done.returncode == 1
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_seeds_that_are_no_nodes_and_empty_seed_files_are_told(weft: Weft, graph: Path) -> None:
    (graph / "none.tsv").write_text("\n", encoding="utf-8")
    (graph / "other.tsv").write_text("zoe\tmusician\n", encoding="utf-8")
    assert "no seeds" in weft("graph", "classes", graph / "kg", "--seeds", graph / "none.tsv").stderr
    assert "'zoe'" in weft("graph", "classes", graph / "kg", "--seeds", graph / "other.tsv").stderr


def test_cycles_of_classes_and_nodes_that_are_their_own_class_do_no_harm(weft: Weft, graph: Path) -> None:
    (graph / "round.tsv").write_text("a\tis a\tb\nb\tis a\ta\na\tis a\ta\nc\tis a\tc\n", encoding="utf-8")
    (graph / "s.tsv").write_text("a\tx\n", encoding="utf-8")
    done = weft("graph", "classes", graph / "round.tsv", "--seeds", graph / "s.tsv", "--json")
    assert json.loads(done.stdout)["nodes"] == {"x": 2, "unknown": 1}

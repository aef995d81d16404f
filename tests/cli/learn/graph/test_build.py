"""`weft graph build`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.graph.place import load_graph

Weft = Callable[..., Any]


def test_a_graph_is_built_from_files_of_edges(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("Mara\tlives in\tBergen\nBergen\tin\tNorway\t2\n", encoding="utf-8")
    done = weft("graph", "build", tmp_path / "a.tsv", "--out", tmp_path / "kg", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["relations"] == {"in": 1, "lives in": 1}
    assert ("Bergen", "in", "Norway", 2.0) in list(load_graph(tmp_path / "kg").edges())


def test_a_broken_line_is_named(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("Mara\tlives in\tBergen\nBergen\n", encoding="utf-8")
    done = weft("graph", "build", tmp_path / "a.tsv", "--out", tmp_path / "kg")
    assert done.returncode == 1
    assert "a.tsv, line 2" in done.stderr
    assert not (tmp_path / "kg").exists()

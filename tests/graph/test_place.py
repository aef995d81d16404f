"""Where a knowledge graph stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.errors import DataError
from weft.graph.place import load_graph, save_graph
from weft.graph.store import Builder


def _graph() -> Builder:
    builder = Builder()
    builder.add("a", "r", "b")
    return builder


def test_folder_model_file_and_edges_give_the_same_graph(tmp_path: Path) -> None:
    file = save_graph(_graph().graph(), tmp_path / "kg")
    (tmp_path / "edges.tsv").write_text("a\tr\tb\n", encoding="utf-8")
    for place in (tmp_path / "kg", file, tmp_path / "edges.tsv"):
        assert list(load_graph(place).edges()) == [("a", "r", "b", 1.0)]
    assert list(load_graph(tmp_path / "kg", mapped=True).edges()) == [("a", "r", "b", 1.0)]


def test_an_empty_folder_a_missing_one_and_a_file_in_the_way_are_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="weft graph build"):
        load_graph(tmp_path / "empty")
    with pytest.raises(DataError, match="there is no graph"):
        load_graph(tmp_path / "missing")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="is a file"):
        save_graph(_graph().graph(), tmp_path / "file")

"""`weft train tagger --method graph`, from files to a model that annotates."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Weft = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def given(examples: Path) -> list[str]:
    folder = examples / "questions"
    return [
        str(folder / "travel.conllu"),
        "--method",
        "graph",
        "--raw",
        str(folder / "helpdesk.txt"),
    ]


def test_a_graph_tagger_is_made_from_files_and_annotates(
    weft: Weft, given: list[str], examples: Path, tmp_path: Path
) -> None:
    unseen = examples / "questions" / "helpdesk-unseen.conllu"
    done = weft("train", "tagger", *given, "--out", "helpdesk.weft", "--test", unseen, "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["graph"]["vertices"] == 204
    assert report["training"]["unlabelled_sentences"] == 16
    marked = weft("annotate", unseen, "--model", "helpdesk.weft", "--out", tmp_path / "marked.conllu")
    assert marked.returncode == 0, marked.stderr
    assert "1\tfilter\t_\tVERB" in (tmp_path / "marked.conllu").read_text()


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--variant", "magic"], "graph, pooled, one-best, supervised"),
        (["--mix", "1"], "--mix"),
        (["--column", "xpos"], "no xpos"),
    ],
)
def test_mistakes_are_named_without_a_traceback(weft: Weft, given: list[str], more: list[str], words: str) -> None:
    done = weft("train", "tagger", *given, "--out", "helpdesk.weft", *more)
    assert done.returncode != 0
    assert words in done.stderr
    assert "Traceback" not in done.stderr

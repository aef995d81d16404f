from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from weft.lexical.clusters import load_clusters

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


def test_clusters_of_text_and_corpora_serve_a_tagger(weft: Weft, tmp_path: Path, examples: Path) -> None:
    paths = tmp_path / "story.paths"
    done = weft(
        "lexicon", "clusters", examples / "story.conllu", examples / "port.txt",
        "--classes", "20", "--min-count", "2", "--out", paths, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    found = load_clusters(paths)
    assert figures["words"] == len(found)
    assert figures["classes"] == len(set(found.values())) <= 20
    model = tmp_path / "tagger.weft"
    done = weft("train", "tagger", examples / "story.conllu", "--clusters", paths, "--out", model)
    assert done.returncode == 0, done.stderr
    assert model.exists()


def test_a_text_whose_words_are_all_rare_is_refused_in_plain_words(weft: Weft, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("Each word once.\n", encoding="utf-8")
    done = weft("lexicon", "clusters", text, "--out", tmp_path / "out.paths")
    assert done.returncode == 1
    assert "no word occurs 3 times" in done.stderr

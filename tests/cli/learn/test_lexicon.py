from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from weft.lexical.clusters.monolingual import load_clusters

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


def test_clusters_of_text_and_corpora_serve_a_tagger(weft: Weft, tmp_path: Path, examples: Path) -> None:
    paths = tmp_path / "story.paths"
    done = weft(
        "lexicon", "clusters", examples / "story.conllu", examples / "port.txt",
        "--number", "20", "--min-count", "2", "--out", paths, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    found = load_clusters(paths)
    assert figures["words"] == len(found)
    assert figures["clusters"] == len(set(found.values())) <= 20
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


def test_predictive_clusters_serve_a_parser_and_shards_are_allowed(weft: Weft, tmp_path: Path, examples: Path) -> None:
    paths = tmp_path / "story.paths"
    done = weft(
        "lexicon", "clusters", examples / "story.conllu", examples / "port.txt",
        "--number", "20", "--min-count", "2", "--shards", "2", "--seed", "3", "--out", paths, "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["method"] == "predictive"
    assert figures["words"] == len(load_clusters(paths))
    done = weft(
        "train", "parser", examples / "story.conllu", "--clusters", paths, "--out", tmp_path / "p.weft",
        "--epochs", "1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_clusters_of_two_languages_share_names_over_links_an_aligner_or_spelling(weft: Weft, tmp_path: Path) -> None:
    nouns = {"cat": "katze", "dog": "hund", "cow": "kuh", "Berlin": "Berlin"}
    verbs = {"runs": "rennt", "sits": "sitzt"}
    pairs = [(f"the {n} {v} .", f"das {nouns[n]} {verbs[v]} .") for n in nouns for v in verbs] * 2
    for name, side in (("en.txt", 0), ("de.txt", 1)):
        (tmp_path / name).write_text("".join(pair[side] + "\n" for pair in pairs), encoding="utf-8")
    (tmp_path / "links").write_text("0-0 1-1 2-2 3-3\n" * len(pairs), encoding="utf-8")
    texts = ["--source", tmp_path / "en.txt", "--target", tmp_path / "de.txt", "--number", "4", "--min-count", "1"]
    outs = ["--out-source", tmp_path / "en.paths", "--out-target", tmp_path / "de.paths", "--json"]
    bitext = ["--bitext", tmp_path / "en.txt", tmp_path / "de.txt"]
    for more in ([*bitext, "--links", tmp_path / "links"], [*bitext, "--threshold", "0.5"], ["--method", "xlingual"]):
        done = weft("lexicon", "cross-clusters", *texts, *outs, *more)
        assert done.returncode == 0, done.stderr
        figures = json.loads(done.stdout)
        assert figures["target words"] == len(load_clusters(tmp_path / "de.paths")) == 8
        source, target = load_clusters(tmp_path / "en.paths"), load_clusters(tmp_path / "de.paths")
        assert source["Berlin"] == target["Berlin"]
    done = weft("lexicon", "cross-clusters", *texts, *outs, *bitext, "--method", "brown")
    assert done.returncode == 1
    assert "projected or xlingual" in done.stderr
    done = weft("lexicon", "cross-clusters", *texts, *outs, "--links", tmp_path / "links")
    assert done.returncode == 1
    assert "give both of its sides" in done.stderr


def test_options_of_one_method_are_refused_with_the_other(weft: Weft, tmp_path: Path, examples: Path) -> None:
    done = weft(
        "lexicon", "clusters", examples / "port.txt", "--out", tmp_path / "p", "--method", "brown", "--shards", "2"
    )
    assert done.returncode == 1
    assert "belong to --method predictive" in done.stderr
    done = weft("lexicon", "clusters", examples / "port.txt", "--out", tmp_path / "p", "--method", "kmeans")
    assert "predictive or brown, got 'kmeans'" in done.stderr

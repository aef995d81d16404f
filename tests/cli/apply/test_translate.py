"""`weft train translation`, `weft translate` and `weft.translation` on the example of boats."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from places import ROOT

import weft as package

Weft = Callable[..., object]
EXAMPLES = ROOT / "examples" / "translation"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("boats") / "en-es.weft"
    translator, report = package.translation.train(
        EXAMPLES / "boats.en", EXAMPLES / "boats.es", (EXAMPLES / "dev.en", EXAMPLES / "dev.es")
    )
    assert report["pairs"] == 100
    assert report["BLEU"] >= report["BLEU before"]
    translator.save(path)
    return path


def test_most_unseen_sentences_are_translated_as_the_reference_has_them(weft: Weft, model: Path) -> None:
    done = weft("translate", EXAMPLES / "unseen.en", "--model", model)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    wanted = (EXAMPLES / "unseen.es").read_text(encoding="utf-8").splitlines()
    assert len(said) == len(wanted)
    assert sum(a == b for a, b in zip(said, wanted, strict=True)) >= 5


def test_a_trace_names_sentence_pairs_that_hold_the_phrases(weft: Weft, model: Path) -> None:
    done = weft("translate", EXAMPLES / "unseen.en", "--model", model, "--trace")
    assert "in sentence pair" in done.stdout
    assert "language model" in done.stdout
    sides = [(EXAMPLES / f"boats.{side}").read_text(encoding="utf-8").splitlines() for side in ("en", "es")]
    found = weft("translate", EXAMPLES / "unseen.en", "--model", model, "--json", "--kbest", "3")
    for line in found.stdout.splitlines():
        record = json.loads(line)
        assert len(record["kbest"]) == 3
        assert record["kbest"][0]["translation"] == record["translation"]
        assert [each["score"] for each in record["kbest"]] == sorted(
            (each["score"] for each in record["kbest"]), reverse=True
        )
        for step in record["steps"]:
            for origin in step["origins"]:
                assert " ".join(step["source"]) in sides[0][origin]
                assert " ".join(step["target"]) in sides[1][origin]


def test_k_best_lines_have_number_score_and_text(weft: Weft, model: Path, tmp_path: Path) -> None:
    done = weft("translate", EXAMPLES / "unseen.en", "--model", model, "--kbest", "2", "--out", tmp_path / "k.tsv")
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in (tmp_path / "k.tsv").read_text(encoding="utf-8").splitlines()]
    assert [row[0] for row in rows] == [str(n) for n in range(1, 9) for _ in range(2)]
    assert all(float(a[1]) >= float(b[1]) for a, b in zip(rows[::2], rows[1::2], strict=True))


def test_a_page_draws_which_words_became_which(weft: Weft, model: Path, tmp_path: Path) -> None:
    done = weft("translate", EXAMPLES / "unseen.en", "--model", model, "--draw", tmp_path / "links.html", "--json")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "links.html").read_text(encoding="utf-8")
    links = [json.loads(line)["links"] for line in done.stdout.splitlines()]
    assert page.count('class="line"') == sum(map(len, links)) > 20
    assert "in sentence pair" in page


def test_the_command_trains_what_python_trains(weft: Weft, model: Path, tmp_path: Path) -> None:
    files = [EXAMPLES / "boats.en", EXAMPLES / "boats.es", "--dev", EXAMPLES / "dev.en", EXAMPLES / "dev.es"]
    done = weft("train", "translation", *files, "--out", tmp_path / "again.weft", "--beam", "100", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["phrase pairs"] > 500
    one, other = (
        weft("translate", EXAMPLES / "unseen.en", "--model", each) for each in (model, tmp_path / "again.weft")
    )
    assert one.stdout == other.stdout


def test_held_out_line_search_gives_rules_weights(weft: Weft, tmp_path: Path) -> None:
    files = [EXAMPLES / "boats.en", EXAMPLES / "boats.es", "--dev", EXAMPLES / "dev.en", EXAMPLES / "dev.es"]
    done = weft("train", "translation", *files, "--tune", "hols", "--kbest", "10", "--out", tmp_path / "hols.weft")
    assert done.returncode == 0, done.stderr
    found = weft("translate", EXAMPLES / "unseen.en", "--model", tmp_path / "hols.weft", "--json")
    assert "rule" in json.loads(found.stdout.splitlines()[0])["steps"][0]["scores"]


def test_translations_are_scored_and_compared(weft: Weft, model: Path, tmp_path: Path) -> None:
    pytest.importorskip("sacrebleu")
    out = tmp_path / "said.es"
    weft("translate", EXAMPLES / "unseen.en", "--model", model, "--out", out)
    done = weft("evaluate", EXAMPLES / "unseen.es", out, "--layer", "translation", "--json")
    assert done.returncode == 0, done.stderr
    scores = json.loads(done.stdout)["scores"]
    assert scores["BLEU"]["value"] > 70
    assert scores["TER"]["value"] < 30
    both = [EXAMPLES / "unseen.es", out, EXAMPLES / "unseen.en", "--layer", "translation", "--samples", "200"]
    done = weft("compare", *both)
    assert done.returncode == 0, done.stderr
    assert "difference" in done.stdout
    pair = json.loads(weft("compare", *both, "--metric", "chrF", "--json").stdout)["pairs"][0]
    assert pair["difference"] > 20


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["translate", EXAMPLES / "unseen.en", "--model", EXAMPLES / "boats.en"], "boats.en"),
        (
            ["train", "translation", EXAMPLES / "boats.en", EXAMPLES / "dev.es", "--out", "m.weft"],
            "20 target sentences",
        ),
        (
            ["train", "translation", EXAMPLES / "dev.en", EXAMPLES / "dev.es", "--out", "m.weft", "--tune", "merit"],
            "tune must be one of mert, pro, mira, hols",
        ),
        (["evaluate", EXAMPLES / "unseen.es", EXAMPLES / "dev.es", "--layer", "translation"], "same number"),
    ],
)
def test_wrong_use_is_one_plain_message(weft: Weft, words: list[object], message: str) -> None:
    done = weft(*words)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr

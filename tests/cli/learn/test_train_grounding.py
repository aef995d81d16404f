"""`weft train grounding`, and `weft search --clips` with its model: clips by sentence, descriptions, tracks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[3] / "examples" / "clips"
FAST = ("--starts", "3", "--finalists", "1", "--iterations", "5")


def test_words_are_learned_and_clips_found_by_sentence(weft, tmp_path):
    done = weft(
        "train", "grounding", EXAMPLES, "--sentences", EXAMPLES / "sentences.tsv", "--out", "g.weft", *FAST, "--json"
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["training"]["clips"] == 18
    assert set(report["words"]) == {"backpack", "chair", "person", "trash-can"}
    asked = ("search", "--clips", EXAMPLES, "--model", "g.weft")
    found = json.loads(weft(*asked, "The person carried the chair", "--count", "4", "--out", "svg", "--json").stdout)
    scores = [each["score"] for each in found["clips"]]
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)
    assert {path.stem for path in (tmp_path / "svg").iterdir()} == {each["clip"] for each in found["clips"]}
    best = (tmp_path / "svg" / f"{found['clips'][0]['clip']}.svg").read_text()
    assert "person" in best
    assert "frame 20" in best
    clip = ("search", "--clips", EXAMPLES / "yard-17.mot", "--model", "g.weft")
    one = weft(*clip, "The person carried the chair", "--out", "one.svg")
    assert "1 picture in one.svg" in one.stdout
    said = weft(*clip, "--count", "2", "--json")
    assert len(json.loads(said.stdout)["yard-17"]) == 2


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("nowhere\tThe person carried the chair\n", "line 1: there is no clip 'nowhere'"),
        ("yard-01\tThe person kicked the chair\n", "line 1: 'The person kicked the chair': expected a verb"),
        ("yard-01 The person\n", "line 1: expected the name of a clip, a tab and a sentence"),
    ],
)
def test_bad_sentences_are_named_with_their_line(weft, tmp_path, lines, said):
    (tmp_path / "s.tsv").write_text(lines)
    done = weft("train", "grounding", EXAMPLES, "--sentences", "s.tsv", "--out", "g.weft")
    assert done.returncode == 1
    assert said in done.stderr.replace("\n", " ")


def test_without_sentences_or_model_it_says_what_to_give(weft):
    assert "--sentences FILE" in weft("train", "grounding", EXAMPLES, "--out", "g.weft").stderr
    assert "--model clips.weft" in weft("search", "--clips", EXAMPLES, "The person carried the chair").stderr

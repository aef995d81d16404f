"""`weft train metaphor --harvest`: texts, counts of earlier harvests, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import weft as package

EXAMPLES = Path(__file__).parents[3] / "examples" / "metaphor"


def test_texts_and_counts_give_the_same_model(weft, tmp_path):
    texts = sorted((EXAMPLES / "texts").glob("*.txt"))
    for path in texts:
        done = weft("train", "metaphor", "--harvest", path, "--out", "part.weft", "--save-counts", path.stem)
        assert done.returncode == 0, done.stderr
    options = ("--cutoff", "2", "--pairs-in-memory", "20", "--json")
    done = weft("train", "metaphor", "--harvest", EXAMPLES / "texts", "--out", "whole.weft", *options)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)["training"]
    assert report["simile counted"] > 10
    folders = [word for path in texts for word in ("--counts", path.stem)]
    again = weft("train", "metaphor", *folders, "--out", "merged.weft", *options)
    merged = json.loads(again.stdout)["training"]
    assert {name: merged[name] for name in merged if "seconds" not in name} == {
        name: report[name] for name in report if "seconds" not in name
    }
    found = [
        package.load("en", tmp_path / name)((EXAMPLES / "new.txt").read_text())
        for name in ("whole.weft", "merged.weft")
    ]
    assert [repr(each) for each in found[0].metaphors] == [repr(each) for each in found[1].metaphors]
    assert len(found[0].metaphors) == 5


def test_nothing_to_harvest_and_no_folder_are_plain_errors(weft):
    done = weft("train", "metaphor", "--out", "m.weft")
    assert done.returncode != 0
    assert "give text to harvest" in done.stderr
    done = weft("train", "metaphor", "--counts", "nowhere", "--out", "m.weft")
    assert done.returncode != 0
    assert "there is no folder nowhere of counts" in done.stderr
    assert "Traceback" not in done.stderr

"""`weft diagnose domains` on the files of the example."""

from __future__ import annotations

import json

import pytest
from places import EXAMPLES
from typer.testing import CliRunner

from weft.cli.app import app

FILES = [str(EXAMPLES / "domains" / f"{name}.conllu") for name in ("news", "news-parsed", "lab", "lab-parsed", "train")]


def test_the_figures_of_all_tables_add_up_in_json():
    done = CliRunner().invoke(app, ["diagnose", "domains", *FILES[:4], "--train", FILES[4], "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.output)
    assert found["loss"] == pytest.approx(found["target"]["error"] - found["source"]["error"])
    for rows in found["tables"].values():
        assert sum(row["contribution"] for row in rows) == pytest.approx(found["loss"])
    assert [f"{each['left']} {each['right']}" for each in found["profiles"] if each["differs"]] == ["NOUN NOUN"]


def test_files_that_do_not_belong_together_are_named(capsys):
    done = CliRunner().invoke(app, ["diagnose", "domains", FILES[0], FILES[1], FILES[2], FILES[1]])
    assert done.exit_code == 1
    assert "lab.conllu: the parsed sentences have different words" in done.output + capsys.readouterr().err

"""`weft annotate --together` on small files."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

import weft
from weft.cli.app import app, load_command

LABELLED = "the DET\ncat NOUN\nruns VERB\n\na DET\ndog NOUN\nsits VERB\n\nthe DET\nowl NOUN\nnaps VERB\n\n"
NEW = "the\ncow\nruns\n\na\ncat\nnaps\n\n"
BLANK = NEW.replace("\n", " _\n").replace("\n _\n", "\n\n")


@pytest.fixture
def files(tmp_path):
    (tmp_path / "few.conll").write_text(LABELLED)
    (tmp_path / "new.conll").write_text(NEW)
    return tmp_path


def run(files, *options):
    few, new = (str(files / name) for name in ("few.conll", "new.conll"))
    command = [
        "annotate",
        new,
        "--together",
        few,
        "--task",
        "tagger",
        "--fields",
        "form upos",
        "--out",
        str(files / "out.conllu"),
        *options,
    ]
    return CliRunner().invoke(app, command)


def test_new_sentences_are_labelled_with_the_few(files):
    (files / "new.conll").write_text(BLANK)
    done = run(files, "--beta", "0.3", "--json", "--neighbours", "2")
    assert done.exit_code == 0, done.output
    report = json.loads(done.stdout)
    assert (report["parts"], report["labelled parts"]) == (4, 6)
    (doc,) = weft.read(files / "out.conllu")
    assert doc.column("upos") == ["DET", "NOUN", "VERB"] * 2


def test_new_sentences_need_no_column_of_labels(files):
    done = run(files, "--beta", "0.3", "--neighbours", "2")
    assert done.exit_code == 0, done.output
    (doc,) = weft.read(files / "out.conllu")
    assert doc.column("upos") == ["DET", "NOUN", "VERB"] * 2


def test_raw_text_is_labelled_too(files):
    (files / "new.txt").write_text("the cow runs")
    command = ["annotate", str(files / "new.txt"), "--together", str(files / "few.conll"), "--fields", "form upos"]
    done = CliRunner().invoke(app, [*command, "--beta", "0.3", "--neighbours", "2", "--out", str(files / "out.conllu")])
    assert done.exit_code == 0, done.output
    (doc,) = weft.read(files / "out.conllu")
    assert doc.column("upos") == ["DET", "NOUN", "VERB"]


def test_bad_requests_are_told_plainly(files):
    done = CliRunner().invoke(app, ["annotate", "b", "--together", "a", "--task", "parser", "--out", "c"])
    assert "tagger and chunker" in " ".join(done.output.split())
    assert "auto or a number" in " ".join(run(files, "--beta", "much").output.split())


def test_settings_of_the_labeller_are_options(files):
    (files / "new.conll").write_text(BLANK)
    done = run(files, "--beta", "1", "--column", "xpos", "--fields", "form xpos", "--templates", "w[-1..1].lower y[-1]")
    assert done.exit_code == 0, done.output
    (doc,) = weft.read(files / "out.conllu")
    assert doc.column("xpos") == ["DET", "NOUN", "VERB"] * 2
    assert not any(doc.column("upos"))
    assert "nonsense" in run(files, "--templates", "w[0].nonsense").output


def test_settings_follow_the_task():
    shown = {
        task: {
            flag
            for param in load_command("annotate", ["--together", "a", "--task", task]).params
            for flag in param.opts
        }
        for task in ("tagger", "chunker")
    }
    assert "--column" in shown["tagger"] - shown["chunker"]
    assert "--order" in shown["chunker"] - shown["tagger"]
    assert {"--templates", "--seed", "--beta"} <= shown["tagger"] & shown["chunker"]
    plain = {flag for param in load_command("annotate").params for flag in param.opts}
    assert "--together" in plain
    assert "--beta" not in plain


def test_a_configuration_file_may_ask_for_it(files):
    (files / "new.conll").write_text(BLANK)
    (files / "run.toml").write_text(f'[annotate]\ntogether = "{files / "few.conll"}"\nbeta = "1"\ncolumn = "xpos"\n')
    command = ["annotate", str(files / "new.conll"), "--config", str(files / "run.toml"), "--fields", "form xpos"]
    done = CliRunner().invoke(app, [*command, "--out", str(files / "out.conllu")])
    assert done.exit_code == 0, done.output
    (doc,) = weft.read(files / "out.conllu")
    assert doc.column("xpos") == ["DET", "NOUN", "VERB"] * 2

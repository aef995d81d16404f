"""`weft treebank`: files in, files out, plain messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from places import EXAMPLES
from typer.testing import CliRunner

from weft.cli.app import app

STORY, SPEECH = str(EXAMPLES / "story.conllu"), str(EXAMPLES / "speech.conllu")


def run(*arguments: str | Path, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["treebank", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return done.output


def columns(path: Path | str, *numbers: int) -> list[list[str]]:
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return [[line.split("\t")[i] for i in numbers] if "\t" in line else [line] for line in lines]


def test_a_treebank_goes_to_the_universal_scheme_and_back_and_the_log_names_every_change(tmp_path):
    new, back, log = tmp_path / "new.conllu", tmp_path / "back.conllu", tmp_path / "log.jsonl"
    figures = json.loads(run("convert", STORY, new, "--log", log, "--json"))
    run("convert", new, back, "--from-scheme", "universal", "--to-scheme", "ud")
    assert columns(back, 0, 1, 2, 4, 5, 6, 8, 9) == columns(STORY, 0, 1, 2, 4, 5, 6, 8, 9)
    changes = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    moved = [each for each in changes if each["before"][:2] != each["after"][:2]]
    assert len(moved) == sum(figures["touched"].values())
    assert {each["rule"] for each in moved} == set(figures["touched"])
    assert figures["touched"]["copula"] > 0
    assert "0 errors" in run("validate", new, "--scheme", "universal")


def test_tags_and_labels_of_ones_own_are_mapped(tmp_path):
    source, tags, labels, new = (tmp_path / name for name in ("own.conllu", "own.map", "own.labels", "new.conllu"))
    source.write_text("1\tdogs\t_\t_\tN\t_\t2\tSB\t_\t_\n2\tbark\t_\t_\tV\t_\t0\tHD\t_\t_\n\n", encoding="utf-8")
    tags.write_text("N\tNOUN\nV\tVERB\n", encoding="utf-8")
    labels.write_text("SB * * nsubj\nHD * * ROOT\n", encoding="utf-8")
    run("convert", source, new, "--from-scheme", "own", "--tags", tags, "--labels", labels)
    assert columns(new, 3, 6, 7)[:2] == [["NOUN", "2", "nsubj"], ["VERB", "0", "ROOT"]]


def test_the_validator_names_sentence_and_word_counts_unreadable_ones_and_ends_with_3(tmp_path):
    bad = tmp_path / "bad.conllu"
    rows = "# sent_id = s-7\n1\ta\t_\tNOUN\t_\t_\t2\tdep\t_\t_\n2\tb\t_\tNOUN\t_\t_\t1\tdep\t_\t_\n\n1\tc\t_\tX\n\n"
    bad.write_text(rows, encoding="utf-8")
    output = run("validate", bad, "--scheme", "universal", code=3)
    assert "3 errors" in output
    assert "sentence s-7, word 1 is in a cycle: 1 -> 2 -> 1" in output
    found = json.loads(run("validate", bad, f"story={STORY}", "--scheme", "universal", "--json", code=3))
    assert found["treebanks"]["bad"]["kinds"] == {"roots": 1, "cycle": 1}
    assert len(found["treebanks"]["bad"]["unreadable"]) == 1
    assert set(found["usage"]) == {"shares", "rare"}


def test_the_matrix_is_written_as_json_and_drawn(tmp_path):
    out, figure = tmp_path / "matrix.json", tmp_path / "heat.svg"
    output = run("transfer-matrix", f"st={STORY}", f"sp={SPEECH},{SPEECH}", "--out", out, "--figure", figure)
    assert "LAS, trained on" in output
    matrix = json.loads(out.read_text(encoding="utf-8"))
    assert matrix["sources"] == matrix["targets"] == ["st", "sp"]
    for uas, las in (("UAS", "LAS"), ("UAS*", "LAS*")):
        for heads, labelled in zip(matrix[uas], matrix[las], strict=True):
            assert all(one >= other for one, other in zip(heads, labelled, strict=True))
    assert figure.read_text(encoding="utf-8").startswith("<svg ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convert", "nowhere.conllu", "x.conllu"], "no file nowhere.conllu"),
        (["convert", STORY, "x.txt"], "plain cannot hold trees"),
        (["convert", STORY, "x.conllu", "--from-scheme", "tiger"], "no conversion from 'tiger'"),
        (["validate", STORY, "--scheme", "penn"], "unknown annotation scheme 'penn'"),
        (["validate", STORY, STORY], "two treebanks are named 'story'"),
        (["transfer-matrix", f"a={STORY}", "--out", "x.json", "--metric", "F1"], "metric must be one of UAS, LAS"),
        (["transfer-matrix", f"a={EXAMPLES}/letters.conllu", "--out", "x.json"], "has no heads"),
    ],
)
def test_bad_input_gets_a_plain_message(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["treebank", *arguments])
    assert done.exit_code == 1
    assert message in done.output + capsys.readouterr().err
    assert not list(tmp_path.iterdir())

"""What people try first: standard input, a text on the command line, and asking why."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import weft as package

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory, examples: Path) -> Path:
    path = tmp_path_factory.mktemp("models") / "tagger.weft"
    package.train("tagger", examples / "story.conllu", column="upos", epochs=2, out=path)
    return path


def test_standard_input_is_plain_text_or_conllu_unless_it_is_said_otherwise(weft: Weft, tagger: Path) -> None:
    done = weft("annotate", "-", "--model", tagger, stdin="The ferry waits.\n")
    assert done.returncode == 0, done.stderr
    assert "2\tferry\t" in done.stdout
    assert "CoNLL-U" not in done.stderr
    again = weft("annotate", "-", "--from", "conllu", "--model", tagger, stdin=done.stdout)
    assert again.stdout == done.stdout
    told = weft("annotate", "-", "--model", tagger, stdin=done.stdout)
    assert told.stdout == done.stdout
    assert "standard input is read as CoNLL-U; if it is plain text, say so: --from plain" in told.stderr
    plain = weft("annotate", "-", "--from", "plain", "--model", tagger, stdin=done.stdout)
    assert "\tferry\t" in plain.stdout
    assert plain.stdout != done.stdout


def test_conllu_in_a_pipe_is_converted_without_saying_what_it_is(weft: Weft, examples: Path) -> None:
    story = (examples / "story.conllu").read_text()
    named = weft("convert", "-", "-", "--from", "conllu", "--to", "jsonl", stdin=story)
    assert weft("convert", "-", "-", "--to", "jsonl", stdin=story).stdout == named.stdout != ""


def test_a_text_can_stand_on_the_command_line(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    done = weft("annotate", "--text", "The ferry waits.", "--text", "It rains.", "--model", tagger, "--to", "records")
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["The ferry waits.", "It rains."]
    done = weft("annotate", "--text", "It rains.", "--model", tagger, "--out", "one.conllu", "--json")
    assert json.loads(done.stdout)["documents"] == 1
    assert "rains" in (tmp_path / "one.conllu").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["annotate"], "give files to annotate, - for standard input, or --text"),
        (["annotate", "a.txt", "--text", "Hi"], "give files or --text, not both"),
        (["annotate", "--text", "Hi", "--out", "folder/"], "--out names a folder"),
        (["annotate", "--text", "Hi", "--word", "Hi"], "give --explain as well"),
        (["annotate", "--text", "Hi", "--explain", "--word", "Ho"], "the text has no word 'Ho'"),
        (["annotate", "--text", "Hi", "--explain", "--out", "a.json"], "leave out --out"),
    ],
)
def test_what_does_not_go_together_is_told(weft: Weft, tagger: Path, words: list[str], said: str) -> None:
    failed = weft(*words, "--model", tagger)
    assert failed.returncode == 1
    assert said in failed.stderr
    assert len(failed.stderr.strip().splitlines()) == 1


def test_decisions_are_explained_as_tables_and_json(weft: Weft, tagger: Path) -> None:
    shown = weft("annotate", "--text", "The ferry waits.", "--explain", "--word", "ferry", "--model", tagger)
    assert shown.returncode == 0, shown.stderr
    assert re.match(r"ferry: [A-Z]+ \(tagger, probability 0\.\d+\); runner-up [A-Z]+, margin", shown.stdout)
    assert "template" in shown.stdout
    every = json.loads(weft("annotate", "--text", "The ferry.", "--explain", "--json", "--model", tagger).stdout)
    assert [each["form"] for each in every] == ["The", "ferry", "."]
    assert {"template", "value", "weight", "runner_up"} == set(every[1]["reasons"][0])
    assert (every[1]["task"], every[1]["sentence"], every[1]["word"]) == ("tagger", 1, 1)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["annotate", "leter.txt"], 1, "no file leter.txt; did you mean letter.txt?"),
        (["annotate", "letter.txt", "--to", "json"], 1, "there is no format 'json'; did you mean jsonl?"),
        (["convert", "letter.txt", "letter.jsn"], 1, "did you mean jsonl or ndjson? Or name it, by --from or --to"),
        (["annotate", "letter.txt", "--model", "ne"], 1, "did you mean en?"),
        (["annotate", "letter.txt", "--model", "tager.weft"], 1, "no model file tager.weft; did you mean tagger.weft?"),
        (["anotate", "letter.txt"], 2, "Did you mean 'annotate'"),
        (["treebank", "check", "letter.txt"], 2, "Did you mean 'validate'?"),
        (["annotate", "Maria lives in Rome."], 1, "to annotate a text, write --text 'Maria lives in Rome.'"),
        (
            ["draw", "letter.txt", "--out", "a.svg", "--sentence", "1"],
            1,
            "annotate it first, `weft annotate letter.txt",
        ),
    ],
)
def test_what_is_meant_is_suggested(
    weft: Weft, tagger: Path, tmp_path: Path, words: list[str], code: int, said: str
) -> None:
    (tmp_path / "letter.txt").write_text("It rains.\n")
    (tmp_path / "tagger.weft").write_bytes(tagger.read_bytes())
    failed = weft(*words)
    assert failed.returncode == code
    assert said in " ".join(failed.stderr.replace("│", " ").split())

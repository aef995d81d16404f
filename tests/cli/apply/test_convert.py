from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Weft = Callable[..., "subprocess.CompletedProcess[str]"]
BAD = "1\tDogs\tdog\n\n"


def test_a_file_goes_to_jsonl_and_comes_back_the_same(weft: Weft, tmp_path: Path, examples: Path) -> None:
    assert weft("convert", examples / "story.conllu", "story.jsonl.gz").stderr == "1 document written\n"
    assert weft("convert", "story.jsonl.gz", "back.conllu").returncode == 0
    assert (tmp_path / "back.conllu").read_bytes() == (examples / "story.conllu").read_bytes()


def test_dashes_are_standard_input_and_output(weft: Weft, examples: Path) -> None:
    text = (examples / "story.conllu").read_text(encoding="utf-8")
    done = weft("convert", "-", "-", "--from", "conllu", "--to", "jsonl", stdin=text)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["meta"] == {"id": "lighthouse"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-", "out.jsonl"], "give the format of standard input with --from: conllu"),
        (["story.conllu", "-"], "give the format to write to standard output with --to: conllu"),
        (["story.conllu", "folder"], "give the format to write to the folder folder with --to: conllu"),
        (["story.conllu", "out.jsonl", "--scheme", "IOB2"], "--scheme and --fields belong to columns"),
    ],
)
def test_what_is_not_said_is_asked_for(
    arguments: list[str], said: str, weft: Weft, tmp_path: Path, examples: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "story.conllu").symlink_to(examples / "story.conllu")
    failed = weft("convert", *arguments)
    assert failed.returncode == 1
    assert said in failed.stderr


def test_what_is_left_out_is_counted_and_nothing_at_all_is_a_failure(
    weft: Weft, tmp_path: Path, examples: Path
) -> None:
    story = (examples / "story.conllu").read_text(encoding="utf-8")
    (tmp_path / "some.conllu").write_text(story + 25 * BAD, encoding="utf-8")
    done = weft("convert", "some.conllu", "some.jsonl", "--skip-bad")
    assert done.returncode == 0
    assert "left out: some.conllu, line" in done.stderr
    assert "left out: 5 more\n1 document written, 25 pieces left out\n" in done.stderr
    (tmp_path / "none.conllu").write_text(BAD, encoding="utf-8")
    done = weft("convert", "none.conllu", "none.jsonl", "--skip-bad")
    assert done.returncode == 1
    assert "0 documents written, 1 piece left out" in done.stderr


def test_text_without_words_is_split_if_asked_for(weft: Weft, tmp_path: Path, examples: Path) -> None:
    failed = weft("convert", examples / "note.txt", "note.conllu")
    assert failed.returncode == 1
    assert "--split" in failed.stderr
    assert weft("convert", examples / "note.txt", "note.conllu", "--split").returncode == 0
    assert (tmp_path / "note.conllu").read_text(encoding="utf-8").splitlines()[3].startswith("1\tThe\t")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("Ada met Bob.", encoding="utf-8")
    (tmp_path / "notes" / "a.ann").write_text("T1\tPER 0 3\tAda\n", encoding="utf-8")
    assert "--split" in weft("convert", "notes", "notes.conll").stderr
    assert weft("convert", "notes", "notes.conll", "--split").returncode == 0
    assert (tmp_path / "notes.conll").read_text(encoding="utf-8") == "Ada B-PER\nmet O\nBob O\n. O\n\n"


def test_a_bad_file_leaves_the_older_output_as_it_was(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "bad.conllu").write_text(BAD, encoding="utf-8")
    (tmp_path / "out.jsonl").write_text("older\n", encoding="utf-8")
    failed = weft("convert", "bad.conllu", "out.jsonl")
    assert failed.returncode == 1
    assert failed.stderr.startswith("weft: bad.conllu, line 1: expected 10 tab-separated columns, found 3 columns")
    assert (tmp_path / "out.jsonl").read_text(encoding="utf-8") == "older\n"


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_is_named(weft: Weft, tmp_path: Path, examples: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    failed = weft("convert", examples / "story.conllu", "closed/story.jsonl")
    assert failed.returncode == 1
    assert "permission denied" in failed.stderr.lower()
    assert "Traceback" not in failed.stderr

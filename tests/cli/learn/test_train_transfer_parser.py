"""`weft train parser --method transfer`: a parser of a language without a treebank, from the command line."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


def named(examples: Path, *codes: str) -> str:
    return ",".join(f"{code}={examples / 'languages' / code}.conllu" for code in codes)


def test_a_parser_from_other_languages_is_trained_and_annotates(weft: Weft, tmp_path: Path, examples: Path) -> None:
    target = examples / "languages" / "nl-text.conllu"
    done = weft(
        "train",
        "parser",
        "--method",
        "transfer",
        "--sources",
        named(examples, "en", "de", "es"),
        "--target",
        f"nl={target}",
        "--share",
        "similar",
        "--adapt",
        "aast",
        "--bits",
        "14",
        "--iterations",
        "20",
        "--out",
        "nl.weft",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)["training"]
    assert told["languages"] == "de en es"
    assert told["partners"] == "de nl"
    assert told["target sentences"] == 8
    assert told["heads per word"] >= 1
    done = weft("annotate", target, "--model", "nl.weft", "--out", "found.conllu")
    assert done.returncode == 0, done.stderr
    heads = [line.split("\t")[6] for line in (tmp_path / "found.conllu").read_text().splitlines() if "\t" in line]
    assert heads
    assert all(head.isdigit() for head in heads)
    done = weft("models", "info", "nl.weft")
    assert "transfer-parser" in done.stdout
    assert str(examples) not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["parser", "--method", "transfer", "--sources", "SOURCES"],
            "give the language to parse",
        ),
        (["parser", "--method", "transfer", "--target", "nl"], "--sources CODE=FILE"),
        (
            ["parser", "--method", "transfer", "--sources", "en,de", "--target", "nl"],
            "is written NAME=VALUE,NAME=VALUE",
        ),
        (
            ["parser", "--method", "transfer", "--sources", "en=a.conllu,en=b.conllu", "--target", "nl"],
            "names 'en' twice",
        ),
        (
            ["parser", "a.conllu", "--method", "transfer", "--sources", "SOURCES", "--target", "nl"],
            "leave out a.conllu",
        ),
        (["parser", "a.conllu", "--share", "family"], "--share is an option of --method transfer"),
        (["parser"], "Missing argument"),
        (
            ["parser", "--method", "transfer", "--sources", "SOURCES", "--target", "xx"],
            "there is no typology for the language 'xx'",
        ),
        (
            ["parser", "--method", "transfer", "--sources", "SOURCES", "--target", "nl", "--adapt", "aast"],
            "trains on target sentences",
        ),
        (
            ["parser", "--method", "transfer", "--sources", "SOURCES", "--target", "nl", "--share", "all"],
            "share must be one of delex",
        ),
        (["parser", "--method", "transfer", "--sources", "en=none.conllu", "--target", "nl"], "none.conllu"),
    ],
)
def test_what_cannot_be_done_is_said_plainly(weft: Weft, examples: Path, arguments: list[str], said: str) -> None:
    own = [named(examples, "en", "de") if word == "SOURCES" else word for word in arguments]
    done = weft("train", *own, "--out", "nl.weft")
    assert done.returncode != 0
    assert said in " ".join((done.stderr + done.stdout).replace("│", " ").split())
    assert "Traceback" not in done.stderr

"""`weft convert` between formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from weft.cli.apply.convert import convert
from weft.cli.generated import with_reading
from weft.formats import read

CHUNKS = "Dogs NNS B-NP\nbark VBP B-VP\n\n"


@pytest.fixture
def run() -> object:
    app = typer.Typer()
    app.command()(with_reading(convert))

    def call(*arguments: object, given: str | None = None) -> object:
        return CliRunner().invoke(app, [str(argument) for argument in arguments], input=given, catch_exceptions=False)

    return call


def test_columns_go_to_conllu_jsonl_parquet_and_back(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.txt").write_text(CHUNKS)
    assert run(tmp_path / "a.txt", tmp_path / "a.jsonl", "--from", "columns").exit_code == 0
    assert run(tmp_path / "a.jsonl", tmp_path / "a.parquet").exit_code == 0
    assert run(tmp_path / "a.parquet", tmp_path / "b.conll", "--scheme", "BIOES").exit_code == 0
    assert (tmp_path / "b.conll").read_text() == "Dogs NNS S-NP\nbark VBP S-VP\n\n"
    assert (
        run(tmp_path / "b.conll", tmp_path / "c.conll", "--scheme", "IOB1", "--fields", "form xpos chunks").exit_code
        == 0
    )
    assert (tmp_path / "c.conll").read_text() == "Dogs NNS I-NP\nbark VBP I-VP\n\n"
    assert run(tmp_path / "c.conll", tmp_path / "c.conllu").exit_code == 0
    assert (tmp_path / "c.conllu").read_text().startswith("# newdoc\n# sent_id = 1\n# text = Dogs bark\n1\tDogs\t")
    assert [doc.text for doc in read(tmp_path / "c.conllu")] == ["Dogs bark"]


def test_conllu_to_conllu_changes_nothing(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    text = "1\tDogs\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    (tmp_path / "a.conllu").write_text(text)
    assert run(tmp_path / "a.conllu", tmp_path / "b.conllu.gz").exit_code == 0
    assert run(tmp_path / "b.conllu.gz", tmp_path / "c.conllu").exit_code == 0
    assert (tmp_path / "c.conllu").read_text() == text


def test_what_is_left_out_is_counted(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.conll").write_text(CHUNKS + "bad\n\n")
    result = run(tmp_path / "a.conll", tmp_path / "a.jsonl", "--skip-bad", "--json")
    assert json.loads(result.stdout)["left_out"] == 1
    result = run(tmp_path / "a.conll", tmp_path / "a.jsonl", "--skip-bad")
    assert "1 document written, 1 piece left out" in result.output


def test_layers_that_are_lost_are_named(tmp_path: Path, run) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "a.conll").write_text(CHUNKS)
    result = run(tmp_path / "a.conll", tmp_path / "a.conllu")
    assert "conllu cannot hold, so not written: spans/chunks" in result.output
    assert "cannot hold" not in run(tmp_path / "a.conll", tmp_path / "b.conll").output

"""Kernels that are compiled beforehand, into a folder that later processes can only read."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from known_kernels import fill

import weft
from weft.errors import ModelError
from weft.pipeline.warm import warm
from weft.text import Doc

#: Annotates as a program would, and prints how many kernels that compiled.
USE = """
import sys, weft
from weft.kernel import compiled
nlp = weft.load(sys.argv[1])
for options in ({}, {"probabilities": True}, {"kbest": 3}):
    print(nlp("A cat barks.", **options).column("upos"), file=sys.stderr)
print(len(compiled.names))
"""


def _without_privileges() -> None:
    """Take from the superuser what lets it write to folders that can only be read (CAP_DAC_OVERRIDE)."""
    ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "tagger.weft"
    words, tags = [["a", "dog", "barks"], ["a", "cat", "sleeps"]], [["DET", "NOUN", "VERB"]] * 2
    weft.train("tagger", [Doc.from_words(words, upos=tags)], epochs=2, out=path)
    return path


@pytest.mark.skipif(sys.platform != "linux", reason="takes privileges away as Linux does")
def test_a_start_with_a_warm_folder_that_can_only_be_read_compiles_nothing(
    tagger: Path, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    cache = tmp_path / "kernels"
    fill(cache, pytestconfig, without=("viterbi",))
    assert warm([tagger], cache)["kernels"] > 0
    assert warm([tagger], cache)["kernels"] == 0
    for path in sorted(cache.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    cache.chmod(0o555)
    before = {path: path.stat().st_mtime_ns for path in cache.rglob("*")}
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", USE, str(tagger)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, preexec_fn=_without_privileges
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert {path: path.stat().st_mtime_ns for path in cache.rglob("*")} == before
    cache.chmod(0o755)


def test_a_model_that_cannot_be_loaded_is_an_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ModelError, match="could not be run"):
        warm([tmp_path / "none.weft"])
    assert "there is no model file" in capfd.readouterr().err


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="give another --cache"):
        warm([], tmp_path / "file" / "kernels")


def test_the_command_tells_what_was_compiled_and_where(
    tagger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from weft.cli.app import app

    asked = []
    monkeypatch.setattr("weft.pipeline.warm.warm", lambda *given: asked.append(given) or {"kernels": 1, "seconds": 2.5})
    cache = tmp_path / "kernels"
    done = CliRunner().invoke(app, ["models", "warm", str(tagger), "--cache", str(cache)])
    assert done.output == f"compiled 1 kernel in 2 s\nset NUMBA_CACHE_DIR={cache} where Weft runs\n"
    told = CliRunner().invoke(app, ["models", "warm", "--json"])
    assert json.loads(told.output) == {"kernels": 1, "seconds": 2.5}
    assert asked[0] == ([tagger], cache)
    assert [path.name for path in asked[1][0]] == ["en.weft"]

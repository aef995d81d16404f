"""`weft serve`: which models it offers, and what it says where it cannot begin."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

import weft
from weft.cli.app import app
from weft.cli.apply.serve import load
from weft.errors import ConfigError, ModelError
from weft.pipeline.pipeline import Pipeline
from weft.tasks.tagging.tagger import Tagger
from weft.text import Doc


@pytest.fixture
def tagger(tmp_path: Path) -> Path:
    component = Tagger()
    component.fit([Doc.from_words([["dogs", "bark"], ["cats", "sleep"]], upos=[["NOUN", "VERB"]] * 2)])
    Pipeline([component]).save(tmp_path / "tagger.weft")
    return tmp_path / "tagger.weft"


def test_models_are_named_by_their_files_or_as_one_likes_and_may_be_joined(tagger: Path) -> None:
    found = load([str(tagger), f"pets={tagger}", f"{tagger}+{tagger}"])
    assert list(found) == ["tagger", "pets", "tagger+tagger"]
    assert [len(nlp.components) for nlp in found.values()] == [1, 1, 2]
    with pytest.raises(ConfigError, match="two models are called 'tagger'"):
        load([str(tagger), str(tagger)])


def test_without_a_model_the_default_one_is_served_or_missed_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: object) -> Pipeline:
        raise ModelError(f"there is no {name}")

    monkeypatch.setattr(weft, "load", missing)
    with pytest.raises(ModelError, match="no --model was given, and the model 'en' cannot be used: there is no en"):
        load(None)
    monkeypatch.setattr(weft, "load", lambda name: Pipeline([]))
    assert list(load([])) == ["en"]


def test_a_port_that_is_taken_is_told(tagger: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(app, ["serve", "--model", str(tagger), "--port", str(port)])
    assert result.exit_code == 1
    assert f"port {port}: address already in use; choose others" in result.output + getattr(result, "stderr", "")


def test_it_says_where_it_is_answers_there_and_ends_when_interrupted(tagger: Path) -> None:
    command = [sys.executable, "-m", "weft", "serve", "--model", str(tagger), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "WEFT_QUIET": "1"})
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == "1 model ready: tagger\n"
        address = process.stderr.readline().split()[3]
        assert address.startswith("http://127.0.0.1:")
        answer = httpx.post(f"{address}/annotate", json={"text": "cats bark"}, timeout=30).json()
        assert [word["upos"] for word in answer["words"]] == ["NOUN", "VERB"]
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(20) in (0, 130)
        assert "Traceback" not in rest
    finally:
        process.kill()
        process.communicate()


def test_a_graph_is_served_without_a_model() -> None:
    place = ["--graph", "examples/graph/town.tsv", "--schema", "examples/graph/town.toml", "--me", "Mara Lind"]
    command = [sys.executable, "-m", "weft", "serve", *place, "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, "WEFT_QUIET": "1"})
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == "graph ready: 12 nodes, 21 edges\n"
        address = process.stderr.readline().split()[3]
        answer = httpx.post(f"{address}/ask", json={"text": "my friends"}, timeout=30).json()
        assert [row[0] for row in answer["rows"]] == ["Ina Dahl"]
        process.send_signal(signal.SIGINT)
        assert "Traceback" not in process.stderr.read()
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--me", "Mara Lind"], "name one with --graph"),
        (["--graph", "nowhere"], "nowhere"),
        (["--graph", "examples/graph/town.tsv", "--me", "Nobody"], "no node 'Nobody'"),
    ],
)
def test_a_graph_that_cannot_be_asked_is_told(given: list[str], said: str) -> None:
    result = CliRunner().invoke(app, ["serve", "--port", "0", *given])
    assert result.exit_code == 1
    assert said in result.output + getattr(result, "stderr", "")


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['fastapi'] = None; sys.argv = ['weft', 'serve']; from weft.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "weft: serving needs fastapi; install the extra: pip install 'weft[serve]'\n"

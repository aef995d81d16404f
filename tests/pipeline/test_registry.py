from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import weft as package
from weft.errors import ConfigError, ModelError
from weft.pipeline.component import Component
from weft.pipeline.registry import KINDS, component_class, train
from weft.storage import read_header

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def header(examples: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The header of a chunker trained with everything said."""
    out = tmp_path_factory.mktemp("models") / "new" / "chunker.weft"
    chunks, unseen = package.read(examples / "chunks.conll"), package.read(examples / "unseen.conll")
    train("chunker", chunks, unseen, out, {"order": 1}, name="harbour", corpora=["a", "b"], licence="CC0-1.0")
    return read_header(out)


def test_every_kind_has_a_component_of_its_name() -> None:
    for task in KINDS:
        kind = component_class(task)
        assert issubclass(kind, Component)
        assert kind.task == task


def test_a_header_names_version_task_corpora_licence_and_scores(header: dict[str, Any]) -> None:
    assert header["version"] == 1
    assert header["task"] == "chunker"
    assert header["name"] == "harbour"
    assert header["corpora"] == ["a", "b"]
    assert header["licence"] == "CC0-1.0"
    assert header["scores"]["dev f1"] > 0.8
    assert header["training"]["sentences"] == 120
    assert header["weft"] == package.__version__


def test_a_header_names_label_set_and_templates(header: dict[str, Any]) -> None:
    (component,) = header["components"]
    assert component["task"] == "chunker"
    assert {"B-NP", "I-NP", "O"} <= set(component["chain"]["labels"])
    assert "t[-1]|t[0]" in component["settings"]["templates"]
    assert component["settings"]["fields"] == {"w": "form", "t": "xpos"}


def test_what_is_not_said_stands_as_not_stated(examples: Path, tmp_path: Path) -> None:
    report = train("tagger", package.read(examples / "story.conllu"), None, tmp_path / "t.weft", {"iterations": 2})
    header = read_header(tmp_path / "t.weft")
    assert header["name"] == "t"
    assert header["licence"] == "not stated"
    assert header["corpora"] == ["not stated"]
    assert header["scores"] == {}
    assert report["bytes"] == (tmp_path / "t.weft").stat().st_size


def test_a_card_survives_loading_and_saving(header: dict[str, Any], examples: Path, tmp_path: Path) -> None:
    train("tagger", package.read(examples / "story.conllu"), None, tmp_path / "a.weft", {"iterations": 2}, licence="X")
    package.load(tmp_path / "a.weft").save(tmp_path / "b.weft")
    assert read_header(tmp_path / "b.weft") == read_header(tmp_path / "a.weft")


def test_unknown_tasks_and_settings_are_told(examples: Path, tmp_path: Path) -> None:
    docs = package.read(examples / "chunks.conll")
    with pytest.raises(ConfigError, match=r"unknown task 'xyzzy'; the tasks are: .*tagger, .*chunker"):
        train("xyzzy", docs, None, tmp_path / "a.weft", {})
    with pytest.raises(ConfigError, match="unknown setting 'colour'"):
        train("chunker", docs, None, tmp_path / "a.weft", {"colour": "red"})
    with pytest.raises(ModelError, match="does not know the task 'os:path'"):
        component_class("os:path")


def test_a_place_that_cannot_be_written_is_told_before_training(examples: Path, tmp_path: Path) -> None:
    def read_nothing() -> Any:
        raise AssertionError("training began")
        yield

    docs = package.Corpus(read_nothing)
    with pytest.raises(ConfigError, match="is a folder"):
        train("chunker", docs, None, tmp_path, {})
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="is not a folder that can be written to"):
        train("chunker", docs, None, tmp_path / "file" / "a.weft", {})


def test_the_command_line_names_corpora_by_their_files_alone(weft: Weft, examples: Path, tmp_path: Path) -> None:
    done = weft("train", "tagger", examples / "story.conllu", "--out", "a.weft", "--iterations", "2")
    assert done.returncode == 0, done.stderr
    assert read_header(tmp_path / "a.weft")["corpora"] == ["story.conllu"]
    assert str(examples) not in json.dumps(read_header(tmp_path / "a.weft"))
    folder = tmp_path / "stories"
    folder.mkdir()
    (folder / "one.conllu").write_bytes((examples / "story.conllu").read_bytes())
    said = ["--corpus", "Harbour stories", "--corpus", "Others", "--licence", "CC-BY-4.0", "--name", "harbour"]
    done = weft("train", "tagger", folder, "--out", "b.weft", "--iterations", "2", *said)
    assert done.returncode == 0, done.stderr
    header = read_header(tmp_path / "b.weft")
    assert header["corpora"] == ["Harbour stories", "Others"]
    shown = weft("models", "info", "b.weft").stdout
    for fact in ("harbour", "Harbour stories", "Others", "CC-BY-4.0", "tagger", "NOUN", "w[0]"):
        assert fact in shown
    listed = weft("models", "list").stdout
    assert "CC-BY-4.0" in listed


SLOW = """
import sys, time
from weft.learn.training import Checkpoint
save = Checkpoint.save
def save_slowly(self, *rest):
    save(self, *rest)
    print("saved", file=sys.stderr, flush=True)
    time.sleep({pause})
Checkpoint.save = save_slowly
from weft.cli import main
main()
"""


def trained(folder: Path, pause: float, *arguments: str | Path) -> subprocess.Popen[str]:
    """`weft train` in a process that waits after every checkpoint, so that it can be interrupted."""
    command = [sys.executable, "-c", SLOW.format(pause=pause), "train", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        env={**os.environ, "WEFT_QUIET": "1"},
    )  # fmt: skip


def test_an_interrupted_training_leaves_no_model_and_can_be_resumed(weft: Weft, examples: Path, tmp_path: Path) -> None:
    chunks = examples / "chunks.conll"
    common: list[str | Path] = ["chunker", chunks, "--order", "1", "--iterations", "12", "--json"]
    process = trained(tmp_path, 0.3, *common, "--out", "a.weft", "--checkpoint", "run.safetensors")
    assert process.stderr is not None
    for _ in range(3):
        assert process.stderr.readline() == "saved\n"
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert said.splitlines()[-1] == "weft: interrupted; what was finished is in place"
    assert "Traceback" not in said
    assert [path.name for path in tmp_path.iterdir()] == ["run.safetensors"]

    resumed = trained(tmp_path, 0, *common, "--out", "a.weft", "--checkpoint", "run.safetensors")
    out, err = resumed.communicate(timeout=120)
    assert resumed.returncode == 0, err
    fresh = weft("train", *common, "--out", "b.weft")
    assert fresh.returncode == 0, fresh.stderr
    for printed in (out, fresh.stdout):
        assert json.loads(printed)["training"]["iterations"] == 12
    assert 0 < err.count("saved") <= 9
    one, other = (package.load(tmp_path / name) for name in ("a.weft", "b.weft"))
    text = next(iter(package.read(examples / "unseen.conll")))
    texts = [text.subset(range(text.n_sentences)) for _ in range(2)]
    labels = [list(nlp(doc).spans["chunks"]) for nlp, doc in zip((one, other), texts, strict=True)]
    assert labels[0] == labels[1]
    assert one.card["training"]["loss"] == pytest.approx(other.card["training"]["loss"], rel=1e-9)


def test_an_interruption_before_the_first_checkpoint_leaves_nothing(examples: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        SLOW.format(pause=0),
        "train",
        "chunker",
        "-",
        "--from",
        "columns",
        "--out",
        "a.weft",
    ]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdin is not None
    process.stdin.write((examples / "chunks.conll").read_text())
    process.stdin.flush()
    time.sleep(1.5)  # it now waits for the rest of the input
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "Traceback" not in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("task", "file", "options"),
    [
        ("segmenter", "letters.conllu", {}),
        ("tagger", "story.conllu", {"epochs": 2}),
        ("lemmatizer", "story.conllu", {}),
        ("parser", "story.conllu", {"epochs": 2}),
        ("ner", "ferries.conll", {"epochs": 2}),
        ("chunker", "chunks.conll", {"iterations": 5}),
    ],
)
def test_the_same_training_gives_the_same_bytes(
    examples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, file: str, options: dict[str, Any]
) -> None:
    docs = list(package.read(examples / file))
    models = []
    for run, workers in enumerate((1, 1, 2)):
        # However long it takes.
        monkeypatch.setattr(
            "weft.pipeline.component.Stopwatch.seconds", lambda watch, run=run: {"seconds": run, "cpu_seconds": run}
        )
        report = train(task, docs, None, tmp_path / str(run) / "m.weft", {"seed": 3, "workers": workers, **options})
        assert report["training"]["seconds"] == run
        models.append((tmp_path / str(run) / "m.weft").read_bytes())
    assert models[0] == models[1] == models[2]

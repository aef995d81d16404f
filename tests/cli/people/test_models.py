"""`weft models`: list, index, install."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.pipeline.pipeline import Pipeline

Weft = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.delenv("WEFT_MODELS", raising=False)
    card = {"name": "tlh", "language": "Klingon", "licence": "CC0", "what": "Nothing yet.", "weft": "0.1.0"}
    Pipeline([], card).save(tmp_path / "shelf" / "tlh.weft")
    return tmp_path / "share" / "weft" / "models"


def test_an_index_is_written_listed_and_installed(weft: Weft, home: Path, tmp_path: Path) -> None:
    assert weft("models", "index", "shelf", "--out", "shelf/index.json").returncode == 0
    entry = json.loads((tmp_path / "shelf" / "index.json").read_text())["models"][0]
    assert entry["size"] == (tmp_path / "shelf" / "tlh.weft").stat().st_size
    assert (entry["language"], entry["file"], entry["version"]) == ("Klingon", "tlh.weft", "0.1.0")
    offered = weft("models", "list", "--index", "shelf/index.json", "--json")
    assert [(each["name"], each["installed"]) for each in json.loads(offered.stdout)] == [("tlh", False)]
    done = weft("models", "install", "shelf/index.json", "tlh")
    assert done.stdout == f"tlh: installed, 0.0 MB, {home / 'tlh.weft'}\n"
    again = weft("models", "install", "shelf/index.json", "--json")
    assert json.loads(again.stdout)[0]["change"] == "none"
    assert "yes" in weft("models", "list", "--index", "shelf/index.json").stdout


def test_the_list_tells_where_models_are(weft: Weft) -> None:
    assert weft("models", "install", "shelf/tlh.weft").returncode == 0
    listed = json.loads(weft("models", "list", "--json").stdout)
    where = {(each["model"], each["where"]) for each in listed}
    assert {("en", "package"), ("tlh", "your folder"), ("shelf/tlh.weft", "this folder")} <= where
    named = json.loads(weft("models", "list", "--json", WEFT_MODELS="shelf").stdout)
    assert ("tlh", "$WEFT_MODELS") in {(each["model"], each["where"]) for each in named}


def test_errors_are_one_line(weft: Weft) -> None:
    for words in (["install", "nowhere"], ["install", "shelf", "xx"], ["index", "share", "--out", "x.json"]):
        done = weft("models", *words)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("weft: ")
        assert done.stderr.count("\n") == 1


def test_a_model_that_is_missing_is_told_with_how_to_install_it(weft: Weft) -> None:
    done = weft("annotate", "-", "--model", "de", stdin="Hallo.")
    assert "`weft models install SOURCE de` installs it" in done.stderr

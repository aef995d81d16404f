"""Packages that only some users need: Weft annotates without them, and says which extra installs them."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

from weft.cli.app import load_command
from weft.errors import ConfigError
from weft.formats import read, write
from weft.graph.neighbours import nearest_neighbours
from weft.learn.linear.classifiers import linear_svm, logistic_regression
from weft.packages import EXTRAS
from weft.text import Doc

WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(("pyarrow", "sklearn", "pandas", "fastapi", "distributed")))
import weft
nlp = weft.load("en")
assert nlp("Maria lives in Rome.").entities
chunker = weft.train("chunker", "examples/chunks.conll", iterations=2)
assert next(iter(chunker.pipe(weft.read("examples/unseen.conll")))).spans["chunks"]
"""


def test_annotating_and_training_need_no_extra() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_what_needs_an_extra_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pyarrow", "pyarrow.parquet", "sklearn", "sklearn.svm", "sklearn.linear_model", "sklearn.neighbors"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ConfigError, match=r"pip install 'weft\[parquet\]'"):
        write([Doc("Hi")], tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(ConfigError, match=r"Parquet needs the package pyarrow"):
        list(read(tmp_path / "b.parquet"))
    rows = np.eye(3)
    for train in (linear_svm, logistic_regression):
        with pytest.raises(ConfigError, match=r"pip install 'weft\[learn\]'"):
            train(rows, ["a", "b", "a"])
    with pytest.raises(ConfigError, match=r"pip install 'weft\[learn\]'"):
        nearest_neighbours(rows, 1)


def test_every_extra_that_is_named_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(EXTRAS.values()) <= set(project["optional-dependencies"])
    assert not any("pyarrow" in line or "scikit-learn" in line for line in project["dependencies"])
    versions = [line.rsplit(" ", 1)[-1] for line in project["classifiers"] if "Python :: 3." in line]
    assert versions == ["3.11", "3.12", "3.13"]


def test_the_install_page_names_extras_that_exist_and_all_that_users_need() -> None:
    page = (ROOT / "docs" / "start" / "install.md").read_text()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = set(re.findall(r"weft\[(\w+)\]", page))
    assert named <= set(extras)
    assert set(extras) - {"bench", "docs", "dev"} <= named
    for subject in ("3.11, 3.12 or 3.13", "Dockerfile", "Windows", "macOS", "NUMBA_CACHE_DIR", "WEFT_MODELS"):
        assert subject in page


def test_the_docker_file_calls_commands_with_options_that_exist() -> None:
    text = (ROOT / "examples" / "docker" / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert {line.split()[0] for line in lines} <= {"FROM", "ENV", "COPY", "RUN", "USER", "EXPOSE", "CMD"}
    assert "install weft" not in text  # before the first release, an index has no Weft, or another one
    assert '"weft[' not in text
    serve = json.loads(next(line for line in lines if line.startswith("CMD")).removeprefix("CMD "))
    warm = shlex.split(next(line for line in lines if "weft models warm" in line).split("&&")[1])
    groups = {"serve": load_command("serve"), "models": load_command("models").commands["warm"]}
    for program, name, *words in (serve, warm):
        flags = {flag for param in groups[name].params for flag in param.opts}
        assert program == "weft"
        assert {word for word in words if word.startswith("--")} <= flags

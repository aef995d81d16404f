"""Shell completion: what the shells' scripts ask for, asked as they do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUN = "import sys; sys.argv = ['weft']; from weft.cli import main; main()"


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("weft train ta", ["tagger"]),
        ("weft train tagger --method fl", ["flors"]),
        ("weft train tagger --learner m", ["mira", "margin", "memm"]),
        ("weft annotate --model e", ["en", "en-speech"]),
        ("weft annotate --model ch", ["chunker.weft"]),
        ("weft models card e", ["en", "en-speech"]),
        ("weft reproduce crf-", ["crf-shallow-parsing"]),
        ("weft annotate --to rec", ["records"]),
        ("weft data ex", ["examples"]),
    ],
)
def test_tasks_methods_models_and_systems_are_completed(typed: str, offered: list[str], tmp_path: Path) -> None:
    (tmp_path / "chunker.weft").touch()
    words = typed.split()
    asked = {"_WEFT_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    environment = {**os.environ, **asked, "XDG_DATA_HOME": str(tmp_path)}
    environment.pop("WEFT_MODELS", None)
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == offered, done.stderr

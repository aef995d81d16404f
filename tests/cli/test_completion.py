"""Shell completion: what the shells' scripts ask for, asked as they do."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("weft train ta", ["tagger"]),
        ("weft train tagger --method fl", ["flors"]),
        ("weft train tagger --learner m", ["mira", "margin", "memm"]),
        ("weft annotate --model e", ["en", "en-coref", "en-relations", "en-roles", "en-speech", "en-times"]),
        ("weft annotate --model ch", ["chunker.weft"]),
        ("weft models card e", ["en", "en-coref", "en-relations", "en-roles", "en-speech", "en-times"]),
        ("weft reproduce crf-", ["crf-shallow-parsing"]),
        ("weft annotate --to rec", ["records"]),
        ("weft data ex", ["examples"]),
    ],
)
def test_tasks_methods_models_and_systems_are_completed(
    typed: str, offered: list[str], weft: Weft, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "chunker.weft").touch()
    monkeypatch.delenv("WEFT_MODELS", raising=False)
    place = str(len(typed.split()) - 1)
    done = weft(_WEFT_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=place, XDG_DATA_HOME=str(tmp_path))
    assert done.stdout.split() == offered, done.stderr

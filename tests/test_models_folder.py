"""The models of the folder `models/`: small, described, and installed by one command."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

import weft as package
from weft.pipeline.pipeline import Pipeline

FOLDER = Path(__file__).parents[1] / "models"
MODELS = sorted(FOLDER.glob("*.weft"))
#: A sentence per language, and the parts of speech that are beyond doubt.
SENTENCES = {
    "de": ("Die Katze schläft im Garten.", {"Katze": "NOUN", "schläft": "VERB", "Garten": "NOUN"}),
    "es": ("La casa está en la ciudad.", {"casa": "NOUN", "en": "ADP", "ciudad": "NOUN"}),
    "fi": ("Kissa nukkuu talossa.", {"nukkuu": "VERB", "talossa": "NOUN"}),
    "fr": ("Le chat dort dans la maison.", {"chat": "NOUN", "dans": "ADP", "maison": "NOUN"}),
    "it": ("Il governo parla della scuola.", {"governo": "NOUN", "parla": "VERB", "scuola": "NOUN"}),
    "pt": ("O governo fala da escola.", {"governo": "NOUN", "fala": "VERB", "escola": "NOUN"}),
    "sv": ("Barnen leker i skolan.", {"i": "ADP", "skolan": "NOUN"}),
}


def test_there_are_models() -> None:
    assert {path.stem for path in MODELS} <= set(SENTENCES)
    assert {"de", "es", "fi", "fr", "it", "pt", "sv"} <= {path.stem for path in MODELS}


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_model_is_small_and_says_what_it_may_be_used_for(path: Path) -> None:
    assert path.stat().st_size <= 4_000_000
    card = Pipeline.load(path).card
    assert card["name"] == path.stem
    assert card["licence"].startswith(("CC BY", "LGPL-LR"))
    assert not any("-NC" in corpus for corpus in card["corpora"])
    assert card["scores"]


def test_the_index_describes_the_files_as_they_are() -> None:
    entries = {row["name"]: row for row in json.loads((FOLDER / "index.json").read_text())["models"]}
    assert set(entries) == {path.stem for path in MODELS}
    for path in MODELS:
        assert entries[path.stem]["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert entries[path.stem]["size"] == path.stat().st_size


def test_installed_models_are_found_by_their_language(
    weft: Callable[..., CompletedProcess[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEFT_MODELS", str(tmp_path / "mine"))
    done = weft("models", "install", str(FOLDER / "index.json"))
    assert done.returncode == 0, done.stderr
    for path in MODELS:
        text, tags = SENTENCES[path.stem]
        doc = package.load(path.stem)(text)
        assert {word.form: word.upos for word in doc.words if word.form in tags} == tags
        assert doc.n_sentences == 1
        assert doc.head is not None

"""Training the model of languages: the table of texts, windows, and a small model."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft import storage
from weft.errors import DataError
from weft.text.language import LanguageModel, language_of
from weft.training import languages
from weft.training.languages import Options, in_cyrillic, licence_of, score, sources, train

ENGLISH = "the cat sat on the mat and the dog looked at the house with the old man who thought of the sea"
FINNISH = "kissa istui matolla ja koira katsoi taloa jossa vanha mies ajatteli merta eik\u00e4 sanonut mit\u00e4\u00e4n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with two small languages, one as verses and one as a treebank, and a third one as words."""
    rng = np.random.default_rng(0)
    lines = [" ".join(rng.permutation(ENGLISH.split())) for _ in range(60)]
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "en.tsv.gz").write_bytes(
        gzip.compress("".join(f"{i}\t{x}\n" for i, x in enumerate(lines)).encode())
    )
    lines = [" ".join(rng.permutation(FINNISH.split())) for _ in range(60)]
    rows = [[f"{i}\t{w}" + "\t_" * 4 + "\t0\troot\t_\t_" for i, w in enumerate(x.split(), 1)] for x in lines]
    (tmp_path / "fi").mkdir()
    (tmp_path / "fi" / "train.conllu").write_text("".join("\n".join(row) + "\n\n" for row in rows))
    table = {
        "licences": {"en": "public domain", "fi": "CC BY-SA 4.0"},
        "language": [
            {"code": "en", "name": "English", "train": ["en/en.tsv.gz"]},
            {"code": "fi", "name": "Finnish", "train": ["fi/train.conllu"], "test": ["fi/train.conllu"]},
            {"code": "tlh", "name": "Klingon", "words": "tlhIngan Hol Dajatlh'a' nuq", "test": ["fi/train.conllu"]},
        ],
    }  # fmt: skip
    monkeypatch.setattr(languages, "_table", lambda: table)
    monkeypatch.setattr("weft.data.catalog", tuple)
    return tmp_path


SMALL = Options(buckets=500, dimensions=4, windows=60, epochs=6, batch=32)


def test_a_small_model_learns_its_languages_and_is_the_same_every_time(folder: Path) -> None:
    header, arrays = train(SMALL, folder)
    model = LanguageModel(header, arrays)
    scores = score(model, count=20, folder=folder)
    assert scores["languages"]["en"]["100"] == 100
    assert scores["languages"]["fi"]["100"] == 100
    assert header["corpora"] == {"en/en.tsv.gz": "public domain", "fi/train.conllu": "CC BY-SA 4.0"}
    again = train(SMALL, folder)[1]
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)


def test_the_command_writes_the_model_and_its_scores(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(languages, "Options", lambda seed: SMALL)
    out, results = tmp_path / "m.weft", tmp_path / "r.json"
    languages.main(["--out", str(out), "--results", str(results), "--data", str(folder)])
    assert json.loads(results.read_text())["bytes"] == out.stat().st_size
    assert storage.read_header(out)["task"] == "language"
    languages.main(["--out", str(out), "--score", "--data", str(folder)])
    first, second = capsys.readouterr().out.splitlines()
    assert first == second


def test_what_may_not_be_passed_on_is_not_learned_from(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table: dict[str, Any] = languages._table()
    table["licences"]["en"] = "CC BY-NC-SA 3.0"
    with pytest.raises(DataError, match=r"may not be passed on that has learned from en/en\.tsv\.gz"):
        train(SMALL, folder)


def test_the_licence_of_a_file_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(DataError, match=r"languages\.toml"):
        licence_of("attic/letters.txt")


def test_the_table_has_languages_once_each_and_files_with_licences_that_allow_a_model() -> None:
    rows = sources()
    assert len({row.code for row in rows}) == len({row.name for row in rows}) == len(rows)
    for row in rows:
        assert row.train or row.words, row.code
        assert not [file for file in row.train if any(word in licence_of(file) for word in languages._DENIED)]


def test_serbian_is_learned_in_both_scripts() -> None:
    assert in_cyrillic("Ljubav, Njegoš, džep i čaša") == "љубав, његош, џеп и чаша"
    assert [row.code for row in sources() if row.both_scripts] == ["sr"]
    assert language_of("Njegova ljubav prema domovini bila je velika, ali niko nije znao gde živi.").code in (
        "sr",
        "hr",
    )


@pytest.mark.corpus
def test_every_file_of_the_table_can_be_read(corpus_file: Any) -> None:
    for row in sources():
        for file in (*row.train, *row.test):
            corpus_file(file)
    row = next(row for row in sources() if row.code == "yue")
    assert len(row.learned()) == 2 * len(row.scored()) - 1
    assert not any(" " in sentence for sentence in row.learned())

from __future__ import annotations

from pathlib import Path

import pytest

from weft import data
from weft.errors import DataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "chunking" / "conll2000").mkdir(parents=True)
    (tmp_path / "chunking" / "conll2000" / "train.txt").write_text("Dogs NNS B-NP\n")
    return tmp_path


def test_a_file_is_found_whether_it_is_gzipped_or_not(folder: Path) -> None:
    found = folder / "chunking" / "conll2000" / "train.txt"
    assert data.find("chunking/conll2000/train.txt.gz", folder) == found
    assert data.find("chunking/conll2000/train.txt", folder) == found


def test_the_environment_names_the_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_DATA", str(folder))
    assert data.root() == folder
    assert data.have("chunking/conll2000/train.txt.gz")


def test_a_folder_given_wins_over_the_environment(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEFT_DATA", str(folder))
        assert data.root(other) == other


def test_a_missing_file_says_where_to_get_it(folder: Path) -> None:
    with pytest.raises(DataError) as caught:
        data.find("chunking/conll2000/test.txt.gz", folder)
    message = str(caught.value)
    assert "chunking/conll2000/test.txt.gz" in message
    assert "WEFT_DATA" in message
    assert data.entry("conll2000").source in message
    assert data.entry("conll2000").licence in message


def test_a_folder_that_is_none_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="not a folder"):
        data.root(tmp_path / "nowhere")
    monkeypatch.setenv("WEFT_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataError, match="WEFT_DATA"):
        data.root()


def test_missing_lists_only_the_files_that_are_not_there(folder: Path) -> None:
    assert data.missing(data.entry("conll2000"), folder) == ["chunking/conll2000/test.txt.gz"]


def test_an_unknown_corpus_gets_a_suggestion() -> None:
    with pytest.raises(DataError, match="did you mean conll2000"):
        data.entry("conll200")


def test_every_entry_of_the_catalogue_is_complete() -> None:
    names = [entry.name for entry in data.catalog()]
    assert len(names) == len(set(names))
    for entry in data.catalog():
        assert entry.files, entry.name
        assert entry.what, entry.name
        assert entry.licence, entry.name
        assert entry.source, entry.name
        assert entry.folder.startswith("/") == bool(entry.variable), entry.name  # what the system installs


@pytest.mark.corpus
def test_the_corpora_at_hand_are_those_of_the_catalogue() -> None:
    if data.root() is None:
        pytest.skip("no data folder: set WEFT_DATA")
    catalog = [entry for entry in data.catalog() if not entry.variable]
    here = [entry for entry in catalog if len(data.missing(entry)) < len(entry.files)]
    incomplete = {entry.name: data.missing(entry) for entry in here if data.missing(entry)}
    assert not incomplete

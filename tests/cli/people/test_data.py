from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from weft.data import entry

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def corpora(tmp_path: Path, examples: Path) -> Path:
    """A data folder that holds CoNLL-2000 (made of our own sentences) and nothing else."""
    folder = tmp_path / "corpora" / "chunking" / "conll2000"
    folder.mkdir(parents=True)
    for name in ("train.txt", "test.txt"):
        (folder / name).write_bytes((examples / "unseen.conll").read_bytes())
    return tmp_path / "corpora"


def test_list_tells_what_is_here_and_what_is_missing(weft: Weft, corpora: Path) -> None:
    facts = json.loads(weft("data", "list", "--json", "--data", corpora).stdout)
    assert [fact["name"] for fact in facts if not fact["missing"] and fact["name"] != "wordnet"] == ["conll2000"]
    facts = json.loads(weft("data", "list", "--json", "--missing", WEFT_DATA=str(corpora)).stdout)
    assert "conll2000" not in [fact["name"] for fact in facts]
    assert "conll2000" in weft("data", "list", WEFT_DATA=str(corpora)).stdout


def test_path_prints_files_one_a_line(weft: Weft, corpora: Path) -> None:
    paths = weft("data", "path", "conll2000", "--data", corpora).stdout.splitlines()
    assert [Path(path).name for path in paths] == ["train.txt", "test.txt"]
    one = weft("data", "path", "chunking/conll2000/test.txt.gz", "--data", corpora).stdout.strip()
    assert one == paths[1]


def test_check_is_content_with_a_complete_corpus(weft: Weft, corpora: Path) -> None:
    done = weft("data", "check", "conll2000", "--data", corpora)
    assert done.returncode == 0
    assert done.stdout == "conll2000: here\n"


def test_check_says_where_to_get_what_is_missing(weft: Weft, corpora: Path) -> None:
    (corpora / "chunking" / "conll2000" / "test.txt").unlink()
    done = weft("data", "check", "conll2000", "English-EWT", "--data", corpora)
    assert done.returncode == 1
    assert "conll2000: incomplete" in done.stdout
    assert "missing chunking/conll2000/test.txt.gz" in done.stdout
    assert "English-EWT: missing" in done.stdout
    assert "get it from the Universal Dependencies project" in done.stdout
    assert "CC BY-SA 4.0" in done.stdout
    assert "2 of 2 corpora" in done.stderr


def test_check_reads_the_files_and_reports_those_it_cannot_read(weft: Weft, corpora: Path) -> None:
    done = weft("data", "check", "conll2000", "--read", "--json", "--data", corpora)
    assert done.returncode == 0, done.stderr
    assert set(json.loads(done.stdout)[0]["sentences"].values()) == {10}
    (corpora / "chunking" / "conll2000" / "test.txt").write_text("Dogs NNS B-NP\nbark\n\n")
    done = weft("data", "check", "conll2000", "--read", "--data", corpora)
    assert done.returncode == 1
    assert "cannot be read" in done.stdout


def test_without_a_data_folder_everything_is_missing(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    facts = json.loads(weft("data", "list", "--json", "--data", "empty").stdout)
    assert all(fact["missing"] == fact["files"] for fact in facts if fact["name"] != "wordnet")


def test_what_the_system_installs_is_found_without_a_data_folder_where_a_variable_says(
    weft: Weft, tmp_path: Path
) -> None:
    folder = tmp_path / "net" / "dict"
    folder.mkdir(parents=True)
    for name in entry("wordnet").files:
        (folder / name).write_text("", encoding="utf-8")
    done = weft("data", "path", "wordnet", "--data", ".", WNHOME=str(tmp_path / "net"))
    assert done.stdout.splitlines() == [str(folder / name) for name in entry("wordnet").files]
    failed = weft("data", "check", "wordnet", "--data", ".", WNHOME=str(tmp_path / "nothing"))
    if failed.returncode:  # it is not installed
        assert "wordnet-base" in failed.stdout + failed.stderr


def test_lexicons_are_checked_but_not_read(weft: Weft, corpora: Path) -> None:
    folder = corpora / "lexicons" / "verbnet3"
    folder.mkdir(parents=True)
    (folder / "verbnet3.zip").write_bytes(b"PK\x03\x04\xff\xfe")
    done = weft("data", "check", "verbnet3", "--read", "--data", corpora)
    assert (done.returncode, done.stdout) == (0, "verbnet3: here\n")


def test_schema_prints_the_json_schema_of_records(weft: Weft) -> None:
    from weft.text.records import record_schema

    assert json.loads(weft("data", "schema", "records").stdout) == record_schema()
    done = weft("data", "schema", "conllu")
    assert done.returncode == 1
    assert done.stderr.startswith("weft: there is a schema of records, not of 'conllu'")


def test_examples_and_configurations_are_copied_once(weft: Weft, tmp_path: Path, examples: Path) -> None:
    done = weft("data", "examples", "--json")
    assert done.returncode == 0, done.stderr
    assert all(each["new"] for each in json.loads(done.stdout))
    assert (tmp_path / "examples" / "note.txt").read_bytes() == (examples / "note.txt").read_bytes()
    assert (tmp_path / "configs" / "de.toml").is_file()
    (tmp_path / "examples" / "note.txt").write_text("mine")
    (tmp_path / "examples" / "port.txt").unlink()
    assert weft("data", "examples").stdout.startswith("1 file copied to examples and configs, ")
    assert (tmp_path / "examples" / "note.txt").read_text() == "mine"
    assert "is a file; give the folder" in weft("data", "examples", "examples/note.txt").stderr

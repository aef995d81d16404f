"""`weft annotate` with files as people have them, into a folder and into one file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import weft as package
from weft.scale import work
from weft.tasks.tagging.trigrams import TrigramTagger
from weft.text import Doc

Weft = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tagger that is trained in no time."""
    component = TrigramTagger()
    component.fit([Doc.from_words([["The", "dog", "barks", "."]], upos=[["DET", "NOUN", "VERB", "PUNCT"]])])
    path = tmp_path_factory.mktemp("models") / "tagger.weft"
    package.Pipeline([component]).save(path)
    return path


@pytest.fixture
def mail(tmp_path: Path) -> Path:
    """A folder as in an office: two files of one name, an empty one, encodings, noise, a picture, notes."""
    folder = tmp_path / "mail"
    for name, data in {
        "00/x.txt": b"The dog barks.", "01/x.txt": b"<p>The dog &amp; I.</p>", "00/empty.txt": b"",
        "00/latin.txt": "Zoë barks.".encode("latin-1"), "01/utf16.txt": "Zoë barks.".encode("utf-16"),
        "01/noise.txt": bytes(range(256)) * 4, "photo.jpg": b"\xff\xd8", "notes.md": b"The dog.", ".DS_Store": b"x",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_a_mixed_folder_is_annotated_in_one_run_that_says_what_it_left_out(
    weft: Weft, tagger: Path, mail: Path, tmp_path: Path
) -> None:
    done = weft("annotate", "mail", "--model", tagger, "--to", "records", "--out", "out/", "--encoding", "auto")
    assert done.returncode == 3
    lines = done.stderr.splitlines()
    assert lines[0].startswith("left out: mail/01/noise.txt: expected text, found NUL bytes")
    assert "not read, by their suffix: mail/photo.jpg" in lines
    assert "read as cp1252, not being UTF-8: 00/latin.txt" in lines
    assert lines[-1] == "weft: 6 files written, 1 piece left out; listed in out/_weft.manifest"
    assert "noise.txt" in (tmp_path / "out" / "_weft.manifest").read_text()
    files = sorted(path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.jsonl"))
    names = ["00/empty", "00/latin", "00/x", "01/utf16", "01/x", "notes"]
    assert files == [f"{name}.records.jsonl" for name in names]
    assert all((tmp_path / "out" / file).stat().st_size for file in files)
    docs = list(package.read(tmp_path / "out"))
    assert [doc.id for doc in docs] == names
    assert [doc.text for doc in docs][:2] == ["", "Zoë barks."]
    again = weft(
        "annotate", "mail", "--model", tagger, "--to", "records", "--out", "out/", "--encoding", "auto", "--json"
    )
    assert json.loads(again.stdout)["finished_before"] == 7
    assert again.returncode == 3


def test_what_was_written_is_converted_as_a_whole(weft: Weft, tagger: Path, mail: Path, tmp_path: Path) -> None:
    for kind in ("jsonl", "conllu", "parquet", "columns"):
        weft("annotate", "mail", "--model", tagger, "--to", kind, "--out", f"{kind}/")
        done = weft("convert", f"{kind}/", f"all-{kind}.jsonl")
        assert done.returncode == 0, done.stderr
        assert done.stderr.splitlines()[-1] == "4 documents written", kind


def test_an_empty_text_does_not_end_a_stream(weft: Weft, tagger: Path, mail: Path, tmp_path: Path) -> None:
    (mail / "01" / "noise.txt").unlink()
    done = weft("annotate", "mail", "--model", tagger, "--out", "all.jsonl", "--encoding", "auto")
    assert done.returncode == 0, done.stderr
    assert next(doc.id for doc in package.read(tmp_path / "all.jsonl")) == "00/empty"
    assert "not read, by their suffix: mail/photo.jpg" in done.stderr
    empty = weft("annotate", "-", "--from", "plain", "--to", "records", "--model", tagger)
    assert json.loads(empty.stdout)["text"] == ""


def test_finished_files_are_noted_at_once_and_not_done_again(
    weft: Weft, tagger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in").mkdir()
    for i in range(6):
        (tmp_path / "in" / f"{i}.txt").write_text("The dog barks.")
    command = ["annotate", "in", "--model", str(tagger), "--to", "jsonl", "--out", "out/"]
    write, written = work.write, []

    def interrupted(docs: object, path: str, *arguments: object, **options: object) -> int:
        if len(written) == 4:
            raise KeyboardInterrupt
        written.append(path)
        return write(docs, path, *arguments, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(work, "write", interrupted)
        assert weft(*command).returncode == 130
    entries = [json.loads(line) for line in (tmp_path / "out" / "_weft.manifest").read_text().splitlines()]
    assert [entry["output"] for entry in entries if "output" in entry] == ["0.jsonl", "1.jsonl", "2.jsonl", "3.jsonl"]
    again = json.loads(weft(*command, "--json").stdout)
    assert (again["finished_before"], again["written"]) == (4, 2)


def test_a_manifest_of_the_old_name_is_gone_on_with(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The dog barks.")
    command = ["annotate", "a.txt", "--model", str(tagger), "--to", "jsonl", "--out", "out/", "--json"]
    weft(*command)
    (tmp_path / "out" / "_weft.manifest").rename(tmp_path / "out" / "weft.manifest")
    assert json.loads(weft(*command).stdout)["finished_before"] == 1
    assert not (tmp_path / "out" / "weft.manifest").exists()


def test_a_file_whose_documents_are_all_left_out_is_not_written_and_not_tried_again(
    weft: Weft, tagger: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.jsonl").write_text("no JSON\n")
    (tmp_path / "b.jsonl").write_text('{"text": "The dog barks."}\n')
    command = ["annotate", "a.jsonl", "b.jsonl", "--model", str(tagger), "--out", "out/"]
    done = weft(*command)
    assert done.stderr.splitlines()[-1] == "weft: 1 file written, 1 piece left out; listed in out/_weft.manifest"
    assert [path.name for path in (tmp_path / "out").glob("*.jsonl")] == ["b.jsonl"]
    assert json.loads(weft(*command, "--json").stdout)["finished_before"] == 2
    (tmp_path / "a.jsonl").write_text('{"text": "The dog."}\n')
    assert json.loads(weft(*command, "--json").stdout)["written"] == 1


def test_texts_come_from_a_named_column_and_without_html(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,body\nr1,<b>The dog</b> barks.\n")
    options = ["--model", tagger, "--text-column", "body", "--strip-html"]
    line = json.loads(weft("annotate", "a.csv", *options, "--to", "records").stdout)
    assert (line["id"], line["text"], len(line["words"])) == ("r1", "The dog barks.", 4)
    assert weft("annotate", "a.csv", *options, "--to", "records", "--out", "out/").returncode == 0
    assert json.loads((tmp_path / "out" / "a.records.jsonl").read_text()) == line


def test_tags_that_a_model_reads_from_the_file_are_told(
    weft: Weft, tagger: Path, tmp_path: Path, examples: Path
) -> None:
    said = "read from the input, not predicted: "
    weft("train", "chunker", examples / "chunks.conll", "--out", "chunker.weft", "--epochs", "1", "--seed", "1")
    done = weft("annotate", examples / "unseen.conll", "--model", "chunker.weft", "--out", "found.conll")
    assert f"{said}xpos\n" in done.stderr
    assert said in weft("annotate", examples / "unseen.conll", "--model", "chunker.weft", "--out", "out/").stderr
    assert said not in weft("annotate", examples / "unseen.conll", "--model", tagger, "--out", "tagged.conll").stderr
    assert said not in weft("annotate", examples / "note.txt", "--out", "note.conllu").stderr  # text is no annotation


def test_parts_of_a_model_are_chosen_by_task_and_layer(weft: Weft, tmp_path: Path, examples: Path) -> None:
    text = (examples / "port.txt").read_text()
    (tmp_path / "a.txt").write_text(text)
    lines = {}
    for name, more in {
        "entities": ["--layers", "entities", "--probabilities"],
        "ner": ["--only", "ner"],
        "tags": ["--without", "parser", "--without", "ner", "--layers", "upos,lemma"],
    }.items():
        done = weft("annotate", "a.txt", "--to", "records", "--out", f"{name}.jsonl", *more)
        assert done.returncode == 0, done.stderr
        lines[name] = json.loads((tmp_path / f"{name}.jsonl").read_text())
    entities = lines["entities"]
    assert (list(entities["spans"]), entities["words"], entities["sentences"]) == (["entities"], [], [])
    assert entities["spans"]["entities"]
    assert all(text[span["start"] : span["end"]] == span["text"] for span in entities["spans"]["entities"])
    assert all(0 < span["probability"] <= 1 for span in entities["spans"]["entities"])
    assert (tmp_path / "entities.jsonl").stat().st_size <= 4 * len(text.encode())
    assert lines["ner"]["spans"]["entities"]
    assert "head" not in lines["ner"]["words"][0]
    assert lines["tags"]["spans"] == {}
    assert set(lines["tags"]["words"][0]) == {"start", "end", "form", "upos", "lemma"}
    assert "no component 'nerd'; did you mean" in weft("annotate", "a.txt", "--only", "nerd").stderr


def test_two_models_that_write_one_layer_need_a_name_for_the_second(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("The dog barks.")
    command = ["annotate", "a.txt", "--to", "records", "--model", str(tagger), "--model", str(tagger)]
    failed = weft(*command)
    assert failed.returncode == 1
    assert "writes the layer upos, which" in failed.stderr
    word = json.loads(weft(*command, "--layer-as", "again").stdout)["words"][0]
    assert (word["upos"], word["again"]) == ("DET", "DET")


def test_a_folder_of_parquet_is_read_whole_by_other_tools(weft: Weft, tagger: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text("The dog barks.")
    weft("annotate", "a.txt", "b.txt", "--model", tagger, "--to", "parquet", "--out", "pq/")
    assert (tmp_path / "pq" / "_weft.manifest").is_file()
    assert sorted(pandas.read_parquet(tmp_path / "pq")["id"]) == ["a", "b"]


def test_the_bar_moves_with_every_file_and_has_a_unit(
    weft: Weft, tagger: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextlib import contextmanager

    from weft.progress import Bar
    from weft.scale import run

    (tmp_path / "in").mkdir()
    for i in range(3):
        (tmp_path / "in" / f"{i}.txt").write_text("The dog barks.")
    seen: list[tuple[str, int]] = []

    @contextmanager
    def watched(description: str, total: float | None = None, unit: str = "") -> Iterator[Bar]:
        class Watched(Bar):
            def advance(self, amount: float = 1.0) -> None:
                seen.append((unit, len(list((tmp_path / "out").glob("*.jsonl")))))

        yield Watched()

    monkeypatch.setattr(run, "progress", watched)
    weft("annotate", "in", "--model", tagger, "--to", "jsonl", "--out", "out/")
    assert seen == [("kB", 1), ("kB", 2), ("kB", 3)]

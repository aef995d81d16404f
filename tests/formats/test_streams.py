"""Files in and out: damage is named, nothing half-written stays."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from weft.errors import ConfigError, DataError, FormatError
from weft.formats import Report, read, write
from weft.formats.streams import text_blocks
from weft.text import Doc

ROW = "1\t{}\t_\t_\t_\t_\t0\troot\t_\t_\n\n"
KINDS = {
    "a.conllu": ROW.format("é").encode(),
    "a.conll": "é NN B-NP\n\n".encode(),
    "a.jsonl": '{"text": "é"}\n'.encode(),
    "a.txt": "é\n\n".encode(),
}


def docs(path: Path, **options: object) -> list[Doc]:
    return list(read(path, **options))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", KINDS)
def test_gzip_is_seen_through_whatever_the_suffix(tmp_path: Path, name: str) -> None:
    for path in (tmp_path / name, tmp_path / f"{name}.gz"):
        path.write_bytes(gzip.compress(KINDS[name]) + gzip.compress(KINDS[name]))
        assert "é" in docs(path)[0].text


@pytest.mark.parametrize("name", [name for name in KINDS if name != "a.txt"])
def test_empty_files_are_named(tmp_path: Path, name: str) -> None:
    for data in (b"", gzip.compress(b"")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(FormatError, match=f"{name}: expected"):
            docs(tmp_path / name)
    (tmp_path / name).write_bytes(b"")
    report = Report()
    assert docs(tmp_path / name, skip_bad=True, report=report) == []
    assert report.count == 1


@pytest.mark.parametrize("name", KINDS)
def test_truncated_gzip_is_named_and_what_came_before_it_is_kept_when_skipping(tmp_path: Path, name: str) -> None:
    import random

    letters = random.Random(0)
    words = ["".join(letters.choices("abcdefgh", k=30)) for _ in range(3000)]
    good = b"".join(KINDS[name].replace("é".encode(), word.encode()) for word in words)
    packed = gzip.compress(good)
    path = tmp_path / f"{name}.gz"
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(FormatError, match="expected a complete gzip file, found a truncated one"):
        docs(path)
    report = Report()
    kept = docs(path, skip_bad=True, report=report)
    assert report.count == 1
    read_words = " ".join(doc.text for doc in kept).split()
    assert 1000 < len(read_words) < 2000
    assert read_words == words[: len(read_words)]


@pytest.mark.parametrize("name", KINDS)
def test_damaged_gzip_is_named(tmp_path: Path, name: str) -> None:
    packed = bytearray(gzip.compress(KINDS[name] * 2000))
    packed[-6] ^= 0xFF
    (tmp_path / name).write_bytes(bytes(packed))
    with pytest.raises(FormatError, match="damaged data"):
        docs(tmp_path / name)


@pytest.mark.parametrize("name", KINDS)
def test_bytes_that_are_not_utf8_are_named_with_line_and_left_out_when_skipping(tmp_path: Path, name: str) -> None:
    good = KINDS[name]
    bad = good.replace("é".encode(), b"caf\xe9")
    path = tmp_path / name
    path.write_bytes(good + bad + good)
    with pytest.raises(FormatError, match="expected UTF-8 text, found the byte 0xe9") as caught:
        docs(path)
    assert caught.value.line == 1 + good.count(b"\n")
    assert "--encoding latin-1" in caught.value.hint
    assert "encoding='latin-1'" in caught.value.hint
    report = Report()
    assert "caf" not in " ".join(doc.text for doc in docs(path, skip_bad=True, report=report))
    assert report.count == 1
    path.write_bytes(bad)
    assert "café" in docs(path, encoding="latin-1")[0].text


def test_an_unknown_encoding_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(DataError, match="no encoding 'klingon'"):
        docs(tmp_path / "a.txt", encoding="klingon")


def test_blocks_end_behind_separators_and_know_their_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("".join(f"line {i}\n\n" for i in range(100_000)))
    lines = path.read_text().split("\n")
    blocks = list(text_blocks(str(path)))
    assert len(blocks) > 3
    assert all(block.text.endswith("\n\n") for block in blocks)
    assert all(block.text.startswith(lines[block.line - 1] + "\n") for block in blocks)


def test_nothing_half_written_stays_and_older_files_survive(tmp_path: Path) -> None:
    def broken() -> object:
        yield Doc("one")
        raise KeyboardInterrupt

    for name in ("a.jsonl", "b.txt.gz", "c.parquet"):
        (tmp_path / name).write_text("old")
        with pytest.raises(KeyboardInterrupt):
            write(broken(), tmp_path / name)  # type: ignore[arg-type]
        assert (tmp_path / name).read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl", "b.txt.gz", "c.parquet"]


def test_standard_streams_are_called_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stream:
        def __init__(self, data: bytes = b"") -> None:
            self.buffer = io.BytesIO(data)

    out = Stream()
    monkeypatch.setattr(sys, "stdin", Stream(gzip.compress(KINDS["a.conllu"])))
    monkeypatch.setattr(sys, "stdout", out)
    assert write(read("-", "conllu"), "-", "conllu") == 1
    assert out.buffer.getvalue() == KINDS["a.conllu"]


OUTPUTS = ("a.conllu", "a.conll", "a.jsonl", "a.parquet", "a.txt", "a.txt.gz")


def test_missing_folders_are_made_and_go_again_where_writing_fails(tmp_path: Path) -> None:
    def broken() -> Iterator[Doc]:
        yield Doc.from_words([["a"]])
        raise KeyboardInterrupt

    for name in OUTPUTS:
        path = tmp_path / name.replace(".", "-") / "deep" / name
        with pytest.raises(KeyboardInterrupt):
            write(broken(), path)
        assert not path.parent.parent.exists()
        assert write([Doc.from_words([["a"]])], path) == 1
        assert path.is_file()


def test_a_place_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is a folder"):
        write([Doc("a")], tmp_path, "plain")
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "a.txt", tmp_path / "file" / "deep" / "a.parquet"):
        with pytest.raises(DataError, match=f"^cannot write {path}: "):
            write([Doc("a")], path)
    with pytest.raises(DataError, match=r"^cannot write .*file/brat: "):
        write([Doc("a")], tmp_path / "file" / "brat", "brat")


def test_files_are_readable_as_the_mask_of_the_process_says(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        for name in OUTPUTS:
            write([Doc.from_words([["a"]])], tmp_path / name)
        write([Doc("a", meta={"id": "b"})], tmp_path / "brat", "brat")
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*") if path.is_file()}
    assert modes == dict.fromkeys([*OUTPUTS, "b.txt", "b.ann"], 0o640)


def test_gzipped_output_is_the_same_each_time(tmp_path: Path) -> None:
    for name in ("a.txt.gz", "b.txt.gz"):
        write([Doc("text")], tmp_path / name)
    assert (tmp_path / "a.txt.gz").read_bytes() == (tmp_path / "b.txt.gz").read_bytes()


def test_unknown_options_and_formats_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    with pytest.raises(ConfigError, match="no option 'fields'"):
        read(tmp_path / "a.txt", fields="form")
    with pytest.raises(ConfigError, match="no format 'xml'"):
        read(tmp_path / "a.txt", "xml")
    with pytest.raises(DataError, match="no file"):
        read(tmp_path / "b.txt")
    with pytest.raises(DataError, match="no file matches"):
        read(str(tmp_path / "*.conllu"))
    with pytest.raises(DataError, match="no suffix"):
        read("-")


def test_folders_globs_and_lists_are_read_in_order(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.txt", "a.txt", "deep/c.txt", ".hidden.txt"):
        (tmp_path / name).write_text(name)
    assert [doc.id for doc in read(tmp_path)] == ["a", "b", "deep/c"]
    assert [doc.id for doc in read(str(tmp_path / "*.txt"))] == ["a", "b"]
    assert [doc.id for doc in read([tmp_path / "b.txt", tmp_path / "a.txt"])] == ["b", "a"]
    (tmp_path / "d.jsonl").write_text('{"text": "d"}\n')
    with pytest.raises(DataError, match="several formats"):
        read(tmp_path)


@pytest.mark.parametrize("text", ["word " * 500, "wörter" * 500, "语" * 900, "🙂" * 700, "a b\n" * 500, "\x80" * 900])
def test_text_without_ends_comes_in_parts_of_bounded_length(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr("weft.formats.streams.READ_SIZE", 50)
    data = text.encode("latin-1") if text.startswith("\x80") else text.encode()
    (tmp_path / "line.txt").write_bytes(data)
    blocks = list(text_blocks(str(tmp_path / "line.txt"), size=100, keep_ends=True))
    assert b"".join(block.text.encode(errors="surrogateescape") for block in blocks) == data
    assert max(len(block.text.encode(errors="surrogateescape")) for block in blocks) <= 8 * 100 + 50
    assert all(block.clean for block in blocks) or text.startswith("\x80")

"""Encodings told file by file, and files that are no text."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest

from weft.errors import DataError, FormatError
from weft.formats import Report, read, write
from weft.formats.encodings import encoding_of
from weft.text import Doc

TEXT = "Zoë wrote “naïve” to Åsa.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
def test_auto_tells_the_encoding_of_each_file(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT.encode(encoding))
    (doc,) = read(tmp_path / "a.txt", encoding="auto")
    assert doc.text == TEXT


def test_auto_reads_a_mixed_folder_in_one_run_and_names_the_files_whose_encoding_it_guessed(tmp_path: Path) -> None:
    for name, encoding in (("a", "utf-8"), ("b", "cp1252"), ("c", "utf-16"), ("d", "utf-16-le")):
        (tmp_path / f"{name}.txt").write_bytes(TEXT.encode(encoding))
    corpus = read(tmp_path, encoding="auto")
    assert [doc.text for doc in corpus] == [TEXT] * 4
    assert corpus.report.read_as == {"cp1252": [str(tmp_path / "b.txt")], "utf-16-le": [str(tmp_path / "d.txt")]}


def test_the_fallback_of_auto_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("Привет".encode("koi8-r"))
    (doc,) = read(tmp_path / "a.txt", encoding="auto:koi8-r")
    assert doc.text == "Привет"
    with pytest.raises(DataError, match="there is no encoding 'klingon'"):
        list(read(tmp_path / "a.txt", encoding="auto:klingon"))


def test_a_character_cut_off_at_the_end_is_no_utf8() -> None:
    assert encoding_of("a", ["Zoë".encode()[:-1]], "auto") == "cp1252"
    assert encoding_of("a", ["Zoë".encode()[:-1], "Zoë".encode()[-1:]], "auto") == "utf-8"


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "auto"])
def test_files_with_nul_bytes_are_binary_in_every_encoding_of_single_bytes(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").write_bytes(b"\x89PNG\r\n\x1a\n" + b"\x00\x01noise\xff" * 50)
    with pytest.raises(FormatError, match="expected text, found NUL bytes"):
        list(read(tmp_path / "a.txt", encoding=encoding))
    report = Report()
    (tmp_path / "b.txt").write_text("Fine.")
    assert [doc.text for doc in read(tmp_path, skip_bad=True, report=report, encoding=encoding)] == ["Fine."]
    assert report.count == 1


@pytest.mark.parametrize("encoding", ["latin-1", "auto"])
def test_nul_bytes_far_behind_are_found_before_anything_is_read_as_text(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9\n" * 20_000 + b"\0")
    with pytest.raises(FormatError, match="NUL bytes"):
        next(iter(read(tmp_path / "a.txt", encoding=encoding)))


def test_tables_with_nul_bytes_are_binary_and_forms_with_nul_are_read_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"text\nab\0c\n")
    with pytest.raises(FormatError, match="NUL bytes"):
        list(read(tmp_path / "a.csv"))
    doc = Doc.from_words([["a\0b", "c"]])
    for name in ("a.conllu", "a.conll", "a.jsonl"):
        write([doc], tmp_path / name)
        for encoding in ("utf-8", "auto"):
            assert [back.text for back in read(tmp_path / name, encoding=encoding)] == ["a\0b c"]


def test_utf16_is_named_as_such_where_utf8_was_expected(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT.encode("utf-16"))
    with pytest.raises(FormatError, match=r"--encoding utf-16 .*--encoding auto"):
        list(read(tmp_path / "a.txt"))


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", TEXT),
        ("a.conllu", "1\tDogs\tdog\tNOUN\tNNS\t_\t0\troot\t_\t_\n\n"),
        ("a.conll", "Dogs O\n\n"),
        ("a.jsonl", '{"text": "Dogs"}\n'),
        ("a.csv", "text\nDogs\n"),
    ],
)
def test_utf16_without_a_mark_is_never_read_as_text_with_nul(
    tmp_path: Path, encoding: str, name: str, text: str
) -> None:
    (tmp_path / name).write_bytes(text.encode(encoding))
    with pytest.raises(FormatError, match=rf"{name}, line 1: .*UTF-16.*--encoding {encoding}"):
        list(read(tmp_path / name))
    for given in (encoding, "auto"):
        (doc,) = read(tmp_path / name, encoding=given)
        assert "\0" not in doc.text
        assert "Dogs" in doc.text or doc.text == TEXT


def test_words_of_nul_are_not_taken_for_utf16(tmp_path: Path) -> None:
    for words in (["\0"], ["\0", "\0"], ["a\0", "b\0"], ["\0a", "\0b"]):
        doc = Doc.from_words([words])
        for name in ("a.conllu", "a.conll", "a.jsonl"):
            write([doc], tmp_path / name)
            for encoding in ("utf-8", "auto"):
                assert [back.column("form") for back in read(tmp_path / name, encoding=encoding)] == [words]


def test_auto_works_for_gzipped_files_and_other_formats(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(TEXT.encode("cp1252")))
    (tmp_path / "a.conll").write_bytes("Zoë NN\n".encode("utf-16"))
    (tmp_path / "a.jsonl").write_bytes('{"text": "Zoë"}'.encode("cp1252"))
    (folder := tmp_path / "brat").mkdir()
    (folder / "x.txt").write_bytes(b"Zo\xeb")
    (folder / "x.ann").write_bytes(b"T1\tPER 0 3\tZo\xeb\n")
    for name, text in (("a.txt.gz", TEXT), ("a.conll", "Zoë"), ("a.jsonl", "Zoë"), ("brat", "Zoë")):
        assert [doc.text for doc in read(tmp_path / name, encoding="auto")] == [text]


def test_standard_input_is_told_by_its_first_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding in ("utf-8", "utf-16", "utf-16-be"):
        stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(TEXT.encode(encoding))))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert [doc.text for doc in read("-", "plain", encoding="auto")] == [TEXT]

"""Bitexts on disk: two files, one file, corpora of words, and what is wrong with them."""

from __future__ import annotations

import pytest

from weft.errors import DataError, FormatError
from weft.formats import write
from weft.formats.bitext import read_bitext, read_sentences
from weft.text.doc import Doc


def test_two_plain_files_are_read_line_by_line_empty_ones_included(tmp_path):
    (tmp_path / "a.txt").write_text("the house\n\nyes\n", encoding="utf-8")
    (tmp_path / "a.de").write_text("das  Haus\n\nja\n", encoding="utf-8")
    pairs = list(read_bitext(tmp_path / "a.txt", tmp_path / "a.de"))
    assert pairs == [(["the", "house"], ["das", "Haus"]), ([], []), (["yes"], ["ja"])]


def test_a_corpus_gives_its_sentences_whatever_the_documents(tmp_path):
    docs = [Doc.from_words([["the", "house"], ["yes"]]), Doc.from_words([["no"]])]
    write(docs, str(tmp_path / "a.conllu"))
    assert list(read_sentences(tmp_path / "a.conllu")) == [["the", "house"], ["yes"], ["no"]]


def test_one_file_holds_both_sides(tmp_path):
    path = tmp_path / "both"
    path.write_text("a b   ||| c \n ||| d\n", encoding="utf-8")
    assert list(read_bitext(path)) == [(["a", "b"], ["c"]), ([], ["d"])]


def test_files_of_different_length_and_lines_without_a_mark_are_errors(tmp_path):
    (tmp_path / "a").write_text("x\ny\n", encoding="utf-8")
    (tmp_path / "b").write_text("x\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"b ends after 1 sentences, .*a continues"):
        list(read_bitext(tmp_path / "a", tmp_path / "b"))
    with pytest.raises(FormatError, match="line 1: expected source and target separated by"):
        list(read_bitext(tmp_path / "a"))


def test_bytes_that_are_not_the_encoding_are_named(tmp_path):
    (tmp_path / "a").write_bytes(b"gut\nsch\xf6n\n")
    with pytest.raises(FormatError, match="line 2: expected UTF-8 text"):
        list(read_sentences(tmp_path / "a"))
    assert list(read_sentences(tmp_path / "a", encoding="latin-1")) == [["gut"], ["schön"]]

"""The text format of MSTParser: four lines a sentence, three without relations, errors with their lines."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import FormatError, WeftError
from weft.formats import convert, detect, read, write
from weft.formats.mst import to_text
from weft.text import Doc
from weft.text.report import Report
from weft.text.validity import has_cycle

LABELLED = "The\tferry\tleft\nDT\tNN\tVBD\nNMOD\tSBJ\tROOT\n2\t3\t0\n\nGo\t!\nVB\t.\nROOT\tP\n0\t1\n\n"
PLAIN = "The\tferry\tleft\nDT\tNN\tVBD\n2\t3\t0\n\n"

word = st.text("ab-_(", min_size=1, max_size=3).filter(lambda text: text != "_")
sentences = st.integers(1, 5).flatmap(
    lambda n: st.tuples(
        st.lists(word, min_size=n, max_size=n),
        st.lists(st.sampled_from(["NN", "", "."]), min_size=n, max_size=n),
        st.lists(st.sampled_from(["x", "y:z"]), min_size=n, max_size=n),
        st.lists(st.integers(0, n), min_size=n, max_size=n).filter(
            lambda heads: not has_cycle(np.array(heads), np.array([0, len(heads)]))
        ),
    )
)


def test_sentences_are_read_and_written_to_the_byte(tmp_path):
    (tmp_path / "a.mst").write_text(LABELLED)
    (doc,) = read(tmp_path / "a.mst")
    assert doc.text == "The ferry left Go !"
    assert doc.sentence_offsets.tolist() == [0, 3, 5]
    assert doc.column("xpos") == ["DT", "NN", "VBD", "VB", "."]
    assert doc.column("deprel") == ["NMOD", "SBJ", "ROOT", "ROOT", "P"]
    assert doc.head.tolist() == [2, 3, 0, 0, 1]
    write([doc], tmp_path / "b.mst")
    assert (tmp_path / "b.mst").read_text() == LABELLED


def test_without_relations_there_are_three_lines(tmp_path):
    (tmp_path / "a.mst.gz").write_bytes(gzip.compress(PLAIN.encode()))
    assert detect(tmp_path / "a.mst.gz") == "mst"
    (doc,) = read(tmp_path / "a.mst.gz")
    assert doc.head.tolist() == [2, 3, 0]
    assert not doc.has("deprel")
    assert to_text(doc) == PLAIN


def test_the_last_blank_line_may_be_missing_and_line_ends_may_be_others(tmp_path):
    (tmp_path / "a.mst").write_bytes(LABELLED.rstrip("\n").replace("\n", "\r\n").encode())
    (doc,) = read(tmp_path / "a.mst")
    assert to_text(doc) == LABELLED


def test_trees_go_to_conllu_and_back(tmp_path):
    (tmp_path / "a.mst").write_text(LABELLED)
    convert(tmp_path / "a.mst", tmp_path / "a.conllu")
    convert(tmp_path / "a.conllu", tmp_path / "b.mst")
    assert (tmp_path / "b.mst").read_text() == LABELLED


@settings(max_examples=60, deadline=None)
@given(st.lists(sentences, min_size=1, max_size=4))
def test_what_was_written_is_read_again(tmp_path_factory, rows):
    words, tags, relations, heads = zip(*rows, strict=True)
    doc = Doc.from_words(words, xpos=tags, deprel=relations, head=heads)
    path = tmp_path_factory.mktemp("mst") / "a.mst"
    write([doc], path)
    (again,) = read(path)
    assert again.sentence_offsets.tolist() == doc.sentence_offsets.tolist()
    assert again.head.tolist() == doc.head.tolist()
    for name in ("form", "xpos", "deprel"):
        assert again.column(name) == doc.column(name)


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        (PLAIN + "Go\nVB\n\n", 5, "2 lines"),
        (PLAIN + "Go\t!\nVB\n0\t1\n\n", 6, "1"),
        (PLAIN + "Go\t!\nVB\t.\nROOT\tP\n0\t3\n\n", 8, "'3'"),
        (PLAIN + "Go\t!\nVB\t.\n0\t-1\n\n", 7, "'-1'"),
        (PLAIN + "Go\t\nVB\t.\n0\t1\n\n", 5, "an empty cell"),
    ],
)
def test_mistakes_are_told_with_their_lines_or_left_out(tmp_path, text, line, found):
    (tmp_path / "a.mst").write_text(text)
    with pytest.raises(FormatError, match=f"a.mst, line {line}: .*{found}"):
        list(read(tmp_path / "a.mst"))
    report = Report()
    docs = list(read(tmp_path / "a.mst", skip_bad=True, report=report))
    assert sum(doc.n_sentences for doc in docs) == 1
    assert report.count == 1


def test_documents_without_trees_are_not_written():
    with pytest.raises(WeftError, match="have no head"):
        to_text(Doc.from_words([["a"]]))
    with pytest.raises(WeftError, match="a tab or a line break"):
        to_text(Doc.from_words([["a\tb"]], head=[[0]]))

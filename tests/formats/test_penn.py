"""Trees in brackets: layouts, traces, errors with their lines, round trips to the byte."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.data import find, have
from weft.errors import ConfigError, FormatError
from weft.formats import convert, detect, read, write
from weft.text import Doc
from weft.text.constituents import doc_of_trees, tree_of
from weft.text.report import Report
from weft.text.trees import Tree

leaves = st.builds(lambda tag, word: Tree(tag, (), word), st.sampled_from(["NN", ","]), st.text("a(]{", min_size=1))
trees = st.recursive(
    leaves.map(lambda leaf: Tree("ROOT", (leaf,))),
    lambda below: st.lists(below, min_size=1, max_size=3).map(lambda children: Tree("NP-SBJ", tuple(children))),
    max_leaves=8,
)

LAID_OUT = """; farm-1
( (S
    (NP-SBJ (DT the)
      (NN dog) )
    (VP (VBZ barks)
      (NP (-NONE- *T*-1) )
      (PRN (-LRB- -LRB-) (CD 1\\/2) (-RRB- -RRB-)))
    (. .) ))
( (INTJ (UH yes)))

<S ID=3>
; farm-2
(NP (NN tea)) (NP (NN milk))
"""
NORMALIZED = """; farm-1
( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks) (PRN (-LRB- -LRB-) (CD 1/2) (-RRB- -RRB-))) (. .)))
( (INTJ (UH yes)))
; farm-2
(NP (NN tea))
(NP (NN milk))
"""


def test_laid_out_trees_are_read_and_written_one_a_line(tmp_path):
    (tmp_path / "farm.mrg").write_text(LAID_OUT)
    docs = list(read(tmp_path / "farm.mrg"))
    assert [doc.id for doc in docs] == ["farm-1", "farm-2"]
    assert docs[0].text == "the dog barks ( 1/2 ) . yes"
    assert docs[0].column("xpos")[3] == "("
    write(docs, tmp_path / "out.mrg")
    assert (tmp_path / "out.mrg").read_text() == NORMALIZED
    write(read(tmp_path / "out.mrg"), tmp_path / "again.mrg")
    assert (tmp_path / "again.mrg").read_bytes() == (tmp_path / "out.mrg").read_bytes()


def test_traces_are_words_only_where_they_are_kept(tmp_path):
    (tmp_path / "a.mrg").write_text("(S (NP (-NONE- *)) (VP (VB Go)))\n(S (NP (-NONE- *)))\n")
    assert [doc.column("form") for doc in read(tmp_path / "a.mrg")] == [["Go"]]
    assert [doc.column("form") for doc in read(tmp_path / "a.mrg", traces="keep")] == [["*", "Go", "*"]]
    with pytest.raises(ConfigError, match="'drop' or 'keep'"):
        list(read(tmp_path / "a.mrg", traces="some"))


def test_words_follow_each_other_directly_without_blanks(tmp_path):
    (tmp_path / "a.ptb").write_text("(NP (JJ 新) (NN 书))\n")
    assert next(iter(read(tmp_path / "a.ptb", blanks=False))).text == "新书"


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [
        ("(S (NN a))\n(S (NN b)\n(S (NN c))\n", 2, "one that is not closed"),
        ("(S (NN a))\n(S (NN b)\n  (NP\n", 2, "one that is not closed"),
        ("(S (NN a)))\n", 1, r"'\)' outside brackets"),
        ("(S (NN a))\n\n(S (NP the\n  dog))\n", 4, "'dog' as well"),
        ("(S (NN a)\n ())\n", 2, "brackets with nothing"),
        ("dogs bark\n", 1, "'dogs' outside brackets"),
    ],
)
def test_errors_name_the_line_and_bad_trees_can_be_skipped(tmp_path, text, line, found):
    path = tmp_path / "bad.mrg"
    path.write_text(text + "(X (NN good))\n")
    with pytest.raises(FormatError, match=rf"bad.mrg, line {line}: expected .* found {found}"):
        list(read(path))
    report = Report()
    kept = [tree_of(doc, n).label for doc in read(path, skip_bad=True, report=report) for n in range(doc.n_sentences)]
    assert kept[-1] == "X"
    assert report.count == 1


def test_other_encodings_and_gzip(tmp_path):
    (tmp_path / "a.mrg").write_bytes("(NP (NN caf\xe9))\n".encode("latin-1"))
    with pytest.raises(FormatError, match="line 1: expected UTF-8 text"):
        list(read(tmp_path / "a.mrg"))
    assert next(iter(read(tmp_path / "a.mrg", encoding="latin-1"))).text == "café"
    (tmp_path / "b.mrg.gz").write_bytes(gzip.compress(b"(NP (NN tea))\n"))
    assert detect(tmp_path / "b.mrg.gz") == "penn"
    assert next(iter(read(tmp_path / "b.mrg.gz"))).text == "tea"


@settings(max_examples=40, deadline=None)
@given(trees)
def test_every_tree_survives_the_file(tmp_path_factory, tree):
    path = tmp_path_factory.mktemp("trees") / "a.mrg"
    write([doc_of_trees([tree])], path)
    assert [tree_of(doc, 0) for doc in read(path)] == [tree]
    first = path.read_bytes()
    write(list(read(path)), path)
    assert path.read_bytes() == first


def test_conversions_tell_what_is_lost_and_keep_trees_in_jsonl(tmp_path):
    (tmp_path / "a.mrg").write_text(NORMALIZED)
    report = Report()
    convert(tmp_path / "a.mrg", tmp_path / "a.conllu", report=report)
    assert report.lost == {"constituents"}
    convert(tmp_path / "a.mrg", tmp_path / "a.jsonl")
    convert(tmp_path / "a.jsonl", tmp_path / "b.mrg")
    assert (tmp_path / "b.mrg").read_text() == NORMALIZED


def test_text_without_words_cannot_be_written(tmp_path):
    with pytest.raises(Exception, match="has text but no words"):
        write([Doc("the dog barks")], tmp_path / "a.mrg")


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("name", "sentences", "n_words"),
    [
        ("treebanks/constituency/ptb-sample/wsj-sample.mrg.gz", 3914, 94084),
        ("treebanks/constituency/gum/dev.ptb.gz", 0, 0),
    ],
)
def test_treebanks_round_trip_once_normalized(tmp_path, name, sentences, n_words):
    if not have(name):
        pytest.skip(f"{name} is not at hand: set WEFT_DATA")
    docs = list(read(find(name)))
    if sentences:
        assert (sum(doc.n_sentences for doc in docs), sum(doc.n_words for doc in docs)) == (sentences, n_words)
    write(docs, tmp_path / "a.mrg")
    write(read(tmp_path / "a.mrg"), tmp_path / "b.mrg")
    assert (tmp_path / "a.mrg").read_bytes() == (tmp_path / "b.mrg").read_bytes()

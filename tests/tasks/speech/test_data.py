"""Transcripts as the joint parser reads them, and its answers put back."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from weft.infer.trees.projectivity import is_tree
from weft.tasks.speech.data import prepare, restore
from weft.text import Doc
from weft.text.conventions.repairs import struck_words


def test_words_left_out_pass_their_children_on():
    doc = Doc.from_words(
        [["He", "uh", "ran", "to", "th-", "the", "house", "."]],
        upos=[["PRON", "INTJ", "VERB", "ADP", "X", "DET", "NOUN", "PUNCT"]],
        head=[[2, 0, 2, 5, 7, 7, 3, 3]],
        deprel=[["nsubj", "root", "dep", "case", "reparandum", "det", "obl", "punct"]],
    )
    ready = prepare(doc).doc
    assert ready.column("form") == ["he", "ran", "to", "the", "house"]
    # The root was left out: its first child takes its place. "to" hung on a reparandum, which it now is.
    assert ready.head is not None
    assert ready.head.tolist() == [0, 1, 5, 5, 2]
    assert ready.column("deprel") == ["nsubj", "dep", "reparandum", "det", "obl"]


def test_markers_are_one_word_and_come_apart_again():
    doc = Doc.from_words([["you", "know", "it", "works"]], upos=[["PRON", "VERB", "PRON", "VERB"]],
                       head=[[2, 4, 4, 0]], deprel=[["nsubj", "parataxis", "nsubj", "root"]])  # fmt: skip
    ready = prepare(doc)
    assert ready.doc.column("form") == ["you_know", "it", "works"]
    assert ready.doc.head is not None
    restore(doc, ready, ready.doc.head.tolist(), ready.doc.column("deprel"))
    assert doc.head is not None
    assert doc.head.tolist() == [2, 4, 4, 0]
    assert doc.column("deprel") == ["nsubj", "parataxis", "nsubj", "root"]


def test_sentences_without_words_are_left_out_and_still_become_trees():
    doc = Doc.from_words([["uh", "."], ["go"]], upos=[["INTJ", "PUNCT"], ["VERB"]])
    ready = prepare(doc)
    assert ready.doc.n_sentences == 1
    restore(doc, ready, [0], ["root"])
    assert doc.head is not None
    assert doc.head.tolist() == [0, 1, 0]
    assert doc.column("deprel") == ["root", "punct", "root"]


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_restored_documents_are_trees_with_the_same_words_struck_out(data):
    words = st.sampled_from(["go", "uh", ",", "i", "mean", "st-", "now", "you", "know"])
    sentence = data.draw(st.lists(words, min_size=1, max_size=9))
    doc = Doc.from_words([sentence])
    ready = prepare(doc)
    n = ready.doc.n_words
    kept = [i for i in range(n) if data.draw(st.booleans())] or list(range(n))[:1]
    heads = [0 if i == kept[0] else kept[0] + 1 if i in kept else i + 1 for i in range(n)]
    restore(doc, ready, heads, ["root" if head == 0 else "dep" for head in heads])
    assert doc.head is not None
    assert is_tree(doc.head)
    struck = struck_words(doc.head.tolist(), doc.column("deprel"))
    for i, origin in enumerate(ready.origins):
        assert all(struck[word] == (i not in kept) for word in origin)

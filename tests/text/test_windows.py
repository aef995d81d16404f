"""Long sentences in windows: where they are cut, and that nothing is lost when they are joined."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.infer.trees.projectivity import is_projective, is_tree
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.windows import in_windows, join_windows


@settings(deadline=None)
@given(st.lists(st.integers(1, 30), min_size=1, max_size=5), st.integers(1, 12), st.integers(1, 12))
def test_windows_cover_all_words_in_order_and_are_short_enough(sizes: list[int], longest: int, size: int) -> None:
    doc = Doc.from_words([["a" if i % 3 else ","] * n for i, n in enumerate(sizes)])
    windows = in_windows(doc, longest, min(size, longest))
    lengths = np.diff(windows.doc.sentence_offsets)
    assert lengths.min() > 0
    for sentence, n in enumerate(sizes):
        own = lengths[windows.sentence == sentence]
        assert own.sum() == n
        assert len(own) == 1 if n <= longest else own.max() <= min(size, longest)


@settings(deadline=None)
@given(st.integers(2, 40), st.integers(1, 9))
def test_chains_in_windows_form_a_projective_tree_with_one_root(words: int, size: int) -> None:
    doc = Doc.from_words([["a"] * words])
    windows = in_windows(doc, size, size)
    lengths = np.diff(windows.doc.sentence_offsets).tolist()
    windows.doc.head = np.concatenate([np.arange(n) for n in lengths]).astype(np.int32)
    join_windows(doc, windows)
    assert doc.head is not None
    assert is_tree(doc.head)
    assert is_projective(doc.head)
    assert (doc.head == 0).sum() == 1


def test_windows_end_after_punctuation_in_their_second_half() -> None:
    doc = Doc.from_words([["a", ",", "b", "c", ",", "d", "e", "f", "g", "h"]])
    assert in_windows(doc, 6, 6).doc.sentence_offsets.tolist() == [0, 5, 10]


def test_other_sentences_and_layers_stay_as_they_are() -> None:
    doc = Doc.from_words([["a", "b", "c"], ["d"]], head=[[0, 1, 2], [0]], upos=[["X", "Y", "Z"], ["W"]])
    doc.comments = [("# one",), ("# two",)]
    doc.meta["id"] = "d1"
    copy = doc.subset([0, 1])
    windows = in_windows(doc, 2, 2)
    windows.doc.spans["entities"] = SpanLayer.of(doc.strings, [(2, 3, "PER")])
    windows.doc.set_column("lemma", ["a", "b", "c", "d"])
    join_windows(doc, windows)
    assert doc.column("lemma") == ["a", "b", "c", "d"]
    assert [row.pieces for row in doc.spans["entities"]] == [((2, 3),)]
    del doc.spans["entities"], doc.columns["lemma"]
    assert doc.same(copy)


def test_columns_that_a_component_takes_away_are_gone() -> None:
    doc = Doc.from_words([["a", "b", "c"]], deprel=[["x", "y", "z"]])
    windows = in_windows(doc, 2, 2)
    del windows.doc.columns["deprel"]
    join_windows(doc, windows)
    assert not doc.has("deprel")

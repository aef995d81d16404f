"""Scores of trees with crossing arcs, against definitions by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, WeftError
from weft.evaluate.documents import evaluate_documents
from weft.evaluate.trees.crossings import evaluate_crossings
from weft.infer.trees.projectivity import is_projective, is_tree, nonprojective_arcs
from weft.text import Doc


@st.composite
def trees(draw, n):
    """Heads of a tree over n words: words in some order, each under one that came before it."""
    order = draw(st.permutations(range(1, n + 1)))
    heads = np.zeros(n, np.int32)
    for place, word in enumerate(order):
        heads[word - 1] = draw(st.sampled_from([0, *order[:place]]))
    return heads


def dominates(heads, head, word):
    while word != head and word > 0:
        word = heads[word - 1]
    return word == head


@given(st.integers(1, 7).flatmap(lambda n: st.tuples(trees(n), trees(n))))
@settings(max_examples=60, deadline=None)
def test_counts_are_those_of_the_definitions(pair):
    gold, system = pair
    assert is_tree(gold)
    marks = []
    for heads in pair:
        arcs = [(heads[word - 1], word) for word in range(1, len(heads) + 1)]
        marks.append([
            any(not dominates(heads, h, between) for between in range(min(h, m) + 1, max(h, m))) for h, m in arcs
        ])  # fmt: skip
        assert nonprojective_arcs(heads).tolist() == marks[-1]
        assert is_projective(heads) == (not any(marks[-1]))
    words = [[f"w{i}" for i in range(len(gold))]]
    docs = [Doc.from_words(words, head=[heads.tolist()]) for heads in pair]
    report = evaluate_crossings(docs[:1], docs[1:])
    both = sum(a and b and one == two for a, b, one, two in zip(*marks, gold, system, strict=True))
    arcs = report.counts["non-projective arcs"].total()
    assert (arcs.gold, arcs.system, arcs.correct) == (sum(marks[0]), sum(marks[1]), both)
    right = int((gold == system).sum())
    assert report.counts["UAS"].total().correct == right
    assert report.counts["UAS (crossing)"].total().gold == len(gold) * any(marks[0])
    assert report.counts["complete"].total().correct == (right == len(gold))


def test_words_that_do_not_count_are_left_out_of_heads_but_not_of_crossings():
    gold = Doc.from_words([["a", "b", "c", "d"]], head=[[3, 4, 0, 3]])
    system = Doc.from_words([["a", "b", "c", "d"]], head=[[3, 3, 0, 3]])
    report = evaluate_crossings([gold], [system], lambda doc: np.array([True, False, True, True]))
    assert report.crossing.tolist() == [True]
    assert report.right.tolist() == [True, True, True]
    assert report.counts["complete (crossing)"].total().recall == 1


def test_the_layers_crossings_and_graphs_score_files():
    gold = [Doc.from_words([["a", "b"]], head=[[2, 0]], deps=[["2:x", "0:root"]])]
    outcome = evaluate_documents(gold, gold, "crossings")
    assert outcome.main == "UAS"
    assert outcome.right("UAS").all()
    assert evaluate_documents(gold, gold, "graphs").counts["labelled edges"].total().f1 == 1
    with pytest.raises(ConfigError, match="McNemar"):
        outcome.right("complete")
    with pytest.raises(ConfigError, match="McNemar"):
        evaluate_documents(gold, gold, "graphs").right("edges")


def test_documents_with_other_words_or_without_heads_are_refused():
    doc = Doc.from_words([["a", "b"]], head=[[2, 0]])
    for other in ([], [Doc.from_words([["a", "b"]])], [Doc.from_words([["a"], ["b"]], head=[[0], [0]])]):
        with pytest.raises(WeftError, match=r"same|heads"):
            evaluate_crossings([doc], other)

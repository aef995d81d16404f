"""Scores of trees: heads, relations, roots, complete sentences, with and without punctuation."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import WeftError
from weft.evaluate.documents import evaluate_documents
from weft.evaluate.trees.attachment import evaluate_trees, not_punctuation
from weft.evaluate.trees.ud import evaluate_ud
from weft.text import Doc

WORDS = [["dogs", "bark", "."], ["yes", "!"], ["so", "it", "is"]]
GOLD = Doc.from_words(
    WORDS, head=[[2, 0, 2], [0, 1], [0, 0, 2]], deprel=[["a:b", "r", "p"], ["r", "p"], ["r", "r", "c"]]
)
OTHER = Doc.from_words(
    WORDS, head=[[2, 0, 1], [0, 1], [0, 1, 2]], deprel=[["a", "r", "p"], ["r", "q"], ["r", "c", "c"]]
)


def test_counts_are_those_made_by_hand():
    report = evaluate_trees([GOLD], [OTHER])
    totals = {name: tuple(counts.total())[:3] for name, counts in report.counts.items()}
    assert totals == {"UAS": (8, 8, 6), "LAS": (8, 8, 5), "Root": (4, 3, 3), "Complete": (3, 3, 1)}
    assert report.right.tolist() == [True, True, False, True, True, True, False, True]
    assert report.counts["UAS"].correct.tolist() == [2, 2, 2]


def test_without_punctuation_its_heads_do_not_count_but_roots_do():
    report = evaluate_trees([GOLD], [OTHER], not_punctuation)
    totals = {name: tuple(counts.total())[:3] for name, counts in report.counts.items()}
    assert totals == {"UAS": (6, 6, 5), "LAS": (6, 6, 5), "Root": (4, 3, 3), "Complete": (3, 3, 2)}


def test_a_sentence_of_nothing_that_counts_is_not_asked_to_be_complete():
    report = evaluate_trees([GOLD], [OTHER], lambda doc: np.arange(doc.n_words) < 3)
    assert report.counts["Complete"].gold.tolist() == [1, 0, 0]


def test_heads_and_relations_are_those_of_the_official_metrics():
    gold = Doc.from_words(WORDS[:2], head=[[2, 0, 2], [0, 1]], deprel=[["a", "r", "p"], ["r", "p"]])
    system = Doc.from_words(WORDS[:2], head=[[2, 0, 1], [0, 1]], deprel=[["a", "r", "p"], ["r", "q"]])
    official, own = evaluate_ud(gold, system).scores, evaluate_trees([gold], [system]).scores
    for name in ("UAS", "LAS"):
        assert own[name] == pytest.approx(100 * official[name].f1)


def test_the_layers_of_trees_score_files_with_and_without_punctuation():
    for layer, counts in (("trees", (8, 8, 6)), ("trees-nopunct", (6, 6, 5))):
        outcome = evaluate_documents([GOLD], [OTHER], layer)
        assert tuple(outcome.counts[outcome.main].total())[:3] == counts
        assert outcome.right("UAS").sum() == counts[2]


def test_other_words_are_told():
    with pytest.raises(WeftError, match="the same documents"):
        evaluate_trees([GOLD], [])
    with pytest.raises(WeftError, match="the same words"):
        evaluate_trees([GOLD], [Doc.from_words([["dogs"]], head=[[0]])])

"""Scores of joint analyses, against counts by hand."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.evaluate.documents import evaluate_documents
from weft.evaluate.labels.disfluency import evaluate_disfluency, score_analyses
from weft.evaluate.significance import rank_sum
from weft.text import Doc

GOLD = ([1, 2, 4, 0, 4], ["", "", "nsubj", "root", "obj:x"])


def test_words_wrongly_struck_out_are_wrong_and_words_rightly_struck_out_do_not_count():
    # Struck out: 2 rightly, 3 wrongly; 1 is missed and hangs somewhere; 4 and 5 are right, one with another relation.
    system = ([4, 2, 3, 0, 4], ["dep", "", "", "root", "iobj"])
    scores = score_analyses([GOLD], [system]).as_dict()
    assert scores == {"P": 0.5, "R": 0.5, "F": 0.5, "UAS": 2 / 3, "LAS": 1 / 3}


def test_subtypes_of_relations_do_not_count():
    assert score_analyses([GOLD], [(GOLD[0], ["", "", "nsubj:pass", "root", "obj"])]).as_dict()["LAS"] == 1


def test_a_word_that_hangs_on_a_struck_word_is_wrong():
    assert score_analyses([GOLD], [([4, 4, 2, 0, 4], GOLD[1])]).as_dict()["UAS"] == 2 / 3


def test_documents_that_differ_are_refused():
    with pytest.raises(WeftError, match="sentences"):
        score_analyses([GOLD], [])
    with pytest.raises(WeftError, match="sentence 1"):
        score_analyses([GOLD], [([0], ["root"])])
    with pytest.raises(WeftError, match="no heads"):
        evaluate_disfluency([Doc.from_words([["so"]])], [Doc.from_words([["so"]])])


def test_the_layer_disfluency_scores_files():
    gold = Doc.from_words([["the", "the", "sea"]], head=[[2, 3, 0]], deprel=[["reparandum", "det", "root"]])
    system = Doc.from_words([["the", "the", "sea"]], head=[[3, 3, 0]], deprel=[["det", "det", "root"]])
    outcome = evaluate_documents([gold], [system], "disfluency")
    assert outcome.main == "struck out"
    assert outcome.counts["struck out"].total().recall == 0
    assert outcome.counts["UAS"].total().recall == 1


def test_the_rank_sum_test_by_hand():
    # Of the 20 ways to choose 3 of 6 ranks, one is as high as 4 5 6 and one as low.
    assert rank_sum([4, 5, 6], [1, 2, 3]) == pytest.approx(0.1)
    assert rank_sum([1.0, 1.0], [1.0, 1.0]) == 1.0
    with pytest.raises(WeftError):
        rank_sum([], [1.0])

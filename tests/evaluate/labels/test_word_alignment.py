"""Scores of word alignments: the figures of the literature, by hand."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.evaluate.labels.word_alignment import score_alignment
from weft.text.bitext import Links

SURE = Links.of([[(0, 0), (1, 1)], [(0, 0)]])
POSSIBLE = Links.of([[(0, 0), (1, 1), (2, 1)], [(0, 0), (0, 1)]])


def test_sure_links_alone_have_no_error_and_possible_ones_cost_nothing():
    for links in (SURE, POSSIBLE):
        score = score_alignment(links, SURE, POSSIBLE)
        assert (score.precision, score.recall, score.aer) == (1, 1, 0)


def test_the_error_rate_is_that_of_the_formula():
    score = score_alignment(Links.of([[(0, 0), (2, 1), (3, 3)], []]), SURE, POSSIBLE)
    assert score.precision == pytest.approx(2 / 3)
    assert score.recall == pytest.approx(1 / 3)
    assert score.aer == pytest.approx(1 - (1 + 2) / (3 + 3))
    assert score.figures()["links"] == 3


def test_without_possible_links_the_error_rate_is_one_minus_f1():
    score = score_alignment(Links.of([[(0, 0), (1, 0)], [(0, 0)]]), SURE)
    assert score.aer == pytest.approx(1 - score.f1)


def test_repeated_links_count_once_and_no_links_are_all_wrong():
    assert score_alignment(Links.of([[(0, 0), (0, 0)], []]), SURE).figures()["links"] == 1
    assert score_alignment(Links.of([[], []]), SURE).aer == 1


def test_the_interval_holds_the_rate():
    score = score_alignment(Links.of([[(0, 0)], [(0, 1)]]), SURE, POSSIBLE)
    low, high = score.interval(samples=200)
    assert low <= score.aer <= high


def test_links_of_another_text_are_refused():
    with pytest.raises(WeftError, match="links of 1 sentence pairs"):
        score_alignment(Links.of([[]]), SURE)

"""Link scores of multiword expressions, by hand."""

import numpy as np
import pytest

from weft.errors import WeftError
from weft.evaluate.labels.mwe import mean_f1, score_expressions, score_of
from weft.evaluate.significance import paired_bootstrap
from weft.text.conventions.expressions import Expressions


def score(gold, system):
    return score_expressions([gold], [system])


@pytest.mark.must_show("mwe-gappy-segmentation", 3)
def test_identical_expressions_score_one():
    both = Expressions.of(strong=[(0, 3), (1, 2), (6, 7)], weak=[(5, 6, 7), (8, 9)])
    report = score(both, both)
    assert report.link == report.exact == (1.0, 1.0, 1.0)
    assert report.gap_recall == report.gappy_groups_recall == 1.0


@pytest.mark.must_show("mwe-gappy-segmentation", 3)
def test_without_weak_links_it_is_the_measure_of_muc():
    # Gold abcd, system ab cd: both system links right, two of three gold links found: P = 1, R = 2/3.
    report = score(Expressions.of(strong=[(0, 1, 2, 3)]), Expressions.of(strong=[(0, 1), (2, 3)]))
    assert report.link == pytest.approx((1.0, 2 / 3, 0.8))
    assert report.exact == (0.0, 0.0, 0.0)
    np.testing.assert_array_equal(report.links[0, 0], report.links[0, 1])


@pytest.mark.must_show("mwe-gappy-segmentation", 3)
def test_a_link_over_a_missing_word_is_right_by_transitive_closure():
    # System a_c of gold abc: its link a-c has both ends in one gold group; neither a-b nor b-c is in the system.
    report = score(Expressions.of(strong=[(0, 1, 2)]), Expressions.of(strong=[(0, 2)]))
    assert report.link == (1.0, 0.0, 0.0)
    # The other way round: gold a-c is found, system a-b and b-c are wrong.
    report = score(Expressions.of(strong=[(0, 2)]), Expressions.of(strong=[(0, 1, 2)]))
    assert report.link == (0.0, 1.0, 0.0)


@pytest.mark.must_show("mwe-gappy-segmentation", 3)
def test_strength_is_averaged_over_two_readings():
    # Gold weak, system strong. Raised: all right. Lowered: one system link, no gold link.
    report = score(Expressions.of(weak=[(0, 1)]), Expressions.of(strong=[(0, 1)]))
    assert report.link == (0.5, 0.5, 0.5)
    # Gold strong ab in weak abc; system strong ab only. Raised: P 1, R 1/2. Lowered: P 1, R 1.
    report = score(Expressions.of(strong=[(0, 1)], weak=[(0, 1, 2)]), Expressions.of(strong=[(0, 1)]))
    assert report.link == pytest.approx((1.0, 0.75, (2 / 3 + 1) / 2))
    assert report.exact == (0.5, 0.5, 0.5)


@pytest.mark.must_show("mwe-gappy-segmentation", 3)
def test_gappy_expressions_and_what_fills_their_gaps():
    gold = Expressions.of(strong=[(0, 3), (1, 2)])
    report = score(gold, Expressions.of(strong=[(1, 2)]))
    assert report.link == pytest.approx((1.0, 0.5, 2 / 3))
    assert report.exact == pytest.approx((1.0, 0.5, 2 / 3))
    assert (report.gap_recall, report.gappy_groups_recall) == (0.0, 0.0)
    # All four words in one group: three links, of which only 1-2 is right; both gold links are found.
    report = score(gold, Expressions.of(strong=[(0, 1, 2, 3)]))
    assert report.link == pytest.approx((1 / 3, 1.0, 0.5))
    assert (report.gap_recall, report.gappy_groups_recall) == (1.0, 0.0)


def test_sentences_add_up_and_can_be_drawn_anew():
    gold = [Expressions.of(strong=[(0, 1)])] * 20 + [Expressions()]
    good, bad = gold, [Expressions()] * 10 + gold[10:]
    a, b = score_expressions(gold, good), score_expressions(gold, bad)
    assert score_of(a.links.sum(axis=0)) == a.link == (1.0, 1.0, 1.0)
    assert b.link.recall == 0.5
    compared = paired_bootstrap(a.links, b.links, mean_f1, samples=500)
    assert compared.difference == pytest.approx(1 - 2 / 3)
    assert compared.p < 0.05


def test_different_numbers_of_sentences_are_refused():
    with pytest.raises(WeftError, match="the same sentences"):
        score_expressions([Expressions()], [])

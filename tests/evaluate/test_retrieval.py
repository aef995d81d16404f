"""Ranks of the best correct item, against orders that are enumerated and closed forms."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import DataError
from weft.evaluate.retrieval import best_ranks, expected_rank, recall_at


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6))
def test_ties_count_as_the_mean_over_their_orders(items):
    if not any(right for _, right in items):
        items = [*items, (1, True)]
    scores, correct = np.array([[float(score) for score, _ in items]]), np.array([[right for _, right in items]])
    ranks = []
    for order in permutations(range(len(items))):
        ranked = sorted(order, key=lambda k: -scores[0, k])  # stable: ties stay in the order of the permutation
        ranks.append(1 + min(place for place, k in enumerate(ranked) if correct[0, k]))
    assert best_ranks(scores, correct)[0] == pytest.approx(np.mean(ranks))


@pytest.mark.must_show("dt-rnn", 5)
@pytest.mark.parametrize(("correct", "items", "rank"), [(1, 100, 50.5), (4, 499, 100.0), (5, 500, 83.5)])
def test_random_scores_have_the_ranks_of_closed_forms(correct, items, rank):
    assert expected_rank(correct, items) == rank
    scores = np.random.default_rng(0).standard_normal((4000, items))
    right = np.tile(np.arange(items) < correct, (4000, 1))
    found = best_ranks(scores, right)
    assert abs(found.mean() - rank) < 4 * found.std() / np.sqrt(len(found))
    assert best_ranks(np.zeros((1, items)), right[:1])[0] == rank


def test_recall_counts_queries_and_ranks_need_a_correct_item():
    assert recall_at(np.array([1.0, 5.0, 6.0, 10.5]), 5) == 0.5
    with pytest.raises(DataError, match="needs a correct item"):
        best_ranks(np.zeros((1, 2)), np.zeros((1, 2), dtype=bool))

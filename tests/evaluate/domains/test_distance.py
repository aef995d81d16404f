"""Proxy distance of domains and the choice of domains to label."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from weft.errors import ConfigError, DataError
from weft.evaluate.domains.distance import choose_sources, coverage, domain_distances, proxy_distance


def cloud(place: float, seed: int, n: int = 150) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 4)) + place


@pytest.mark.must_show("scl-sentiment", 6, weaker="100 pivots and five folds, the development fold among them")
def test_two_halves_of_one_domain_are_at_no_distance_and_strangers_at_all_of_it():
    assert proxy_distance(cloud(0, 1), cloud(0, 2)) < 5
    assert proxy_distance(cloud(0, 1), cloud(8, 2)) > 95


def test_distance_grows_with_the_gap_and_never_leaves_its_range():
    found = [proxy_distance(cloud(0, 1), cloud(gap, 2)) for gap in (0.0, 0.5, 1.0, 4.0)]
    assert found == sorted(found)
    assert all(0 <= each <= 100 for each in found)


def test_distance_is_the_same_both_ways_and_for_sparse_rows():
    one, other = cloud(0, 1), cloud(1, 2)
    assert proxy_distance(one, other) == pytest.approx(proxy_distance(other, one), abs=2.0)
    assert proxy_distance(csr_matrix(one), csr_matrix(other)) == pytest.approx(proxy_distance(one, other), abs=1e-3)


def test_a_larger_domain_is_cut_down_so_that_guessing_it_wins_nothing():
    assert proxy_distance(cloud(0, 1, 600), cloud(0, 2, 60)) < 10


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_chosen_sources_cover_all_domains_best(seed, k):
    matrix = np.random.default_rng(seed).random((6, 6))
    matrix = matrix + matrix.T
    np.fill_diagonal(matrix, 0)
    best = min(sum(min(matrix[s, t] for s in chosen) for t in range(6)) for chosen in combinations(range(6), k))
    assert coverage(matrix, choose_sources(matrix, k)) == pytest.approx(best)
    assert coverage(matrix, choose_sources(matrix, k, greedy=True)) >= best - 1e-12


def test_one_of_every_group_of_near_domains_is_chosen():
    domains = {"b": cloud(0, 1), "d": cloud(0.3, 2), "e": cloud(6, 3), "k": cloud(6.3, 4)}
    for greedy in (False, True):
        chosen = domain_distances(domains).sources(2, greedy)
        assert len({"b", "d"} & set(chosen)) == 1
        assert len({"e", "k"} & set(chosen)) == 1


def test_bad_input_is_refused_in_plain_words():
    with pytest.raises(DataError, match="at least 5 instances"):
        proxy_distance(cloud(0, 1, 3), cloud(0, 2))
    with pytest.raises(ConfigError, match="1 to 2"):
        choose_sources(np.zeros((2, 2)), 3)
    with pytest.raises(ConfigError, match="square"):
        choose_sources(np.zeros((2, 3)), 1)

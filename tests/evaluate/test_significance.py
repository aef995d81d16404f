"""P-values against exact enumeration, and their distribution where there is no difference."""

from __future__ import annotations

import math
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.evaluate import (
    Counts,
    approximate_randomization,
    benjamini_hochberg,
    confidence_interval,
    f1,
    holm,
    mcnemar,
    mcnemar_of_counts,
    paired_bootstrap,
    signed_rank,
)


@given(st.lists(st.integers(-40, 40).filter(bool), min_size=1, max_size=9, unique_by=abs))
@settings(max_examples=40, deadline=None)
def test_the_signed_rank_test_equals_the_enumeration_of_all_signs(differences: list[int]) -> None:
    ranks = np.argsort(np.argsort(np.abs(differences))) + 1
    seen = ranks[np.array(differences) > 0].sum()
    middle = ranks.sum() / 2
    sums = [
        sum(rank for rank, up in zip(ranks, signs, strict=True) if up) for signs in product((0, 1), repeat=len(ranks))
    ]
    extreme = sum(abs(each - middle) >= abs(seen - middle) for each in sums)
    assert signed_rank(differences) == pytest.approx(extreme / len(sums))


@given(st.integers(0, 14), st.integers(0, 14))
@settings(max_examples=60, deadline=None)
def test_exact_mcnemar_equals_the_enumeration_of_all_outcomes(only_a: int, only_b: int) -> None:
    n = only_a + only_b
    as_extreme = sum(math.comb(n, k) for k in range(n + 1) if abs(2 * k - n) >= abs(only_a - only_b))
    assert mcnemar_of_counts(only_a, only_b).exact_p == pytest.approx(as_extreme / 2**n)


def test_mcnemar_takes_the_chi_square_for_many_pairs() -> None:
    few, many = mcnemar_of_counts(20, 4), mcnemar_of_counts(300, 240)
    assert few.p == few.exact_p
    assert many.p == many.chi_square_p
    assert many.chi_square == pytest.approx(59**2 / 540)
    assert many.chi_square_p == pytest.approx(many.exact_p, rel=0.02)
    assert mcnemar_of_counts(5, 5).p == 1.0
    assert mcnemar_of_counts(0, 0).p == 1.0


def test_mcnemar_counts_only_items_where_the_systems_differ() -> None:
    result = mcnemar([1, 1, 0, 0, 1], [1, 0, 0, 1, 0])
    assert (result.only_a, result.only_b) == (2, 1)
    with pytest.raises(WeftError, match="but got 1 and 2"):
        mcnemar([1], [1, 0])


def random_counts(rng: np.random.Generator, units: int) -> tuple[Counts, Counts]:
    gold = rng.integers(1, 5, units)
    systems = []
    for _ in range(2):
        system = rng.integers(1, 5, units)
        systems.append(Counts.of(gold, system, rng.integers(0, np.minimum(gold, system) + 1)))
    return systems[0], systems[1]


@pytest.mark.parametrize("seed", range(4))
def test_randomization_is_near_the_enumeration_of_all_swaps(seed: int) -> None:
    a, b = random_counts(np.random.default_rng(seed), 9)
    both = np.stack([a.rows, b.rows])
    seen = abs(f1(a.rows.sum(axis=0)) - f1(b.rows.sum(axis=0)))
    as_large = 0
    for swap in product((0, 1), repeat=9):
        sums = [both[[s ^ side for s in swap], range(9)].sum(axis=0) for side in (0, 1)]
        as_large += abs(f1(sums[0]) - f1(sums[1])) >= seen - 1e-12
    exact = approximate_randomization(a, b, samples=512)
    assert exact.exact
    assert exact.p == pytest.approx(as_large / 2**9)
    drawn = approximate_randomization(a, b, samples=256, seed=seed)
    if not drawn.exact:  # equal units leave fewer ways to swap
        assert drawn.p == pytest.approx(as_large / 2**9, abs=0.12)


@pytest.mark.parametrize("seed", range(4))
def test_the_bootstrap_is_near_the_enumeration_of_all_draws(seed: int) -> None:
    a, b = random_counts(np.random.default_rng(seed), 5)
    seen = f1(a.rows.sum(axis=0)) - f1(b.rows.sum(axis=0))
    drawn = np.array(list(product(range(5), repeat=5)))
    differences = f1(a.rows[drawn].sum(axis=1)) - f1(b.rows[drawn].sum(axis=1))
    p = (np.abs(differences - seen) >= abs(seen) - 1e-12).mean()
    result = paired_bootstrap(a, b, samples=20_000, seed=seed, confidence=0.9)
    assert result.p == pytest.approx(p, abs=0.02)
    assert result.difference == pytest.approx(float(seen))
    # The exact distribution is coarse: the interval's ends lie where it says, give or take the mass of a point.
    assert (differences <= result.low + 1e-9).mean() >= 0.04
    assert (differences >= result.high - 1e-9).mean() >= 0.04
    assert ((differences > result.low + 1e-9) & (differences < result.high - 1e-9)).mean() <= 0.92


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_p_values_are_uniform_where_the_systems_do_not_differ(test) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(3)
    p_values = []
    for trial in range(500):
        gold = rng.integers(100, 200, 60)  # many items, so that ties between differences are rare
        a, b = (Counts.of(gold, gold, rng.binomial(gold, 0.8)) for _ in range(2))
        p_values.append(test(a, b, samples=200, seed=trial).p)
    for level in (0.05, 0.2, 0.5, 0.8):
        assert np.mean(np.array(p_values) <= level) == pytest.approx(level, abs=0.06)


def test_mcnemar_p_values_do_not_come_too_often_where_the_systems_do_not_differ() -> None:
    rng = np.random.default_rng(4)
    p_values = np.array([mcnemar(rng.random(400) < 0.8, rng.random(400) < 0.8).p for _ in range(500)])
    # Whole numbers and the correction for them make the test careful: below the level, but not far below.
    for level in (0.05, 0.2, 0.5):
        assert 0.4 * level <= (p_values <= level).mean() <= level + 0.02


def test_tests_find_a_clear_difference_and_repeat_with_the_seed() -> None:
    rng = np.random.default_rng(5)
    gold = rng.integers(5, 20, 200)
    a, b = (Counts.of(gold, gold, rng.binomial(gold, rate)) for rate in (0.95, 0.85))
    for test in (paired_bootstrap, approximate_randomization):
        one, again, other = (test(a, b, "accuracy", samples=500, seed=seed) for seed in (1, 1, 2))
        assert one == again
        assert one.low != other.low
        assert one.p < 0.01
        assert 0 < one.low < one.difference < one.high
        assert test(b, a, "accuracy", samples=500).difference == pytest.approx(-one.difference)


def test_a_system_compared_with_itself_has_p_one() -> None:
    a, _ = random_counts(np.random.default_rng(1), 20)
    assert paired_bootstrap(a, a, samples=100).p == 1.0
    assert approximate_randomization(a, a, samples=100).p == 1.0


def test_intervals_cover_the_true_rate_as_often_as_they_say() -> None:
    rng = np.random.default_rng(6)
    covered = 0
    for trial in range(200):
        gold = np.full(80, 5)
        interval = confidence_interval(Counts.of(gold, gold, rng.binomial(gold, 0.7)), samples=300, seed=trial)
        covered += interval.low <= 0.7 <= interval.high
    assert covered / 200 == pytest.approx(0.95, abs=0.05)


def test_corrections_follow_their_definitions() -> None:
    p = [0.005, 0.011, 0.02, 0.04, 0.5]
    assert holm(p) == pytest.approx([0.025, 0.044, 0.06, 0.08, 0.5])
    assert benjamini_hochberg(p) == pytest.approx([0.025, 0.0275, 0.1 / 3, 0.05, 0.5])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []
    with pytest.raises(WeftError, match="between 0 and 1"):
        holm([1.2])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
@settings(max_examples=80, deadline=None)
def test_corrected_p_values_keep_the_order_and_do_not_shrink(p_values: list[float]) -> None:
    p = np.array(p_values)
    for corrected in (holm(p), benjamini_hochberg(p)):
        assert (corrected >= p - 1e-15).all()
        assert (np.diff(corrected[np.argsort(p, kind="stable")]) >= 0).all()
    assert (holm(p) >= benjamini_hochberg(p) - 1e-12).all()


def test_bad_arguments_are_refused_in_plain_words() -> None:
    a, b = random_counts(np.random.default_rng(1), 4)
    with pytest.raises(WeftError, match="the same units for both systems, but got 4 and 2"):
        paired_bootstrap(a, b.select([0, 1]))
    with pytest.raises(WeftError, match="there is no measure 'f2'"):
        paired_bootstrap(a, b, "f2")
    with pytest.raises(WeftError, match=r"between 0 and 1, such as 0\.95"):
        paired_bootstrap(a, b, confidence=95)
    with pytest.raises(WeftError, match="at least one sample"):
        approximate_randomization(a, b, samples=0)
    with pytest.raises(WeftError, match="nothing to test"):
        confidence_interval(a.select([]))


@pytest.mark.timing
def test_ten_thousand_samples_of_two_thousand_sentences_take_seconds() -> None:
    a, b = random_counts(np.random.default_rng(1), 2000)
    start = time.process_time()
    paired_bootstrap(a, b)
    approximate_randomization(a, b)
    assert time.process_time() - start < 10

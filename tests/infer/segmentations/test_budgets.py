"""Segmentations within bounds: all solvers against enumeration."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.infer.segmentations.budgets import solve, solve_by_labels, solve_exactly
from weft.infer.segmentations.problem import SKIP, Segment, SegmentationProblem

Pieces = list[tuple[int, int, int]]


def all_segmentations(problem: SegmentationProblem, start: int = 0) -> Iterator[tuple[Pieces, np.ndarray]]:
    """All partitions with their sums, skipped tokens one by one."""
    if start == problem.n_tokens:
        yield [], np.zeros(problem.n_criteria)
        return
    for rest, sums in all_segmentations(problem, start + 1):
        yield [(start, start + 1, SKIP), *rest], sums
    for d in range(int(problem.longest[start])):
        for rest, sums in all_segmentations(problem, start + d + 1):
            for mode in range(problem.n_modes):
                yield [(start, start + d + 1, mode), *rest], sums + problem.values[:, mode, start, d]


def random_problem(seed: int, n: int, modes: int = 2, criteria: int = 2, longest: int = 3) -> SegmentationProblem:
    """Utilities that are saved and costs that are spent, of random segments; two documents."""
    rng = np.random.default_rng(seed)
    values = rng.random((criteria, modes, n, longest)) * np.arange(1, longest + 1)
    values[0] *= -1
    cut = int(rng.integers(1, n)) if n > 1 else 1
    return SegmentationProblem.of(values, [cut, n - cut] if cut < n else [n])


@pytest.mark.must_show("annotation-cost-utility", 1)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 6), st.floats(0.0, 1.2))
def test_every_solver_agrees_with_enumeration_under_one_bound(seed: int, n: int, share: float) -> None:
    problem = random_problem(seed, n)
    everything = list(all_segmentations(problem))
    bound = share * max(sums[1] for _, sums in everything)
    optimum = min(sums[0] for _, sums in everything if sums[1] <= bound + 1e-12)
    exact, labels, relaxed = solve_exactly(problem, [bound]), solve_by_labels(problem, bound), solve(problem, [bound])
    assert exact.segmentation.value == pytest.approx(optimum, abs=1e-7)
    assert labels.segmentation.value == pytest.approx(optimum, abs=1e-9)
    assert relaxed.limit <= optimum + 1e-9 <= relaxed.segmentation.value + 2e-9
    assert relaxed.limit == pytest.approx(solve_exactly(problem, [bound], relaxed=True).limit, abs=1e-6)
    for plan in (exact, labels, relaxed):
        assert plan.segmentation.fits([bound], 1e-6)


@pytest.mark.must_show("annotation-cost-utility", 1)
@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 7), st.floats(0.1, 0.9))
@example(1, 10, 0.4)
def test_three_modes_and_two_bounds_agree_with_enumeration(seed: int, n: int, share: float) -> None:
    problem = random_problem(seed, n, modes=3, criteria=3, longest=2)
    sums = all_sums(problem)
    bounds = share * sums[:, 1:].max(axis=0)
    optimum = sums[(sums[:, 1:] <= bounds + 1e-12).all(axis=1), 0].min()
    assert solve_exactly(problem, bounds).segmentation.value == pytest.approx(optimum, abs=1e-7)
    relaxed = solve(problem, bounds)
    assert relaxed.segmentation.fits(bounds, 1e-6)
    assert relaxed.limit <= optimum + 1e-9 <= relaxed.segmentation.value + 2e-9


def all_sums(problem: SegmentationProblem) -> np.ndarray:
    """The sums of all segmentations."""
    sums = [np.zeros((1, problem.n_criteria))]
    for end in range(1, problem.n_tokens + 1):
        pieces = [sums[end - 1]]
        for start in range(max(0, end - problem.values.shape[3]), end):
            if end - start <= problem.longest[start]:
                pieces += [sums[start] + problem.values[:, k, start, end - start - 1] for k in range(problem.n_modes)]
        sums.append(np.concatenate(pieces))
    return sums[-1]


@pytest.mark.must_show("annotation-cost-utility", 2)
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 30), st.floats(0.0, 1.0))
def test_the_answer_is_a_partition_within_bounds_and_documents(seed: int, n: int, share: float) -> None:
    problem = random_problem(seed, n, longest=4)
    bound = share * problem.best().totals[1]
    plan = solve(problem, [bound])
    segments = plan.segmentation.segments
    assert [s.start for s in segments] == [0, *(s.end for s in segments)][:-1]
    assert segments[-1].end == n
    assert plan.segmentation.totals[1] <= bound + 1e-9
    starts = problem.documents
    for one in segments:
        assert one.mode == SKIP or one.end - one.start <= 4
        assert not starts & set(range(one.start + 1, one.end))
    for one, two in itertools.pairwise(segments):
        assert one.mode != SKIP or two.mode != SKIP or two.start in starts
    taken = [problem.values[:, s.mode, s.start, s.end - s.start - 1] for s in segments if s.mode != SKIP]
    sums = np.sum(taken, axis=0) if taken else np.zeros(2)
    np.testing.assert_allclose(sums, plan.segmentation.totals, atol=1e-9)


def words(seed: int, n: int, switch: float) -> SegmentationProblem:
    """Errors in bursts; correcting a segment takes a switch and .9 s per word."""
    rng = np.random.default_rng(seed)
    p, inside = np.zeros(n), False
    for i in range(n):
        inside = rng.random() < (0.65 if inside else 0.05)
        p[i] = rng.beta(5, 3) if inside else rng.beta(1, 12)
    sums = np.concatenate([[0.0], np.cumsum(p)])
    length = np.arange(1, 21)
    ends = np.minimum(np.arange(n)[:, None] + length, n)
    errors = sums[ends] - sums[:n, None]
    time = switch + 0.9 * length + errors
    return SegmentationProblem.of(np.stack([time[None], -errors[None]]))


@pytest.mark.must_show("annotation-cost-utility", 3)
def test_switches_make_segments_long_and_a_larger_budget_never_hurts() -> None:
    means = {}
    for switch in (0.0, 3.0, 60.0):
        problem = words(1, 300, switch)
        wanted = 0.4 * problem.best([0.0, 1.0]).totals[1]
        taken = [s for s in solve(problem, [wanted]).segmentation.segments if s.mode != SKIP]
        means[switch] = np.mean([s.end - s.start for s in taken])
    assert means[0.0] < 1.6
    assert means[0.0] < means[3.0] < means[60.0]
    assert means[60.0] > 12
    problem = words(2, 200, 3.0)
    table = problem.values[::-1].copy()  # the errors removed, within seconds
    by_time = SegmentationProblem.of(table)
    removed = [solve_by_labels(by_time, seconds, 10**6).segmentation.value for seconds in (10.0, 20.0, 40.0, 80.0)]
    assert all(later < earlier for earlier, later in itertools.pairwise(removed))


@pytest.mark.must_show(
    "annotation-cost-utility", 7, weaker="2,000 and 4,000 tokens, and no clock; the recipe times them and 200,000"
)
@pytest.mark.parametrize("n", [2000, 4000])
def test_the_gap_of_long_sequences_is_small(n: int) -> None:
    problem = words(3, n, 3.0)
    wanted = 0.4 * problem.best([0.0, 1.0]).totals[1]
    plan = solve(problem, [wanted])
    assert plan.segmentation.fits([wanted])
    assert plan.gap <= 0.015


def test_a_skipped_run_is_one_segment() -> None:
    problem = SegmentationProblem.of(np.array([[[[1.0], [1.0], [-1.0], [1.0]]]]))
    assert problem.best().segments == [Segment(0, 2, SKIP), Segment(2, 3, 0), Segment(3, 4, SKIP)]


def test_what_cannot_be_solved_is_told() -> None:
    values = np.ones((2, 1, 3, 2))
    with pytest.raises(DataError, match="at most -1: the least is 0"):
        solve(SegmentationProblem.of(values), [-1.0])
    with pytest.raises(DataError, match="at most -1"):
        solve_by_labels(SegmentationProblem.of(values), -1.0)
    with pytest.raises(ConfigError, match="need as many bounds"):
        solve(SegmentationProblem.of(values), [1.0, 2.0])
    with pytest.raises(DataError, match="do not make up"):
        SegmentationProblem.of(values, [2])
    with pytest.raises(DataError, match="finite"):
        SegmentationProblem.of(np.full((1, 1, 2, 1), np.nan))

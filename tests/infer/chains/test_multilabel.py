"""Segments as labels, against enumeration of all T (2^n - 1) segments."""

from __future__ import annotations

import time
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import exponent, steps_of

from weft.errors import ConfigError, InferenceError
from weft.infer.chains.multilabel import (
    MultilabelSegments,
    Restrictions,
    Segment,
    SegmentScores,
    pieces,
    positions,
    segment_score,
)


def random_scores(n: int, types: int, seed: int, whole: bool = False) -> SegmentScores:
    random = np.random.default_rng(seed)
    draw = (lambda *shape: random.integers(-2, 3, shape).astype(float)) if whole else random.normal
    if whole:
        return SegmentScores(draw(n, types), draw(n, types), draw(n, n, types))
    return SegmentScores(draw(size=(n, types)), draw(size=(n, types)), draw(size=(n, n, types)))


def enumerate_segments(scores: SegmentScores, gap: int) -> list[tuple[Segment, float]]:
    """All segments within the gap bound with their scores, best first."""
    n, types = scores.start.shape
    found = []
    for size in range(1, n + 1):
        for words in combinations(range(n), size):
            if gap and any(i - j > gap for j, i in pairwise(words)):
                continue
            for kind in range(types):
                total = scores.start[words[0], kind] + scores.end[words[-1], kind]
                total += sum(scores.link[j, i, kind] for j, i in pairwise(words))
                found.append((Segment(kind, words), float(total)))
    return sorted(found, key=lambda item: -item[1])


@pytest.mark.must_show("structured-multilabel-segmentation", 1)
@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 8), st.integers(1, 3), st.integers(0, 4), st.integers(1, 40), st.integers(0, 10**6), st.booleans()
)
def test_the_k_best_segments_are_those_of_enumeration(n, types, gap, k, seed, whole):
    scores = random_scores(n, types, seed, whole)
    expected = enumerate_segments(scores, gap)
    found = MultilabelSegments([scores], Restrictions(gap=gap)).top(k)[0]
    assert len(found) == min(k, len(expected))
    assert len({segment for segment, _ in found}) == len(found)
    values = [value for _, value in found]
    assert all(a >= b for a, b in pairwise(values))
    np.testing.assert_allclose(values, [value for _, value in expected[: len(found)]], atol=1e-9)
    of_segment = dict(expected)
    np.testing.assert_allclose(values, [of_segment[segment] for segment, _ in found], atol=1e-9)
    if not whole:
        assert [segment for segment, _ in found] == [segment for segment, _ in expected[: len(found)]]


@pytest.mark.must_show("structured-multilabel-segmentation", 1)
@pytest.mark.parametrize("gap", [0, 1, 3])
def test_all_segments_of_ten_words_come_in_order(gap):
    scores = random_scores(10, 2, seed=7)
    expected = enumerate_segments(scores, gap)
    found = MultilabelSegments([scores], Restrictions(gap=gap)).top(len(expected) + 5)[0]
    assert [segment for segment, _ in found] == [segment for segment, _ in expected]
    if gap == 1:
        assert len(found) == 2 * 55
        assert all(words == tuple(range(words[0], words[-1] + 1)) for (_, words), _ in found)


def test_forbidden_edges_are_never_used():
    scores = random_scores(6, 2, seed=3)
    random = np.random.default_rng(4)
    masks = tuple(random.random(array.shape) < 0.5 for array in scores)
    masked = MultilabelSegments([scores]).restrict([masks])
    expected = [item for item in enumerate_segments(masked.sentences[0], 0) if item[1] > -np.inf]
    found = masked.top(200)[0]
    assert [segment for segment, _ in found] == [segment for segment, _ in expected]


def conflict(one: Segment, other: Segment, overlap: bool, embedding: bool) -> bool:
    a, b = set(one.words), set(other.words)
    return (not overlap and bool(a & b)) or (not embedding and (a <= b or b <= a))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(1, 2), st.booleans(), st.booleans(), st.integers(0, 10**6))
def test_restrictions_drop_what_conflicts_with_something_better(n, types, overlap, embedding, seed):
    scores = random_scores(n, types, seed)
    structure = MultilabelSegments([scores], Restrictions(0, overlap, embedding), size=1000)
    accepted: list[Segment] = []
    for segment, value in enumerate_segments(scores, 0):
        if value > 0 and not any(conflict(segment, other, overlap, embedding) for other in accepted):
            accepted.append(segment)
    assert structure.best() == [accepted]


def test_solutions_are_scored_and_split_into_parts():
    scores = [random_scores(5, 2, seed=1), random_scores(3, 2, seed=2)]
    structure = MultilabelSegments(scores)
    solution = [[Segment(0, (0, 3)), Segment(1, (0, 1, 2))], []]
    values = structure.score(solution)
    assert values[0] == pytest.approx(sum(segment_score(scores[0], segment) for segment in solution[0]))
    assert values[1] == 0.0
    parts = structure.parts(solution)
    moved = structure.augment(parts.scale(2.0))
    # Every edge used gains 2: three edges of the first segment, four of the second, none shared between types.
    assert moved.score(solution)[0] == pytest.approx(values[0] + 2.0 * 7)
    assert parts.inner(parts) == 7.0
    assert (parts - parts).inner(parts) == 0.0
    assert structure.differs(solution, [[Segment(0, (0, 3))], [Segment(0, (1,))]]).tolist() == [1.0, 1.0]
    assert structure.parts(solution, np.array([0.5, 1.0])).values.sum() == 3.5


def test_a_higher_threshold_keeps_the_beginning_of_the_ranking():
    scores = random_scores(7, 2, seed=11)
    ranked = MultilabelSegments([scores], Restrictions(overlap=False)).ranked()[0]
    for threshold in (-2.0, 0.0, 1.0):
        kept = MultilabelSegments([scores], Restrictions(overlap=False), threshold).best()[0]
        assert (
            kept == [segment for segment, value in ranked if value > threshold] == [s for s, _ in ranked[: len(kept)]]
        )


def test_sentences_without_words_or_types_have_no_segments():
    empty = SegmentScores(np.zeros((0, 1)), np.zeros((0, 1)), np.zeros((0, 0, 1)))
    typeless = SegmentScores(np.zeros((2, 0)), np.zeros((2, 0)), np.zeros((2, 2, 0)))
    assert MultilabelSegments([empty, typeless]).best() == [[], []]


def test_pieces_and_positions_are_inverse():
    for words in ((0,), (0, 2), (1, 2, 3), (1, 3, 4, 9)):
        assert positions(pieces(words)) == words


def test_wrong_shapes_and_names_are_told():
    with pytest.raises(InferenceError, match="need end"):
        MultilabelSegments([SegmentScores(np.zeros((2, 1)), np.zeros((3, 1)), np.zeros((2, 2, 1)))])
    with pytest.raises(ConfigError, match="no-gaps"):
        Restrictions.read("no-gaps")


def tied_scores(n: int) -> SegmentScores:
    return SegmentScores(np.zeros((n, 1)), np.zeros((n, 1)), np.zeros((n, n, 1)))


def growing_scores(n: int) -> SegmentScores:
    """Every longer segment is better, so that lists of beginnings are merged as deep as they go."""
    return SegmentScores(np.arange(n, dtype=float)[:, None], np.zeros((n, 1)), np.ones((n, n, 1)))


@pytest.mark.must_show("structured-multilabel-segmentation", 7)
@pytest.mark.parametrize("scores", [lambda n: random_scores(n, 1, seed=n), tied_scores, growing_scores])
def test_steps_grow_with_the_square_and_with_a_gap_bound_with_the_length_a_power_less_than_the_paper(scores):
    """The paper's merging takes n^3 and n^2 (the sheet's figures); lists merged lazily take a power less, whatever the
    scores: the exponents are asserted from both sides."""
    sizes = (25, 50, 100)

    def steps(n: int, k: int, gap: int) -> int:
        structure = MultilabelSegments([scores(n)], Restrictions(gap=gap))
        return steps_of(lambda: structure.top(k))

    free = [steps(n, n, 0) for n in sizes]
    bound = [steps(n, 20, 10) for n in sizes]
    assert 1.8 < exponent(sizes, free) < 2.2, free
    assert 0.9 < exponent(sizes, bound) < 1.2, bound


def seconds(n: int, k: int, gap: int, repeat: int) -> float:
    structure = MultilabelSegments([random_scores(n, 1, seed=n)], Restrictions(gap=gap))
    best = np.inf
    for _ in range(repeat):
        started = time.process_time()
        structure.top(k)
        best = min(best, time.process_time() - started)
    return best


@pytest.mark.must_show(
    "structured-multilabel-segmentation", 7, weaker="upper bounds of the time alone; steps tell both"
)
@pytest.mark.timing
def test_time_grows_at_most_with_the_cube_and_with_a_gap_bound_at_most_with_the_square():
    seconds(10, 10, 0, 1)  # compiles
    sizes = (100, 200, 400)
    free = [seconds(n, n, 0, 3) for n in sizes]
    bound = [seconds(n, 20, 10, 5) for n in sizes]

    # The list of beginnings is merged lazily: O(n (n + k log n)) in place of the paper's O(n^2 k).
    assert exponent(sizes, free) < 3.2, free
    assert exponent(sizes, bound) < 2.2, bound

"""Semi-Markov chains against their brute-force twin, which lists all segmentations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.chains.semimarkov import SemiMarkov, SemiMarkovParts
from weft.learn.protocol import Structure

ENUMERATED = settings(max_examples=50, deadline=None, derandomize=True)


def cuts(length: int, longest: int) -> list[list[int]]:
    """All ways to write a length as a sum of at most `longest` each."""
    if length == 0:
        return [[]]
    return [[d, *rest] for d in range(1, min(longest, length) + 1) for rest in cuts(length - d, longest)]


class Listed:
    """All segmentations of one sentence, as codes, with their scores."""

    def __init__(self, score: np.ndarray, transition: np.ndarray) -> None:
        self.segment, self.transition = score, transition
        length, self.longest, labels = score.shape
        self.codes = []
        for lengths in cuts(length, self.longest):
            for chosen in itertools.product(range(labels), repeat=len(lengths)):
                code = np.full(length, -1)
                starts = np.concatenate([[0], np.cumsum(lengths)])[:-1].astype(int)
                code[starts] = [y * self.longest + d - 1 for y, d in zip(chosen, lengths, strict=True)]
                self.codes.append(code)
        self.scores = np.array([self.score(code) for code in self.codes])
        self.log_partition = np.logaddexp.reduce(self.scores)
        with np.errstate(invalid="ignore"):
            self.probability = np.exp(self.scores - self.log_partition)

    def split(self, code: np.ndarray) -> list[tuple[int, int, int]]:
        return [(i, int(c) % self.longest, int(c) // self.longest) for i, c in enumerate(code) if c >= 0]

    def score(self, code: np.ndarray) -> float:
        segments = self.split(code)
        total = sum(self.segment[segment] for segment in segments)
        return float(total + sum(self.transition[a[2], b[2]] for a, b in itertools.pairwise(segments)))

    def indicators(self, code: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        segment, transition = np.zeros(self.segment.shape), np.zeros(self.transition.shape)
        for one in self.split(code):
            segment[one] = 1.0
        for a, b in itertools.pairwise(self.split(code)):
            transition[a[2], b[2]] += 1.0
        return segment, transition

    def expectation(self, of=lambda code: 1.0) -> tuple[np.ndarray, np.ndarray]:
        segment, transition = np.zeros(self.segment.shape), np.zeros(self.transition.shape)
        for code, p in zip(self.codes, self.probability, strict=True):
            if p > 0:
                s, t = self.indicators(code)
                segment += p * of(code) * s
                transition += p * of(code) * t
        return segment, transition


def pieces(model: SemiMarkov, array: np.ndarray) -> list[np.ndarray]:
    return [array[first:end] for first, end in zip(model.offsets[:-1], model.offsets[1:], strict=True)]


def listed(model: SemiMarkov) -> list[Listed]:
    return [Listed(score, model.transition) for score in pieces(model, model.segment_scores)]


@st.composite
def models(draw, possible: bool = True) -> SemiMarkov:
    labels, longest = draw(st.integers(1, 3)), draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(0, 5 if labels < 3 else 4), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([1.0, 10.0, 5000.0]))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    score = rng.normal(size=(int(offsets[-1]), longest, labels)) * spread
    transition = rng.normal(size=(labels, labels)) * spread
    forbidden = draw(st.sampled_from([0.0, 0.2, 0.4]))
    score[rng.random(score.shape) < forbidden] = -np.inf
    allowed = rng.random(score.shape) >= forbidden if draw(st.booleans()) else None
    legal = rng.random(transition.shape) >= forbidden if draw(st.booleans()) else None
    model = SemiMarkov(score, transition, offsets, allowed, legal)
    if possible and any(twin.log_partition == -np.inf for twin in listed(model)):
        model = SemiMarkov(np.nan_to_num(score, neginf=-spread), transition, offsets)
    return model


def joined(model: SemiMarkov, parts: list, weight: np.ndarray) -> SemiMarkovParts:
    segment = np.concatenate([w * s for w, (s, _) in zip(weight, parts, strict=True)])
    return SemiMarkovParts(segment, sum(w * t for w, (_, t) in zip(weight, parts, strict=True)), model.offsets)


def assert_same(found: SemiMarkovParts, expected: SemiMarkovParts, tolerance: float = 1e-9) -> None:
    np.testing.assert_allclose(found.segment, expected.segment, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(found.transition, expected.transition, rtol=tolerance, atol=tolerance)


@ENUMERATED
@given(models(), st.integers(1, 7))
def test_best_and_kbest_are_the_head_of_the_sorted_list(model, k):
    best = model.best()
    np.testing.assert_allclose(model.score(best), [twin.scores.max() for twin in listed(model)], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(model.best_scores(), model.score(best), rtol=1e-12, atol=1e-9)
    for twin, found, top in zip(listed(model), model.kbest_scored(k), pieces(model, best), strict=True):
        allowed = np.sort(twin.scores[np.isfinite(twin.scores)])[::-1]
        assert len(found) == min(k, len(allowed))
        np.testing.assert_allclose([score for _, score in found], allowed[:k], rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose([twin.score(code) for code, _ in found], allowed[:k], rtol=1e-12, atol=1e-9)
        assert len({tuple(code) for code, _ in found}) == len(found)
        np.testing.assert_array_equal(found[0][0], top)


@ENUMERATED
@given(models())
def test_log_partition_marginals_and_log_probability_sum_over_all_segmentations(model):
    twins = listed(model)
    total, marginals = model.log_partition_and_marginals()
    np.testing.assert_allclose(total, [twin.log_partition for twin in twins], rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(model.log_partition(), total)
    expected = [twin.expectation() for twin in twins]
    assert_same(marginals, joined(model, expected, np.ones(len(twins))))
    weight = np.linspace(-1, 2, len(twins))
    assert_same(model.marginals(weight), joined(model, expected, weight))
    best = model.best()
    np.testing.assert_allclose(model.log_probability(best), model.score(best) - total, rtol=1e-12, atol=1e-9)


@ENUMERATED
@given(models(), st.integers(0, 1000))
def test_parts_and_covariance_are_those_of_all_segmentations(model, seed):
    rng = np.random.default_rng(seed)
    twins = listed(model)
    codes = [twin.codes[rng.integers(len(twin.codes))] for twin in twins]
    solution = np.concatenate(codes)
    weight = np.arange(1.0, len(twins) + 1)
    expected = [twin.indicators(code) for twin, code in zip(twins, codes, strict=True)]
    assert_same(model.parts(solution, weight), joined(model, expected, weight))
    expected_scores = [twin.score(code) for twin, code in zip(twins, codes, strict=True)]
    np.testing.assert_allclose(model.score(solution), expected_scores, rtol=1e-12, atol=1e-9)

    function = SemiMarkovParts(
        rng.normal(size=model.segment_scores.shape), rng.normal(size=model.transition.shape), model.offsets
    )
    expected = []
    for twin, f in zip(twins, pieces(model, function.segment), strict=True):
        value = Listed(f, function.transition).score
        mean = sum(p * value(code) for code, p in zip(twin.codes, twin.probability, strict=True) if p > 0)
        with_f, alone = twin.expectation(value), twin.expectation()
        expected.append((with_f[0] - mean * alone[0], with_f[1] - mean * alone[1]))
    assert_same(model.covariance(function, weight), joined(model, expected, weight), 1e-8)


@ENUMERATED
@given(models(), st.integers(0, 1000))
def test_augment_restrict_and_hamming_change_scores_as_they_say(model, seed):
    rng = np.random.default_rng(seed)
    twins = listed(model)
    gold = np.concatenate([twin.codes[rng.integers(len(twin.codes))] for twin in twins])
    other = np.concatenate([twin.codes[rng.integers(len(twin.codes))] for twin in twins])
    label, other_label = model.labels(gold), model.labels(other)
    apart = (label != other_label) | ((gold >= 0) != (other >= 0))
    np.testing.assert_array_equal(model.differs(gold, other), [part.sum() for part in pieces(model, apart)])
    charged = model.augment(model.hamming(gold, 2.0))
    np.testing.assert_allclose(
        charged.score(other), model.score(other) + 2.0 * model.differs(gold, other), rtol=1e-12, atol=1e-9
    )
    allowed = rng.random((len(gold), model.n_labels)) < 0.6
    allowed[np.arange(len(gold)), model.labels(model.best())] = True
    kept = []
    for twin, mask in zip(twins, pieces(model, allowed), strict=True):
        fits = [all(mask[i : i + d + 1, y].all() for i, d, y in twin.split(code)) for code in twin.codes]
        kept.append(np.logaddexp.reduce(twin.scores[fits]))
    np.testing.assert_allclose(model.restrict(allowed).log_partition(), kept, rtol=1e-12, atol=1e-9)


@ENUMERATED
@given(models())
def test_segments_and_codes_translate_both_ways(model):
    for solution in (model.best(), *model.sample(2, seed=1)):
        segments = model.segments(solution)
        np.testing.assert_array_equal(model.encode(segments), solution)
        assert (segments[:, 2] - segments[:, 1] <= model.longest).all()
        for s, length in enumerate(np.diff(model.offsets)):
            covered = [i for _, a, b, _ in segments[segments[:, 0] == s] for i in range(a, b)]
            assert covered == list(range(length))


@ENUMERATED
@given(models(possible=False))
def test_impossible_masks_raise_and_name_the_sentence(model):
    impossible = [s for s, twin in enumerate(listed(model)) if twin.log_partition == -np.inf]
    for verb in (model.best, model.log_partition, model.marginals, lambda: model.sample(1, seed=0)):
        if impossible:
            with pytest.raises(InferenceError, match=rf"^sentence {impossible[0]} .*no segmentation.*allow more"):
                verb()
        else:
            verb()


def test_samples_come_as_often_as_their_probability_says():
    rng = np.random.default_rng(4)
    score, transition = rng.normal(size=(5, 2, 2)), rng.normal(size=(2, 2))
    transition[1, 1] = -np.inf
    model = SemiMarkov(score, transition, [0, 3, 3, 5])
    draws = model.sample(20000, seed=2)
    np.testing.assert_array_equal(draws, model.sample(20000, seed=2))
    for twin, found in zip(listed(model), (draws[:, :3], draws[:, :0], draws[:, 3:]), strict=True):
        for code, p in zip(twin.codes, twin.probability, strict=True):
            share = (found == code).all(axis=1).mean()
            assert abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / len(found)) + 1e-12


def test_bad_input_is_named():
    with pytest.raises(InferenceError, match="longest segment"):
        SemiMarkov(np.zeros((3, 2)), np.zeros((2, 2)), [0, 3])
    model = SemiMarkov(np.zeros((3, 2, 2)), np.zeros((2, 2)), [0, 1, 3])
    for solution in ([1, -1, 0], [-1, 0, 0], [0, 0, -1], [4, 0, 0], [0, 1, 0]):
        with pytest.raises(InferenceError, match="without gaps or overlaps"):
            model.score(solution)
    with pytest.raises(InferenceError, match="1 to 2 positions"):
        model.encode([[1, 0, 3, 0]])
    with pytest.raises(InferenceError, match="give factors per sentence as `weight`"):
        model.marginals().scale(np.ones(2))


def test_parts_are_linear():
    model = SemiMarkov(np.ones((3, 2, 2)), np.ones((2, 2)), [0, 1, 3])
    parts = model.parts(model.best())
    scores = SemiMarkovParts(np.ones((3, 2, 2)), np.ones((2, 2)), model.offsets)
    assert parts.inner(scores) == pytest.approx(model.score(model.best()).sum())
    np.testing.assert_allclose((parts + parts - parts.scale(0.5)).segment, parts.segment * 1.5)


def test_semi_markov_chains_offer_every_verb_that_learners_know():
    assert all(callable(getattr(SemiMarkov, verb)) for verb in vars(Structure) if not verb.startswith("_"))

"""Chains against their brute-force twin, which lists all paths."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.chains.chain import Chain, ChainParts, boundary_mask
from weft.learn.protocol import Parts, Structure

ENUMERATED = settings(max_examples=60, deadline=None, derandomize=True)


class Listed:
    """All paths of one sentence with their scores."""

    def __init__(self, node: np.ndarray, edge: np.ndarray) -> None:
        length, states = node.shape
        self.node, self.edge = node, edge
        self.paths = [np.array(path, dtype=np.int32) for path in itertools.product(range(states), repeat=length)]
        self.scores = np.array([self.score(path) for path in self.paths])
        top = self.scores.max()
        self.log_partition = top + np.log(np.exp(self.scores - top).sum()) if np.isfinite(top) else -np.inf
        with np.errstate(invalid="ignore"):
            self.probability = np.exp(self.scores - self.log_partition)

    def score(self, path: np.ndarray) -> float:
        inside = sum(self.edge[i, path[i - 1], path[i]] for i in range(1, len(path)))
        return float(sum(self.node[i, y] for i, y in enumerate(path)) + inside)

    def indicators(self, path: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        node, edge = np.zeros(self.node.shape), np.zeros(self.edge.shape)
        for i, y in enumerate(path):
            node[i, y] = 1.0
            if i:
                edge[i, path[i - 1], y] = 1.0
        return node, edge

    def expectation(self, of=lambda path: 1.0) -> tuple[np.ndarray, np.ndarray]:
        """E[of(y) * indicators of y]."""
        node, edge = np.zeros(self.node.shape), np.zeros(self.edge.shape)
        for path, p in zip(self.paths, self.probability, strict=True):
            if p > 0:
                n, e = self.indicators(path)
                node += p * of(path) * n
                edge += p * of(path) * e
        return node, edge


def per_position(chain: Chain) -> np.ndarray:
    return np.broadcast_to(chain.edge, (len(chain.node), chain.n_states, chain.n_states))


def listed(chain: Chain) -> list[Listed]:
    edge = per_position(chain)
    bounds = zip(chain.offsets[:-1], chain.offsets[1:], strict=True)
    return [Listed(chain.node[first:end], edge[first:end]) for first, end in bounds]


@st.composite
def chains(draw, possible: bool = True) -> Chain:
    states = draw(st.integers(1, 5))
    longest = 5 if states < 4 else 4
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([1.0, 5.0, 300.0]))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    size = int(offsets[-1])
    node = rng.normal(size=(size, states)) * spread
    shape = (states, states) if draw(st.booleans()) else (size, states, states)
    edge = rng.normal(size=shape) * spread
    forbidden = draw(st.sampled_from([0.0, 0.2, 0.5]))
    node[rng.random(node.shape) < forbidden] = -np.inf
    edge[rng.random(shape) < forbidden] = -np.inf
    allowed = rng.random(node.shape) >= forbidden if draw(st.booleans()) else None
    legal = rng.random((states, states)) >= forbidden if draw(st.booleans()) else None
    chain = Chain(node, edge, offsets, allowed, legal)
    if possible:
        impossible = [s for s, twin in enumerate(listed(chain)) if twin.log_partition == -np.inf]
        for s in impossible:
            # One path is opened where nothing was allowed, so that every example has something to say.
            path = rng.integers(states, size=lengths[s])
            chain.node[offsets[s] + np.arange(lengths[s]), path] = 0.0
            scores = chain._transitions.scores
            for i in range(1, lengths[s]):
                scores[(offsets[s] + i) * chain._transitions.step, path[i - 1], path[i]] = 0.0
    return chain


def some_path(chain: Chain, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(chain.n_states, size=len(chain.node)).astype(np.int32)


def split(chain: Chain, array: np.ndarray) -> list[np.ndarray]:
    return [array[first:end] for first, end in zip(chain.offsets[:-1], chain.offsets[1:], strict=True)]


@ENUMERATED
@given(chains())
def test_best_is_the_highest_scoring_path(chain):
    best = chain.best()
    assert best.dtype == np.int32
    expected = [twin.scores.max() for twin in listed(chain)]
    np.testing.assert_allclose(chain.score(best), expected, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(chain.best_scores(), expected, rtol=1e-12, atol=1e-9)


@ENUMERATED
@given(chains(), st.integers(1, 9))
def test_kbest_is_the_head_of_the_sorted_list_without_repetition(chain, k):
    best = split(chain, chain.best())
    for twin, found, top in zip(listed(chain), chain.kbest_scored(k), best, strict=True):
        allowed = np.sort(twin.scores[np.isfinite(twin.scores)])[::-1]
        assert len(found) == min(k, len(allowed))
        np.testing.assert_allclose([score for _, score in found], allowed[:k], rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose([twin.score(path) for path, _ in found], allowed[:k], rtol=1e-12, atol=1e-9)
        assert len({tuple(path) for path, _ in found}) == len(found)
        np.testing.assert_array_equal(found[0][0], top)


@ENUMERATED
@given(chains())
def test_scores_and_parts_of_paths_are_sums_over_their_parts(chain):
    for path in (some_path(chain), chain.best()):
        twins = listed(chain)
        expected = [twin.score(p) for twin, p in zip(twins, split(chain, path), strict=True)]
        np.testing.assert_allclose(chain.score(path), expected, rtol=1e-12, atol=1e-9)
        weight = np.arange(1.0, chain.n_sentences + 1)
        parts = chain.parts(path, weight)
        pieces = [twin.indicators(p) for twin, p in zip(twins, split(chain, path), strict=True)]
        check_parts(parts, chain, pieces, weight)


def check_parts(parts: ChainParts, chain: Chain, pieces: list, weight: np.ndarray, **tolerance) -> None:
    node = np.concatenate([w * n for w, (n, _) in zip(weight, pieces, strict=True)])
    edge = np.concatenate([w * e for w, (_, e) in zip(weight, pieces, strict=True)])
    tolerance = tolerance or {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(parts.node, node, **tolerance)
    np.testing.assert_allclose(parts.edge, edge.sum(axis=0) if chain.shared else edge, **tolerance)


@ENUMERATED
@given(chains())
def test_log_partition_and_marginals_sum_over_all_paths(chain):
    twins = listed(chain)
    total, marginals = chain.log_partition_and_marginals()
    expected = [twin.log_partition for twin in twins]
    np.testing.assert_allclose(total, expected, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(chain.log_partition(), expected, rtol=1e-12, atol=1e-9)
    pieces = [twin.expectation() for twin in twins]
    check_parts(marginals, chain, pieces, np.ones(chain.n_sentences))
    weight = np.linspace(-1, 2, chain.n_sentences)
    check_parts(chain.marginals(weight), chain, pieces, weight)
    each = chain.marginals(weight, per_position=True).edge
    edge = np.concatenate([w * e for w, (_, e) in zip(weight, pieces, strict=True)])
    np.testing.assert_allclose(each, edge, atol=1e-9)


@ENUMERATED
@given(chains())
def test_log_probability_is_score_less_log_partition(chain):
    for path in (some_path(chain), chain.best()):
        pieces = zip(listed(chain), split(chain, path), strict=True)
        expected = [twin.score(p) - twin.log_partition for twin, p in pieces]
        np.testing.assert_allclose(chain.log_probability(path), expected, rtol=1e-12, atol=1e-9)


@ENUMERATED
@given(chains(), st.sampled_from(["shared", "apart", "nodes alone"]), st.integers(0, 1000))
def test_covariance_is_that_of_all_paths(chain, edges, seed):
    rng = np.random.default_rng(seed)
    size, states = chain.node.shape
    shape = (size, states, states) if edges == "apart" else (states, states)
    from_edges = np.zeros(shape) if edges == "nodes alone" else rng.normal(size=shape)
    function = ChainParts(rng.normal(size=(size, states)), from_edges, chain.offsets)
    f_edge = np.broadcast_to(function.edge, (size, states, states))
    pieces = []
    for twin, f_n, f_e in zip(listed(chain), split(chain, function.node), split(chain, f_edge), strict=True):

        def value(path, f=Listed(f_n, f_e)):
            return f.score(path)

        mean = sum(p * value(path) for path, p in zip(twin.paths, twin.probability, strict=True) if p > 0)
        with_f, alone = twin.expectation(value), twin.expectation()
        pieces.append((with_f[0] - mean * alone[0], with_f[1] - mean * alone[1]))
    weight = np.linspace(0.5, 2, chain.n_sentences)
    check_parts(chain.covariance(function, weight), chain, pieces, weight, atol=1e-8, rtol=1e-8)


@ENUMERATED
@given(chains(), st.integers(0, 1000))
def test_augment_adds_to_scores_and_hamming_counts_differences(chain, seed):
    gold, other = some_path(chain, seed), chain.best()
    cost = chain.hamming(gold, 2.0)
    differences = [np.sum(a != b) for a, b in zip(split(chain, gold), split(chain, other), strict=True)]
    np.testing.assert_array_equal(chain.differs(gold, other), differences)
    charged = chain.augment(cost)
    np.testing.assert_allclose(charged.score(other), chain.score(other) + 2.0 * chain.differs(gold, other), atol=1e-9)
    rng = np.random.default_rng(seed)
    edges = rng.normal(size=(len(gold), chain.n_states, chain.n_states))
    for edge in (edges, edges[0] if len(edges) else np.zeros((chain.n_states, chain.n_states))):
        parts = ChainParts(rng.normal(size=chain.node.shape), edge, chain.offsets)
        by_hand = Chain(chain.node + parts.node, per_position(chain) + edge, chain.offsets)
        np.testing.assert_allclose(chain.augment(parts).log_partition(), by_hand.log_partition(), atol=1e-9)
        np.testing.assert_allclose(chain.augment(parts).score(other), by_hand.score(other), atol=1e-9)


@ENUMERATED
@given(chains(), st.integers(0, 1000))
def test_restrict_keeps_only_allowed_states(chain, seed):
    allowed = np.random.default_rng(seed).random(chain.node.shape) < 0.6
    allowed[np.arange(len(allowed)), chain.best()] = True
    inside = chain.restrict(allowed)
    assert (inside.marginals().node[~allowed] == 0).all()
    expected = []
    for twin, mask in zip(listed(chain), split(chain, allowed), strict=True):
        kept = [s for p, s in zip(twin.paths, twin.scores, strict=True) if mask[np.arange(len(p)), p].all()]
        expected.append(np.logaddexp.reduce(kept))
    np.testing.assert_allclose(inside.log_partition(), expected, rtol=1e-12, atol=1e-9)


@ENUMERATED
@given(chains(possible=False))
def test_impossible_masks_raise_and_name_the_sentence(chain):
    impossible = [s for s, twin in enumerate(listed(chain)) if twin.log_partition == -np.inf]
    verbs = [
        chain.best, chain.best_scores, lambda: chain.kbest(2), chain.log_partition, chain.marginals,
        lambda: chain.sample(1, seed=0), lambda: chain.log_probability(some_path(chain)),
        lambda: chain.covariance(ChainParts(np.zeros_like(chain.node), np.zeros(chain.edge.shape), chain.offsets)),
    ]  # fmt: skip
    for verb in verbs:
        if impossible:
            with pytest.raises(InferenceError, match=rf"^sentence {impossible[0]} .*no path.*allow more"):
                verb()
        else:
            verb()


@pytest.mark.parametrize("spread", [1.0, 2000.0])
@pytest.mark.parametrize("shared", [True, False])
def test_samples_come_as_often_as_their_probability_says(spread, shared):
    rng = np.random.default_rng(7)
    node, edge = rng.normal(size=(5, 3)), rng.normal(size=(3, 3))
    edge[2, 0] = node[1, 1] = -np.inf
    # A column that is far worse everywhere changes no frequency, but no number near zero can hold it.
    node[:, 2] -= spread - 1.0
    node[2:, :] -= (spread - 1.0) * np.array([0.0, 0.0, -1.0])
    chain = Chain(node, edge if shared else np.repeat(edge[None], 5, axis=0), [0, 2, 2, 5])
    draws = chain.sample(20000, seed=11)
    np.testing.assert_array_equal(draws, chain.sample(20000, seed=11))
    for twin, found in zip(listed(chain), (draws[:, :2], draws[:, :0], draws[:, 2:]), strict=True):
        for path, p in zip(twin.paths, twin.probability, strict=True):
            share = (found == path).all(axis=1).mean()
            assert abs(share - p) <= 4.5 * np.sqrt(p * (1 - p) / len(found)) + 1e-12


@pytest.mark.parametrize("seed", range(40))
def test_extreme_scores_stay_finite_and_right(seed):
    rng = np.random.default_rng(seed)
    states, lengths = 3, [6, 1, 5]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    scale = rng.choice([1.0, 300.0, 700.0, 1e4], size=(12, states))
    node = rng.normal(size=(12, states)) * scale
    edge = rng.normal(size=(states, states)) * rng.choice([1.0, 400.0, 1e4], size=(states, states))
    chain = Chain(node, edge, offsets)
    twins = listed(chain)
    total, marginals = chain.log_partition_and_marginals()
    np.testing.assert_allclose(total, [twin.log_partition for twin in twins], rtol=1e-12)
    np.testing.assert_allclose(chain.log_partition(), total, rtol=1e-14)
    check_parts(marginals, chain, [twin.expectation() for twin in twins], np.ones(3), atol=1e-8)
    assert np.isfinite(chain.covariance(marginals).node).all()


def test_a_path_lost_at_both_ends_but_dominant_in_the_middle_is_kept():
    # State 1 is exp(-800) worse at either end, exp(+20) better at each of 100 positions between; no state changes.
    node = np.zeros((102, 2))
    node[[0, -1], 1] = -800.0
    node[1:-1, 1] = 20.0
    stay = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    chain = Chain(node, stay, [0, 102])
    assert chain.log_partition()[0] == pytest.approx(400.0)
    assert chain.marginals().node[50, 1] == pytest.approx(1.0)
    assert chain.sample(2, seed=0).all()


@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("spread", [1.0, 10.0, 100.0])
def test_long_sentences_agree_with_logarithms(spread, stay):
    rng = np.random.default_rng(3)
    node, edge = rng.normal(size=(3000, 4)) * spread, rng.normal(size=(4, 4)) * 3
    if stay:
        # States drift apart by far more than any number near zero can hold, in both directions.
        edge[~np.eye(4, dtype=bool)] = -np.inf
    chain = Chain(node, edge, [0, 3000])
    total, marginals = chain.log_partition_and_marginals()
    assert chain.log_partition()[0] == pytest.approx(total[0], rel=1e-14)
    alpha = node[0]
    for row in node[1:]:
        alpha = row + np.logaddexp.reduce(alpha[:, None] + edge, axis=0)
    assert total[0] == pytest.approx(np.logaddexp.reduce(alpha), rel=1e-12)
    np.testing.assert_allclose(marginals.node.sum(axis=1), 1.0, atol=1e-9)
    assert marginals.edge.sum() == pytest.approx(2999)


def test_ties_go_to_lower_states_and_are_the_same_every_time():
    chain = Chain(np.zeros((3, 3)), np.zeros((3, 3)), [0, 3])
    assert chain.best().tolist() == [0, 0, 0]
    assert [path.tolist() for path in chain.kbest(4)[0]] == [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0]]


def test_chains_offer_every_verb_that_learners_know():
    verbs = [name for name in vars(Structure) if not name.startswith("_")]
    assert verbs
    assert all(callable(getattr(Chain, verb)) for verb in verbs)
    assert all(callable(getattr(ChainParts, name)) for name in vars(Parts) if name in ("scale", "inner", "__add__"))


def test_empty_batches_and_empty_sentences_have_empty_paths():
    for offsets in ([0], [0, 0, 0]):
        chain = Chain(np.zeros((0, 2)), np.zeros((2, 2)), offsets)
        sentences = len(offsets) - 1
        assert chain.best().tolist() == []
        assert chain.log_partition().tolist() == [0.0] * sentences
        assert [len(paths) for paths in chain.kbest(3)] == [1] * sentences
        assert chain.marginals().edge.tolist() == [[0.0, 0.0], [0.0, 0.0]]
        assert chain.sample(2, seed=0).shape == (2, 0)


def test_boundaries_hold_first_and_last_states():
    offsets = np.array([0, 1, 1, 4])
    allowed = boundary_mask(offsets, 3, start=[True, True, False], end=[False, True, True])
    marginals = Chain(np.zeros((4, 3)), np.zeros((3, 3)), offsets, allowed).marginals().node
    assert marginals[0].tolist() == [0.0, 1.0, 0.0]
    assert marginals[1, 2] == 0.0
    assert marginals[3, 0] == 0.0


def test_parts_are_linear_and_refuse_factors_by_sentence():
    rng = np.random.default_rng(0)
    chain = Chain(rng.normal(size=(3, 2)), rng.normal(size=(3, 2, 2)), [0, 2, 3])
    path, marginals = chain.best(), chain.marginals()
    chain.edge[[0, 2]] = 0.0
    scores = ChainParts(chain.node, chain.edge, chain.offsets)
    assert scores.inner(chain.parts(path)) == pytest.approx(chain.score(path).sum())
    weight = np.array([2.0, 3.0])
    np.testing.assert_allclose((marginals + marginals - marginals.scale(0.5)).node, marginals.node * 1.5)

    total = marginals.scale(1.0)
    total += marginals
    total -= marginals.scale(3.0)
    np.testing.assert_allclose(total.edge, -marginals.edge)

    shared = Chain(chain.node, np.zeros((2, 2)), [0, 2, 3]).marginals()
    with pytest.raises(InferenceError, match="give factors per sentence as `weight`"):
        shared.scale(weight)
    with pytest.raises(InferenceError, match="parts of different batches"):
        shared + marginals
    one = Chain(chain.node, np.ones((2, 2)), [0, 2, 3])
    scores = ChainParts(one.node, one.edge, one.offsets)
    assert scores.inner(one.parts(path)) == pytest.approx(one.score(path).sum())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3), np.zeros((2, 2)), [0, 3]), "one row per position"),
        ((np.zeros((3, 2)), np.zeros((3, 3)), [0, 3]), "edge scores must have the shape"),
        ((np.zeros((3, 2)), np.zeros((2, 2)), [0, 2]), "offsets must rise"),
        ((np.zeros((3, 2)), np.zeros((2, 2)), [0, 2, 1, 3]), "offsets must rise"),
        ((np.full((3, 2), np.nan), np.zeros((2, 2)), [0, 3]), "NaN"),
        ((np.zeros((3, 2)), np.full((2, 2), np.inf), [0, 3]), "plus infinity"),
        ((np.zeros((3, 2)), np.zeros((2, 2)), [0, 3], np.ones((2, 2))), "allowed must have the shape"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(InferenceError, match=message):
        Chain(*arguments)


def test_bad_paths_and_counts_are_named():
    chain = Chain(np.zeros((2, 2)), np.zeros((2, 2)), [0, 2])
    with pytest.raises(InferenceError, match="states from 0 to 1"):
        chain.score([0, 2])
    with pytest.raises(InferenceError, match="path must have the shape"):
        chain.score([0])
    with pytest.raises(InferenceError, match="k must be at least 1"):
        chain.kbest(0)

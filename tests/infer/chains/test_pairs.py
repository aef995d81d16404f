"""Second-order chains: pairs of tags against explicit enumeration of second-order scores."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from weft.errors import InferenceError
from weft.infer.chains.chain import Chain
from weft.infer.chains.pairs import pair_states

B, I, O = range(3)  # noqa: E741
LEGAL = np.ones((3, 3), dtype=bool)
LEGAL[O, I] = False


def second_order(tags: tuple[int, ...], node: np.ndarray, triple: np.ndarray) -> float:
    """Score of a labelling, O standing before it; minus infinity where I follows O or opens."""
    padded = (O, *tags)
    if any(a == O and b == I for a, b in itertools.pairwise(padded)):
        return -np.inf
    state = sum(node[i, a, b] for i, (a, b) in enumerate(itertools.pairwise(padded)))
    return float(state + sum(triple[abc] for abc in zip(padded, padded[1:], padded[2:], strict=False)))


def random_case(length: int, seed: int):
    """Scores of tag pairs at positions, [n, T, T], and of tag triples, with the chain they make."""
    rng = np.random.default_rng(seed)
    node, triple = rng.normal(size=(length, 3, 3)) * 2, rng.normal(size=(3, 3, 3)) * 2
    pairs = pair_states(3, LEGAL, boundary=O)
    offsets = np.array([0, length])
    scores = node[:, pairs.previous, pairs.current]
    chain = Chain(scores, pairs.edge_scores(triple), offsets, pairs.opening(offsets))
    labellings = list(itertools.product(range(3), repeat=length))
    return pairs, chain, labellings, np.array([second_order(tags, node, triple) for tags in labellings])


@pytest.mark.must_show("crf-shallow-parsing", 1)
@pytest.mark.parametrize("length", range(7))
@pytest.mark.parametrize("seed", range(3))
def test_second_order_partition_marginals_best_and_kbest_equal_enumeration(length, seed):
    pairs, chain, labellings, scores = random_case(length, seed)
    total = np.logaddexp.reduce(scores)
    probability = np.exp(scores - total)
    assert chain.log_partition()[0] == pytest.approx(total, rel=1e-12, abs=1e-12)

    marginals = chain.marginals()
    node, edge = np.zeros_like(marginals.node), np.zeros_like(marginals.edge)
    for tags, p in zip(labellings, probability, strict=True):
        if p > 0:
            path = pairs.unfold(tags, chain.offsets)
            node[np.arange(length), path] += p
            np.add.at(edge, (path[:-1], path[1:]), p)
    np.testing.assert_allclose(marginals.node, node, atol=1e-12)
    np.testing.assert_allclose(marginals.edge, edge, atol=1e-12)

    assert tuple(pairs.fold(chain.best())) == labellings[scores.argmax()]
    order = [labellings[j] for j in np.argsort(-scores) if scores[j] > -np.inf]
    found = [tuple(pairs.fold(path)) for path in chain.kbest(20)[0]]
    assert found == order[:20]


@pytest.mark.must_show("crf-shallow-parsing", 1)
@pytest.mark.parametrize("length", range(1, 7))
def test_no_labelling_with_i_after_o_or_at_the_start_has_positive_probability(length):
    pairs, chain, labellings, _ = random_case(length, seed=length)
    forbidden = {tags for tags in labellings if any(a == O and b == I for a, b in itertools.pairwise((O, *tags)))}
    every_path = chain.kbest(8**length if length < 5 else 1000)[0]
    reached = {tuple(pairs.fold(path).tolist()) for path in every_path}
    assert not reached & forbidden
    if length < 5:
        assert reached == set(labellings) - forbidden
    marginals = chain.marginals(per_position=True)
    for i in range(length):
        assert pairs.tag_sums(marginals.node)[0, I] == 0.0
        o_then_i = (pairs.current[:, None] == O) & (pairs.current[None, :] == I)
        assert marginals.edge[i][o_then_i].sum() == 0.0
    draws = pairs.fold(chain.sample(500, seed=1))
    assert not {tuple(row) for row in draws.tolist()} & forbidden


@pytest.mark.must_show("crf-shallow-parsing", 2)
@pytest.mark.parametrize("length", range(1, 7))
def test_pair_chain_gives_the_distribution_of_the_explicit_second_order_model(length):
    pairs, chain, labellings, scores = random_case(length, seed=100 + length)
    expected = scores - np.logaddexp.reduce(scores)
    for tags, log_p in zip(labellings, expected, strict=True):
        if log_p == -np.inf:
            with pytest.raises(InferenceError, match="cannot follow"):
                pairs.unfold(tags, chain.offsets)
        else:
            found = chain.log_probability(pairs.unfold(tags, chain.offsets))[0]
            assert found == pytest.approx(log_p, rel=1e-10, abs=1e-10)
    shares = pairs.tag_sums(chain.marginals().node)
    by_hand = np.zeros((length, 3))
    for tags, log_p in zip(labellings, expected, strict=True):
        by_hand[np.arange(length), tags] += np.exp(log_p)
    np.testing.assert_allclose(shares, by_hand, atol=1e-12)


def test_chunk_tags_need_eight_pairs_of_which_two_open():
    pairs = pair_states(3, LEGAL, boundary=O)
    assert len(pairs) == 8
    assert [(int(pairs.previous[s]), int(pairs.current[s])) for s in np.flatnonzero(pairs.start)] == [(O, B), (O, O)]
    for s, t in itertools.product(range(8), repeat=2):
        assert pairs.legal[s, t] == (pairs.current[s] == pairs.previous[t])


def test_successors_of_a_pair_are_one_range():
    pairs = pair_states(4, np.random.default_rng(0).random((4, 4)) < 0.7)
    for row in pairs.legal:
        reached = np.flatnonzero(row)
        assert len(reached) == 0 or len(reached) == reached[-1] - reached[0] + 1


@pytest.mark.parametrize("boundary", [None, 1])
def test_every_allowed_tag_sequence_is_exactly_one_path(boundary):
    rng = np.random.default_rng(5)
    legal, start = rng.random((3, 3)) < 0.7, np.array([True, False, True])
    pairs = pair_states(3, legal, start, boundary)
    offsets = np.array([0, 4])
    chain = Chain(np.zeros((4, len(pairs))), np.zeros((len(pairs),) * 2), offsets, pairs.opening(offsets), pairs.legal)
    expected = {
        tags for tags in itertools.product(range(3), repeat=4)
        if start[tags[0]] and all(legal[a, b] for a, b in itertools.pairwise(tags))
    }  # fmt: skip
    paths = chain.kbest(200)[0]
    found = [tuple(pairs.fold(path).tolist()) for path in paths]
    assert len(found) == len(set(found))
    assert set(found) == expected
    for tags, path in zip(found, paths, strict=True):
        np.testing.assert_array_equal(pairs.unfold(tags, offsets), path)


def test_scores_of_tags_and_tag_pairs_spread_over_pairs():
    rng = np.random.default_rng(2)
    node, edge = rng.normal(size=(5, 3)), rng.normal(size=(3, 3))
    pairs, offsets = pair_states(3), np.array([0, 2, 5])
    second = Chain(pairs.node_scores(node), pairs.edge_scores(edge), offsets, pairs.opening(offsets))
    first = Chain(node, edge, offsets)
    np.testing.assert_allclose(second.log_partition(), first.log_partition())
    np.testing.assert_allclose(pairs.tag_sums(second.marginals().node), first.marginals().node)
    np.testing.assert_array_equal(pairs.fold(second.best()), first.best())


def test_bad_tags_and_boundaries_are_named():
    pairs = pair_states(3, LEGAL, boundary=O)
    with pytest.raises(InferenceError, match="sentence 1, position 0: tag 1 cannot follow tag 2"):
        pairs.unfold([B, I, I], np.array([0, 2, 3]))
    with pytest.raises(InferenceError, match="between 0 and 2"):
        pairs.unfold([3], np.array([0, 1]))
    with pytest.raises(InferenceError, match="boundary must be one of the tags"):
        pair_states(3, boundary=3)
    with pytest.raises(InferenceError, match="tag triples must have the shape"):
        pairs.edge_scores(np.zeros((2, 2, 2)))

"""Chains over candidates agree with enumeration of all paths."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.chains.candidates import CandidateChain, pair_offsets


@st.composite
def chains(draw):
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=3))
    sizes = [draw(st.integers(1, 3)) for _ in range(sum(lengths))]
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    slots, offsets = np.cumsum([0, *sizes]), np.cumsum([0, *lengths])
    pairs = pair_offsets(slots, offsets)
    return CandidateChain(rng.normal(size=slots[-1]), rng.normal(size=pairs[-1]), slots, offsets)


def paths_of(chain, sentence):
    """Every path of a sentence with its score, by enumeration."""
    first, end = chain.offsets[sentence], chain.offsets[sentence + 1]
    sizes = np.diff(chain.slots)
    found = []
    for path in product(*(range(n) for n in sizes[first:end])):
        score = sum(chain.node[chain.slots[first + i] + c] for i, c in enumerate(path))
        for i, (a, b) in enumerate(pairwise(path), start=first + 1):
            score += chain.edge[chain.pairs[i] + a * sizes[i] + b]
        found.append((score, path))
    return sorted(found, key=lambda item: -item[0])


@settings(max_examples=60, deadline=None)
@given(chains(), st.integers(1, 5))
def test_best_and_kbest_are_those_of_enumeration(chain, k):
    best, lists = chain.best(), chain.kbest_scored(k)
    for s in range(len(chain.offsets) - 1):
        every = paths_of(chain, s)
        assert tuple(best[chain.offsets[s] : chain.offsets[s + 1]]) == every[0][1]
        assert [tuple(path) for path, _ in lists[s]] == [path for _, path in every[:k]]
        assert [score for _, score in lists[s]] == pytest.approx([score for score, _ in every[:k]])


@settings(max_examples=60, deadline=None)
@given(chains(), st.integers(0, 100))
def test_partition_and_marginals_are_those_of_enumeration(chain, seed):
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(chain.offsets) - 1)
    total, marginals = chain.log_partition_and_marginals(weight)
    node, edge = np.zeros(len(chain.node)), np.zeros(len(chain.edge))
    sizes = np.diff(chain.slots)
    for s in range(len(chain.offsets) - 1):
        every = paths_of(chain, s)
        log_z = np.logaddexp.reduce([score for score, _ in every])
        assert total[s] == pytest.approx(log_z)
        for score, path in every:
            p, first = weight[s] * np.exp(score - log_z), chain.offsets[s]
            for i, c in enumerate(path):
                node[chain.slots[first + i] + c] += p
                if i:
                    edge[chain.pairs[first + i] + path[i - 1] * sizes[first + i] + c] += p
    np.testing.assert_allclose(marginals.node, node, atol=1e-12)
    np.testing.assert_allclose(marginals.edge, edge, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(chains())
def test_score_is_the_inner_product_of_scores_and_parts(chain):
    path = chain.best()
    parts = chain.parts(path)
    assert chain.score(path).sum() == pytest.approx(chain.node @ parts.node + chain.edge @ parts.edge)
    assert chain.hamming(path).inner(parts) == 0.0
    augmented = chain.augment(chain.hamming(path, 3.0))
    assert augmented.score(path) == pytest.approx(chain.score(path))
    assert chain.differs(path, path).sum() == 0.0


def test_a_mask_leaves_only_what_it_allows():
    chain = CandidateChain([0.0, 9.0, 0.0], np.zeros(2), [0, 2, 3], [0, 2])
    assert chain.restrict([True, False, True]).best().tolist() == [0, 0]
    with pytest.raises(InferenceError, match="has no path"):
        chain.restrict([False, False, True]).best()


def test_positions_without_candidates_and_paths_without_places_are_refused():
    with pytest.raises(InferenceError, match="position 1 has no candidate"):
        CandidateChain([0.0], [], [0, 1, 1], [0, 2])
    chain = CandidateChain([0.0, 0.0], [], [0, 2], [0, 1])
    with pytest.raises(InferenceError, match="one of its candidates"):
        chain.score([2])


@settings(max_examples=40, deadline=None)
@given(chains(), st.sampled_from([1.0, 60.0, 2000.0]), st.booleans(), st.integers(0, 100))
def test_sums_hold_whatever_the_size_of_scores(chain, size, forbidding, seed):
    rng = np.random.default_rng(seed)
    node, edge = size * chain.node, size * chain.edge
    if forbidding:
        edge[rng.random(len(edge)) < 0.2] = -np.inf
    wide = CandidateChain(node, edge, chain.slots, chain.offsets)
    for s in range(len(chain.offsets) - 1):
        if np.logaddexp.reduce([score for score, _ in paths_of(wide, s)]) == -np.inf:
            return
    total, marginals = wide.log_partition_and_marginals()
    for s in range(len(chain.offsets) - 1):
        every = paths_of(wide, s)
        log_z = np.logaddexp.reduce([score for score, _ in every])
        assert total[s] == pytest.approx(log_z)
        for i in range(chain.offsets[s], chain.offsets[s + 1]):
            for c in range(np.diff(chain.slots)[i]):
                p = sum(np.exp(score - log_z) for score, path in every if path[i - chain.offsets[s]] == c)
                assert marginals.node[chain.slots[i] + c] == pytest.approx(p, abs=1e-9)


def test_marginals_hold_where_a_huge_pair_leaves_a_candidate_that_nothing_reaches():
    # The first word's second candidate is far below its first, and its pair is beyond the range of floating point.
    slots, offsets = np.array([0, 2, 4]), np.array([0, 2])
    node, edge = np.array([0.0, -5000.0, 0.0, -5000.0]), np.array([0.0, 0.0, 0.0, 2000.0])
    total, marginals = CandidateChain(node, edge, slots, offsets).log_partition_and_marginals()
    assert total.tolist() == [0.0]
    assert marginals.node.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert marginals.edge.tolist() == [1.0, 0.0, 0.0, 0.0]

"""Trees with valences against enumeration of all projective trees with one root."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.trees.dmv import ValenceParts, ValenceTrees, squares_of
from weft.infer.trees.projectivity import is_projective, is_tree


def trees_of(n):
    """All projective trees of n words with one root."""
    found = []
    for heads in product(range(n + 1), repeat=n):
        array = np.array(heads, dtype=np.int32)
        if heads.count(0) == 1 and is_tree(array) and is_projective(array):
            found.append(array)
    return found


TREES = {n: trees_of(n) for n in range(1, 6)}


def parts_of(heads, n_valences):
    """The parts of a tree, written down from the definition: each head counts its dependents outwards."""
    n = len(heads)
    arc, stop = np.zeros((n * n, n_valences)), np.zeros((n, 2, n_valences))
    for h in range(n):
        if heads[h] == 0:
            arc[h * n + h, 0] += 1
        for side, way in enumerate((range(h - 1, -1, -1), range(h + 1, n))):
            dependents = [m for m in way if heads[m] == h + 1]
            for v, m in enumerate(dependents):
                arc[h * n + m, min(v, n_valences - 1)] += 1
            stop[h, side, min(len(dependents), n_valences - 1)] += 1
    return ValenceParts(arc, stop)


def random_batch(lengths, n_valences, seed, spread=2.0, forbidden=0.0):
    random = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    arc = spread * random.standard_normal((int(squares_of(offsets)[-1]), n_valences))
    stop = spread * random.standard_normal((int(offsets[-1]), 2, n_valences))
    arc[random.random(arc.shape) < forbidden] = -np.inf
    return ValenceTrees(offsets, arc, stop)


def enumerated(trees, s):
    """log Z, parts by probability and the highest score of a sentence, from all its trees."""
    n = int(trees.offsets[s + 1] - trees.offsets[s])
    arc, stop = (
        trees.arc[trees.squares[s] : trees.squares[s + 1]], trees.stop[trees.offsets[s] : trees.offsets[s + 1]]
    )  # fmt: skip
    all_parts = [parts_of(heads, stop.shape[2]) for heads in TREES[n]]
    scores = np.array([arc[parts.arc > 0].sum() + stop[parts.stop > 0].sum() for parts in all_parts])
    log_z = np.logaddexp.reduce(scores)
    p = np.exp(scores - (log_z if log_z > -np.inf else 0.0))
    of_arcs = sum(share * parts.arc for share, parts in zip(p, all_parts, strict=True))
    of_stops = sum(share * parts.stop for share, parts in zip(p, all_parts, strict=True))
    return log_z, of_arcs, of_stops, scores.max()


@pytest.mark.must_show("posterior-sparsity-grammar-induction", 1)
@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 5), min_size=1, max_size=3),
    n_valences=st.integers(1, 3),
    seed=st.integers(0, 10_000),
    spread=st.sampled_from([1.0, 3.0, 60.0, 500.0]),
)
def test_sums_probabilities_and_best_trees_are_those_of_enumeration(lengths, n_valences, seed, spread):
    trees = random_batch(lengths, n_valences, seed, spread)
    log_z, parts = trees.log_partition_and_marginals()
    best = trees.best()
    for s in range(len(lengths)):
        expected, of_arcs, of_stops, highest = enumerated(trees, s)
        np.testing.assert_allclose(log_z[s], expected, rtol=1e-10)
        np.testing.assert_allclose(parts.arc[trees.squares[s] : trees.squares[s + 1]], of_arcs, atol=1e-9)
        np.testing.assert_allclose(parts.stop[trees.offsets[s] : trees.offsets[s + 1]], of_stops, atol=1e-9)
        np.testing.assert_allclose(trees.score(best)[s], highest, rtol=1e-10)


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 5), n_valences=st.integers(1, 3), seed=st.integers(0, 10_000))
def test_forbidden_arcs_are_in_no_tree(n, n_valences, seed):
    trees = random_batch([n], n_valences, seed, forbidden=0.3)
    try:
        log_z, parts = trees.log_partition_and_marginals()
    except InferenceError as error:
        assert "sentence 0" in str(error)  # noqa: PT017 - whether there is a tree at all is for chance to say
        assert enumerated(trees, 0)[3] == -np.inf
        return
    expected, of_arcs, _, highest = enumerated(trees, 0)
    np.testing.assert_allclose(log_z[0], expected)
    np.testing.assert_allclose(parts.arc, of_arcs, atol=1e-9)
    np.testing.assert_allclose(trees.score(trees.best())[0], highest)


def test_long_sentences_with_tiny_factors_keep_their_probabilities():
    trees = random_batch([60], 2, seed=1, spread=150.0)
    log_z, parts = trees.log_partition_and_marginals()
    n = 60
    into = parts.arc.sum(axis=1).reshape(n, n).sum(axis=0)
    np.testing.assert_allclose(into, 1.0, atol=1e-9)
    np.testing.assert_allclose(parts.stop.sum(axis=2), 1.0, atol=1e-9)
    assert log_z[0] >= trees.score(trees.best())[0]


def test_sentences_without_words_are_passed_over():
    trees = random_batch([0, 2, 0], 2, seed=3)
    log_z, _ = trees.log_partition_and_marginals()
    assert log_z[[0, 2]].tolist() == [0, 0]
    assert sorted(trees.best().tolist())[0] == 0


@pytest.mark.parametrize(
    ("offsets", "arc", "stop", "message"),
    [
        ([0, 1], np.zeros((1, 2)), np.zeros((1, 2)), "shape .words, 2, valences."),
        ([0, 1], np.zeros((2, 2)), np.zeros((1, 2, 2)), "scores of arcs must have the shape"),
        ([0, 2], np.zeros((1, 2)), np.zeros((1, 2, 2)), "offsets"),
    ],
)
def test_scores_that_do_not_fit_are_refused(offsets, arc, stop, message):
    with pytest.raises(InferenceError, match=message):
        ValenceTrees(offsets, arc, stop)

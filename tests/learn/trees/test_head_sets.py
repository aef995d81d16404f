"""Sets of heads and learning from them, beside enumeration of projective trees."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_twins import central_differences, relative_error

from weft.errors import ConfigError, InferenceError
from weft.features.tree_templates import compile_tree_templates
from weft.infer.trees.arcs import all_arcs
from weft.infer.trees.projective import ProjectiveTrees
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.learn.signals import Gold, Partial
from weft.learn.trees.features import TreeWords
from weft.learn.trees.head_sets import ambiguous_sets, nearest_trees, probable_sets, report_sets, tree_sets
from weft.learn.trees.model import TreeBatch, TreeModel


def trees_of(n: int, seed: int, single_root: bool = True) -> ProjectiveTrees:
    space = all_arcs([0, n])
    return ProjectiveTrees(space, np.random.default_rng(seed).normal(size=space.n_arcs) * 2, single_root=single_root)


@lru_cache
def projective_trees(n: int) -> list[np.ndarray]:
    candidates = (np.array(heads, np.int32) for heads in product(range(n + 1), repeat=n) if 0 in heads)
    return [heads for heads in candidates if is_tree(heads) and is_projective(heads)]


def every_tree(n: int, single_root: bool = True) -> list[np.ndarray]:
    return [heads for heads in projective_trees(n) if not single_root or (heads == 0).sum() == 1]


def by_enumeration(trees: ProjectiveTrees, mask: np.ndarray) -> tuple[float, np.ndarray]:
    """log Z and probabilities of arcs over the projective trees within a mask."""
    scores, arcs = [], []
    for heads in every_tree(trees.space.n_words, trees.single_root):
        own = trees.space.arcs_of(heads)
        if mask[own].all():
            scores.append(trees.arc[own].sum())
            arcs.append(own)
    top = max(scores)
    weights = np.exp(np.array(scores) - top)
    marginals = np.zeros(trees.space.n_arcs)
    for weight, own in zip(weights, arcs, strict=True):
        marginals[own] += weight / weights.sum()
    return top + np.log(weights.sum()), marginals


@pytest.mark.must_show("transfer-parser-adaptation", 1)
@pytest.mark.parametrize("single_root", [True, False])
@pytest.mark.parametrize("n", range(1, 7))
def test_sums_are_those_of_brute_force_with_and_without_masks_and_heads_sum_to_one(n, single_root):
    trees = trees_of(n, n, single_root)
    rng = np.random.default_rng(n)
    some = tree_sets(trees.space, trees.best()) | (rng.random(trees.space.n_arcs) < 0.3)
    for mask in (np.ones(trees.space.n_arcs, dtype=bool), some, tree_sets(trees.space, trees.best())):
        log_z, parts = trees.restrict(mask).log_partition_and_marginals()
        expected, marginals = by_enumeration(trees, mask)
        assert log_z[0] == pytest.approx(expected, abs=1e-9)
        np.testing.assert_allclose(parts.arc, marginals, atol=1e-9)
        np.testing.assert_allclose(np.bincount(trees.space.word, parts.arc), 1.0, atol=1e-9)
        assert not parts.arc[~mask].any()


def problem(seed: int, lengths: tuple[int, ...] = (5, 3, 6)) -> tuple[TreeModel, TreeBatch, np.ndarray]:
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    n = int(offsets[-1])
    words = TreeWords(
        rng.integers(1, 6, (n + 1, 2)).astype(np.uint64), np.zeros(n + 2, np.int64), np.zeros(0, np.uint64)
    )
    model = TreeModel(compile_tree_templates("arc: h.w|m.t h.t|b.t|m.t length: h.t|m.t", ["w", "t"]), bits=7)
    gold = np.concatenate([every_tree(k)[int(rng.integers(len(every_tree(k))))] for k in lengths])
    space = all_arcs(offsets)
    sets = tree_sets(space, gold) | (rng.random(space.n_arcs) < 0.3)
    batch = TreeBatch(offsets, words, gold, rng.uniform(0.5, 2.0, len(lengths)), head_sets=sets)
    return model, batch, rng.normal(size=model.size)


@pytest.mark.must_show("transfer-parser-adaptation", 2)
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_of_head_sets_is_that_of_enumeration_and_never_above_zero(seed):
    model, batch, weights = problem(seed)
    value, _ = Partial()(model.score(batch, weights), batch)
    total = 0.0
    for s in range(len(batch)):
        own = batch.cut(s, s + 1)
        trees = model.score(own, weights)
        every = np.ones(trees.space.n_arcs, dtype=bool)
        total += own.weight[0] * (by_enumeration(trees, own.allowed)[0] - by_enumeration(trees, every)[0])
    assert value == pytest.approx(total, abs=1e-9)
    assert value < 0


@pytest.mark.must_show("transfer-parser-adaptation", 2)
@pytest.mark.parametrize("seed", range(3))
def test_the_objective_is_exactly_zero_where_everything_is_allowed_and_so_is_its_gradient(seed):
    model, batch, weights = problem(seed)
    batch = replace(batch, head_sets=np.ones_like(batch.head_sets))
    value, parts = Partial()(model.score(batch, weights), batch)
    assert value == 0.0
    assert not parts.arc.any()


@pytest.mark.must_show("transfer-parser-adaptation", 2)
@pytest.mark.parametrize("seed", range(3))
def test_with_single_trees_the_objective_is_the_supervised_likelihood(seed):
    model, batch, weights = problem(seed)
    batch = replace(batch, head_sets=tree_sets(batch.arc_space, batch.gold))
    trees = model.score(batch, weights)
    value, parts = Partial()(trees, batch)
    supervised, expected = Gold()(trees, batch)
    assert value == pytest.approx(supervised, abs=1e-9)
    np.testing.assert_allclose(parts.arc, expected.arc, atol=1e-12)


@pytest.mark.must_show("transfer-parser-adaptation", 2)
@pytest.mark.parametrize("filtered", [False, True])
def test_the_gradient_of_head_sets_agrees_with_central_differences(filtered):
    model, batch, weights = problem(7)
    if filtered:  # a smaller search space: both masks are then cut to it
        arcs = batch.head_sets | (np.random.default_rng(1).random(len(batch.head_sets)) < 0.6)
        batch = replace(batch, arcs=arcs)
    signal, gradient = Partial(), np.zeros(model.size)
    _, parts = signal(model.score(batch, weights), batch)
    model.scatter(batch, parts, gradient)
    expected = central_differences(lambda w: signal(model.score(batch, w), batch)[0], weights)
    assert relative_error(gradient, expected) < 1e-5


def test_cutting_and_choosing_sentences_keep_their_head_sets():
    _, batch, _ = problem(3)
    cut, chosen = batch.cut(1, 3), batch.select([1, 2])
    np.testing.assert_array_equal(cut.allowed, chosen.allowed)
    np.testing.assert_array_equal(np.concatenate([batch.cut(0, 1).allowed, cut.allowed]), batch.head_sets)


@pytest.mark.must_show("transfer-parser-adaptation", 3)
@settings(max_examples=30, deadline=None)
@given(st.integers(1, 7), st.integers(0, 10**6))
def test_sets_grow_with_sigma_hold_a_tree_and_their_oracle_never_falls(n, seed):
    trees = trees_of(n, seed)
    gold = trees_of(n, seed + 1).best()
    before, oracle = tree_sets(trees.space, trees.best()), -1.0
    assert (ambiguous_sets(trees, 0.0) == before).all()
    for sigma in (0.0, 0.3, 0.8, 0.95, 1.0):
        sets = ambiguous_sets(trees, sigma)
        assert (before <= sets).all()
        nearest = nearest_trees(trees.space, sets, gold)
        assert is_tree(nearest)
        assert is_projective(nearest)
        assert sets[trees.space.arcs_of(nearest)].all()
        found = report_sets(trees.space, sets, gold)
        assert oracle <= found.oracle <= found.covered
        before, oracle = sets, found.oracle
    assert sets.all()
    assert oracle == 1.0


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([0.2, 0.5, 0.95]))
def test_probable_sets_are_the_shortest_lists_that_hold_the_mass(n, seed, sigma):
    space = all_arcs([0, n, n + 2])
    marginals = np.random.default_rng(seed).random(space.n_arcs)
    marginals /= np.bincount(space.word, marginals)[space.word]
    mask = probable_sets(space, marginals, sigma)
    for word in range(space.n_words):
        own = np.flatnonzero(space.word == word)
        ranked = own[np.argsort(-marginals[own])]
        size = 1
        while marginals[ranked[:size]].sum() < sigma:
            size += 1
        assert set(own[mask[own]].tolist()) == set(ranked[:size].tolist())


def test_arcs_of_other_parsers_and_of_users_are_united():
    trees = trees_of(4, 1)
    sets = ambiguous_sets(trees, 0.0)
    known = tree_sets(trees.space, [-1, 4, -1, -1])  # the user knows the head of the second word only
    assert known.sum() == 1
    united = sets | known
    assert united[trees.space.arcs_of([0, 4, 0, 0])[1]]
    assert united.sum() <= sets.sum() + 1


def test_what_does_not_fit_is_refused():
    trees = trees_of(3, 1)
    with pytest.raises(ConfigError, match="from 0 to 1; got 2"):
        ambiguous_sets(trees, 2)
    with pytest.raises(InferenceError, match="word 1 of the batch"):
        tree_sets(trees.space, [0, 2, 1])

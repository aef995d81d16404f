"""MIRA on trees: the step of one sentence beside a solver of quadratic programs, trees as wholes and head by head."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from weft.errors import ConfigError
from weft.features.tree_templates import compile_tree_templates
from weft.infer.trees.arcs import TreeParts
from weft.infer.trees.projectivity import is_tree
from weft.learn import MIRA
from weft.learn.online.demands import HeadByHead
from weft.learn.trees.features import TreeWords
from weft.learn.trees.model import TreeBatch, TreeModel

PROGRAM = compile_tree_templates("arc: h.w m.w h.w|m.w h.t|m.t h.t|b.t|m.t h-1.t|h.t|m.t|m+1.t a.1|m.t", ["w", "t"])


def problem(seed, n=6, shape="projective", order=1):
    """A sentence of random words with a random tree, and weights to start from."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 2**62, (n + 1, 2), dtype=np.uint64)
    values[1:, 1] = rng.choice(values[1:4, 1], n)
    words = TreeWords(values, np.zeros(n + 2, np.int64), np.zeros(0, np.uint64))
    model = TreeModel(PROGRAM, order, shape, single_root=False, bits=14)
    marks = (rng.random((n * n, 1)) < 0.3).astype(np.uint64)
    batch = TreeBatch(np.array([0, n]), words, None, np.ones(1), marks=marks)
    if shape == "projective":
        trees = model.score(batch, np.zeros(model.size)).sample(1, rng)[0]
    else:
        trees = np.zeros(n, np.int32)
        while not (trees.any() and is_tree(trees)):
            trees = rng.integers(0, n + 1, n).astype(np.int32)
    batch = TreeBatch(batch.offsets, words, trees.astype(np.int32), np.ones(1), marks=marks)
    return model, batch, 0.05 * rng.normal(size=model.size)


def dense(model, batch, parts):
    slots, numbers = model.sparse(batch, parts)
    row = np.zeros(model.size)
    row[slots] = numbers
    return row


def smallest_step(rows, missing):
    """The shortest x with rows @ x >= missing: least distance programming by non-negative least squares."""
    basis, triangle = np.linalg.qr(rows.T)
    table = np.vstack([triangle, missing])
    target = np.zeros(len(table))
    target[-1] = 1.0
    solution, length = nnls(table, target, maxiter=10_000)
    assert length > 1e-9, "the constraints cannot all be met"
    residual = table @ solution - target
    return basis @ (-residual[:-1] / residual[-1])


@pytest.mark.must_show("mira-dependency-parsing", 2)
@pytest.mark.parametrize("k", [2, 5, 20])
@pytest.mark.parametrize("shape", ["projective", "nonprojective"])
def test_a_step_meets_all_k_constraints_and_is_the_shortest_that_does(k, shape):
    for seed in range(6):
        model, batch, start = problem(seed, shape=shape)
        before = model.score(batch, start)
        result = MIRA(k=k, epochs=1, average=False).fit(model, [batch], start)
        after = model.score(batch, result.weights)
        rivals = [tree for tree in before.kbest(k)[0] if (tree != batch.gold).any()]
        losses = np.array([(tree != batch.gold).sum() for tree in rivals], dtype=np.float64)
        gaps = np.array([after.score(batch.gold)[0] - after.score(tree)[0] for tree in rivals])
        assert (gaps >= losses - 1e-6).all()
        rows = np.array([dense(model, batch, before.parts(batch.gold) - before.parts(tree)) for tree in rivals])
        peer = smallest_step(rows, losses - rows @ start)
        np.testing.assert_allclose(result.weights - start, peer, atol=1e-5)


@pytest.mark.must_show("mira-dependency-parsing", 2)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 8))
def test_with_one_tree_the_step_is_the_closed_form(seed, n):
    model, batch, start = problem(seed, n)
    before = model.score(batch, start)
    best = before.best()
    row = dense(model, batch, before.parts(batch.gold) - before.parts(best))
    loss = float((best != batch.gold).sum())
    step = max(0.0, loss - row @ start) / (row @ row) if loss else 0.0
    result = MIRA(k=1, epochs=1, average=False).fit(model, [batch], start)
    np.testing.assert_allclose(result.weights, start + step * row, atol=1e-9)


def heads_apart(structure, gold):
    """By how much the right head of every word is ahead of each other head."""
    space = structure.space
    right = space.arcs_of(gold)
    others = np.setdiff1d(np.arange(space.n_arcs), right)
    return structure.arc[right[space.word[others]]] - structure.arc[others], others


@pytest.mark.must_show("mira-dependency-parsing", 2)
@pytest.mark.parametrize("shape", ["projective", "nonprojective"])
def test_head_by_head_a_step_meets_all_constraints_is_the_shortest_and_puts_gold_ahead_of_every_tree(shape):
    for seed in range(4):
        model, batch, start = problem(seed, n=5, shape=shape)
        result = MIRA(k=1, epochs=1, average=False, demands=HeadByHead(), rounds=30).fit(model, [batch], start)
        after = model.score(batch, result.weights)
        gaps, others = heads_apart(after, batch.gold)
        assert (gaps >= 1 - 1e-5).all()
        right, rows = after.space.arcs_of(batch.gold), []
        for arc in others:
            numbers = np.zeros(after.space.n_arcs)
            numbers[right[after.space.word[arc]]], numbers[arc] = 1.0, -1.0
            rows.append(dense(model, batch, TreeParts(numbers)))
        peer = smallest_step(np.array(rows), 1.0 - np.array(rows) @ start)
        np.testing.assert_allclose(result.weights - start, peer, atol=1e-4)
        for tree in after.kbest(50)[0][1:]:
            assert after.score(batch.gold)[0] - after.score(tree)[0] >= (tree != batch.gold).sum() - 1e-4


def test_head_by_head_asks_for_the_worst_missed_heads_of_every_word_only():
    model, batch, start = problem(3, n=7)
    structure = model.score(batch, start)
    gaps, others = heads_apart(structure, batch.gold)
    for k in (1, 3):
        demand = HeadByHead()(structure, batch, k)
        asked = {}
        for parts, missing in zip(demand.parts, demand.missing, strict=True):
            (arc,) = np.flatnonzero(parts.arc < 0)
            asked.setdefault(int(structure.space.word[arc]), []).append(missing)
        for word in range(7):
            missed = sorted((1 - gaps)[structure.space.word[others] == word], reverse=True)
            assert asked.get(word, []) == pytest.approx([each for each in missed if each > 1e-6][:k])
    assert demand.loss == len({int(structure.space.word[a]) for a, gap in zip(others, gaps, strict=True) if gap < 0})


def test_what_the_cap_left_undone_is_not_asked_for_twice():
    model, batch, start = problem(5)
    options = {"k": 1, "epochs": 1, "average": False, "cap": 1e-6}
    once = MIRA(**options).fit(model, [batch], start).weights
    again = MIRA(**options, rounds=8).fit(model, [batch], start).weights
    assert (once != start).any()
    np.testing.assert_array_equal(again, once)


def test_rounds_go_on_until_the_best_tree_is_the_right_one():
    options = {"k": 1, "epochs": 1, "average": False}
    wrong = [0, 0]
    for seed in range(10):
        model, batch, start = problem(seed, n=9)
        for i, rounds in enumerate((1, 200)):
            weights = MIRA(**options, rounds=rounds).fit(model, [batch], start).weights
            wrong[i] += int((model.score(batch, weights).best() != batch.gold).sum())
    assert wrong[0] > 0
    assert wrong[1] == 0


def test_head_by_head_is_for_sums_over_arcs():
    model, batch, _ = problem(1, order=2)
    with pytest.raises(ConfigError, match="sum over arcs"):
        MIRA(demands=HeadByHead()).fit(model, [batch])


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.booleans())
def test_features_of_several_parts_are_those_of_each(seed, weighed):
    model, batch, start = problem(seed)
    if weighed:
        model = TreeModel(PROGRAM, bits=14, factors=np.random.default_rng(seed).random(1 << 14) + 0.5)
    trees = [model.score(batch, start).parts(tree) for tree in model.score(batch, start).kbest(4)[0]]
    parts = [trees[0] - each for each in trees[1:]] + [trees[0]]
    for each, (slots, numbers) in zip(parts, model.sparse_each(batch, parts), strict=True):
        expected, values = model.sparse(batch, each)
        assert slots.tolist() == expected.tolist()
        np.testing.assert_allclose(numbers, values)

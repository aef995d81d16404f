"""Projective trees of every order agree with enumeration."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_twins import arc_spaces, is_projective, part_numbers, projective_trees, random_scores, tree_parts, tree_score

from weft.errors import InferenceError
from weft.infer.forests import forest
from weft.infer.trees import eisner, eisner_sums, projective, projective_forest
from weft.infer.trees.arcs import TreeParts, all_arcs
from weft.infer.trees.projective import ProjectiveTrees

#: Kinds of scores beside those of arcs: siblings, grand-siblings, tri-siblings.
MODELS = [(), (1,), (2,), (1, 2), (3,), (1, 2, 3)]


def build(space, model, seed, forbidden=0.0, single_root=False):
    scores = random_scores(space, 4, seed, forbidden)
    return ProjectiveTrees(space, scores[0], *(scores[i] if i in model else None for i in (1, 2, 3)), single_root)


def enumerate_trees(trees, sentence):
    """Every tree of a sentence that may be, with its score, best first."""
    numbers = part_numbers(trees.space, sentence)
    n = int(trees.space.offsets[sentence + 1] - trees.space.offsets[sentence])
    found = []
    for heads in projective_trees(n):
        if trees.single_root and n and heads.count(0) != 1:
            continue
        score = tree_score(heads, numbers, trees.arc, trees.sibling, trees.grand, trees.tri)
        if score > -np.inf:
            found.append((score, heads))
    return sorted(found, reverse=True)


@st.composite
def batches(draw, max_words=5):
    """Batches with a tree for every sentence."""
    space = draw(arc_spaces(max_words=max_words))
    model, seed = draw(st.sampled_from(MODELS)), draw(st.integers(0, 2**16))
    trees = build(space, model, seed, draw(st.sampled_from([0.0, 0.1])), draw(st.booleans()))
    if not all(enumerate_trees(trees, s) for s in range(len(space))):
        trees = build(all_arcs(space.offsets), model, seed, 0.0, trees.single_root)
    return trees


def check_kbest(trees, k):
    best, lists = trees.best(), trees.kbest_scored(k)
    assert best.dtype == np.int32
    for s in range(len(trees.space)):
        every = enumerate_trees(trees, s)
        assert tuple(best[trees.space.offsets[s] : trees.space.offsets[s + 1]].tolist()) == every[0][1]
        assert [tuple(heads.tolist()) for heads, _ in lists[s]] == [heads for _, heads in every[:k]]
        assert [score for _, score in lists[s]] == pytest.approx([score for score, _ in every[:k]], abs=1e-9)


@settings(max_examples=120, deadline=None)
@given(batches(), st.integers(1, 20))
def test_best_and_kbest_are_those_of_enumeration(trees, k):
    check_kbest(trees, k)


@pytest.mark.must_show("mira-dependency-parsing", 1)
@pytest.mark.parametrize("n", range(1, 8))
def test_first_order_best_and_20_best_are_those_of_brute_force_up_to_7_words(n):
    for seed in range(3):
        check_kbest(build(all_arcs([0, n]), (), seed), 20)


@pytest.mark.must_show("second-order-mst", 1)
@pytest.mark.parametrize("n", range(1, 8))
def test_second_order_best_is_that_of_brute_force_up_to_7_words(n):
    for seed in range(3):
        check_kbest(build(all_arcs([0, n]), (1,), seed), 5)


@pytest.mark.must_show("second-order-mst", 1)
@pytest.mark.parametrize("model", MODELS[1:])
@pytest.mark.parametrize("single_root", [False, True])
def test_scores_that_ignore_all_but_the_arc_give_the_first_order(model, single_root):
    space = all_arcs([0, 12, 12, 31])
    for seed in range(3):
        scores = random_scores(space, 4, seed)
        first = ProjectiveTrees(space, scores[0], single_root=single_root)
        parts = space.n_siblings, space.n_grands, space.n_tris
        of_arc = np.repeat(np.arange(space.n_arcs), np.diff(space.siblings))
        ignorant = [scores[0][of_arc], None, scores[0][np.repeat(np.arange(space.n_arcs), np.diff(space.tris))]]
        if 2 in model:  # the arcs out of a head stand once for each of its own heads
            ignorant[1] = np.concatenate(
                [
                    np.tile(scores[0][of_arc[space.siblings[low] : space.siblings[high]]], reps)
                    for v, (low, high) in enumerate(zip(space.first[:-1], space.first[1:], strict=True))
                    for reps in [1 if v in space.node_offsets else space.into_first[v + 1] - space.into_first[v]]
                ]
            )
        kept = [ignorant[i - 1] if i in model else None for i in (1, 2, 3)]
        assert all(len(one) == size for one, size in zip(kept, parts, strict=True) if one is not None)
        higher = ProjectiveTrees(space, np.zeros(space.n_arcs), *kept, single_root=single_root)
        assert higher.best().tolist() == first.best().tolist()
        assert higher.score(first.best()) == pytest.approx(len(model) * first.score(first.best()))


@settings(max_examples=120, deadline=None)
@given(batches(), st.integers(0, 100))
def test_log_partition_and_marginals_are_those_of_enumeration(trees, seed):
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(trees.space))
    total, marginals = trees.log_partition_and_marginals(weight)
    expected = [np.zeros(len(array)) for array in marginals.arrays]
    for s in range(len(trees.space)):
        every, numbers = enumerate_trees(trees, s), part_numbers(trees.space, s)
        log_z = np.logaddexp.reduce([score for score, _ in every])
        assert total[s] == pytest.approx(log_z, abs=1e-9)
        for score, heads in every:
            for kind, parts in enumerate(tree_parts(heads)):
                if len(expected[kind]):
                    for part in parts:
                        expected[kind][numbers[kind][part]] += weight[s] * np.exp(score - log_z)
    for found, want in zip(marginals.arrays, expected, strict=True):
        np.testing.assert_allclose(found, want, atol=1e-9)
    assert trees.log_partition() == pytest.approx(total)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("single_root", [False, True])
def test_charts_and_forests_agree_on_longer_sentences(model, single_root):
    space = all_arcs([0, 25, 60])
    rng = np.random.default_rng(len(model))
    space = space.keep((rng.random(space.n_arcs) < 0.15) | (space.head == space.modifier - 1))
    trees = build(space, model, 1, single_root=single_root)
    best, lists = trees.best(), trees.kbest_scored(10)
    assert is_projective(best[:25])
    assert is_projective(best[25:])
    assert trees.score(best) == pytest.approx([found[0][1] for found in lists])
    for s, found in enumerate(lists):
        assert len({tuple(heads) for heads, _ in found}) == 10
        assert all(score >= after for (_, score), (_, after) in pairwise(found))
        for heads, score in found:
            whole = best.copy()
            whole[space.offsets[s] : space.offsets[s + 1]] = heads
            assert trees.score(whole)[s] == pytest.approx(score)


def test_every_kernel_has_one_signature():
    space = all_arcs([0, 3, 5])
    for view in (space, space.cut(1, 2)[0], space.keep(space.head != 3)):
        for dtype in (np.float64, np.float32):
            for model in MODELS:
                scores = [one.astype(dtype) for one in random_scores(view, 4, 0)]
                trees = ProjectiveTrees(view, scores[0], *(scores[i] if i in model else None for i in (1, 2, 3)))
                trees.best(), trees.kbest(2), trees.marginals(np.ones(len(view), dtype)), trees.sample(2, seed=0)
    kernels = [
        *(eisner._first_order, eisner._higher_order, eisner_sums._sums, projective._gather),
        *(projective_forest._bound, projective_forest._build),
        *(forest._is_ordered, forest._longest, forest._highest, forest._unfold),
        *(forest._inside, forest._posteriors, forest._draw, forest._k_best),
    ]
    assert [len(kernel.signatures) for kernel in kernels] == [1] * len(kernels)


@pytest.mark.parametrize("single_root", [False, True])
def test_first_order_sums_stand_scores_of_any_size(single_root):
    space = all_arcs([0, 9, 14, 30])
    for size in (1.0, 30.0, 1000.0):
        arc = np.random.default_rng(7).normal(scale=size, size=space.n_arcs)
        trees = ProjectiveTrees(space, arc, single_root=single_root)
        on_forests = ProjectiveTrees(space, arc, np.zeros(space.n_siblings), single_root=single_root)
        total, marginals = trees.log_partition_and_marginals()
        np.testing.assert_allclose(total, on_forests.log_partition(), rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(marginals.arc, on_forests.marginals().arc, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(batches(max_words=3), st.integers(0, 100))
def test_samples_have_the_frequencies_of_their_probabilities(trees, seed):
    drawn = trees.sample(1000, seed)
    assert drawn.shape == (1000, trees.space.n_words)
    np.testing.assert_array_equal(drawn, trees.sample(1000, seed))
    for s in range(len(trees.space)):
        every = enumerate_trees(trees, s)
        log_z = np.logaddexp.reduce([score for score, _ in every])
        count = Counter(map(tuple, drawn[:, trees.space.offsets[s] : trees.space.offsets[s + 1]].tolist()))
        assert set(count) <= {heads for _, heads in every}
        for score, heads in every:
            p = np.exp(score - log_z)
            assert abs(count[heads] / 1000 - p) < 5 * np.sqrt(p * (1 - p) / 1000) + 2e-3


@settings(max_examples=60, deadline=None)
@given(batches(), st.integers(0, 100))
def test_score_is_the_inner_product_of_scores_and_parts(trees, seed):
    heads = trees.sample(1, seed)[0]
    parts = trees.parts(heads)
    finite = TreeParts(*(np.zeros(0) if one is None else np.maximum(one, -1e9) for one in trees._scores))
    assert trees.score(heads).sum() == pytest.approx(finite.inner(parts))
    by_hand = []
    for s in range(len(trees.space)):
        own = tuple(heads[trees.space.offsets[s] : trees.space.offsets[s + 1]].tolist())
        by_hand.append(tree_score(own, part_numbers(trees.space, s), *trees._scores))
    assert trees.score(heads) == pytest.approx(by_hand, abs=1e-9)
    weight = np.arange(1.0, len(trees.space) + 1)
    assert finite.inner(trees.parts(heads, weight)) == pytest.approx(weight @ trees.score(heads))


@settings(max_examples=60, deadline=None)
@given(batches(), st.integers(0, 100))
def test_costs_count_different_heads_and_augment_adds_them(trees, seed):
    one, other = trees.sample(2, seed)
    cost = trees.hamming(one, 3.0)
    assert cost.inner(trees.parts(other)) == 3.0 * trees.differs(one, other).sum()
    augmented = trees.augment(cost)
    np.testing.assert_allclose(augmented.score(other), trees.score(other) + 3.0 * trees.differs(one, other), atol=1e-9)
    check_kbest(augmented, 1)


@settings(max_examples=60, deadline=None)
@given(batches(), st.integers(0, 100))
def test_a_mask_leaves_only_trees_within_it(trees, seed):
    rng = np.random.default_rng(seed)
    mask = rng.random(trees.space.n_arcs) < 0.7
    mask[trees.space.arcs_of(trees.best())] |= rng.random(trees.space.n_words) < 0.9
    inside = trees.restrict(mask)
    every = [enumerate_trees(inside, s) for s in range(len(trees.space))]
    if all(every):
        check_kbest(inside, 3)
        assert mask[trees.space.arcs_of(inside.best())].all()
    else:
        for verb in (inside.best, inside.marginals, inside.log_partition, lambda: inside.kbest(2)):
            with pytest.raises(InferenceError, match=f"sentence {next(s for s, f in enumerate(every) if not f)} "):
                verb()


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("n", [1, 2, 6])
def test_decoding_a_gold_scored_tree_returns_it(model, n):
    space = all_arcs([0, n])
    for gold in projective_trees(n)[:: max(1, len(projective_trees(n)) // 40)]:
        zeros = ProjectiveTrees(
            space, np.zeros(space.n_arcs),
            *(np.zeros(size) if i in model else None
              for i, size in enumerate((space.n_siblings, space.n_grands, space.n_tris), start=1)),
        )  # fmt: skip
        assert zeros.augment(zeros.parts(gold)).best().tolist() == list(gold)


def test_a_single_root_is_enforced_inside_the_search():
    space = all_arcs([0, 3])
    arc = np.where(space.head == 0, 10.0, 0.0)
    assert (ProjectiveTrees(space, arc).best() == 0).all()
    assert (ProjectiveTrees(space, arc, single_root=True).best() == 0).sum() == 1


def test_what_does_not_fit_is_refused():
    space = all_arcs([0, 2])
    with pytest.raises(InferenceError, match="sibling scores must have the shape"):
        ProjectiveTrees(space, np.zeros(4), np.zeros(3))
    with pytest.raises(InferenceError, match="arc scores contain NaN"):
        ProjectiveTrees(space, [0, 0, 0, np.nan])
    with pytest.raises(InferenceError, match="with a single root"):
        ProjectiveTrees(space.keep(space.head == 0), np.zeros(2), single_root=True).best()
    with pytest.raises(InferenceError, match="k must be"):
        ProjectiveTrees(space, np.zeros(4)).kbest(0)


def test_an_empty_batch_has_empty_trees():
    for offsets in ([0], [0, 0]):
        trees = ProjectiveTrees(all_arcs(offsets), [])
        assert trees.best().tolist() == []
        assert trees.log_partition().tolist() == [0.0] * (len(offsets) - 1)
        assert trees.marginals().arc.tolist() == []

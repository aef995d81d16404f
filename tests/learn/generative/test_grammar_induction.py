"""Grammars from tags: counts against enumeration, what sparse posteriors promise, and what they find."""

from __future__ import annotations

import time
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_grammar import PAIRS, TAGS, sparse_sentences

from weft.errors import ConfigError, DataError
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.learn.generative.dmv_model import GO, STOP, TagBatch, ValenceModel, estimate, harmonic_start, random_start
from weft.learn.generative.grammar_induction import induce, pair_features, sparse_posterior


def batch_of(sentences, tags):
    number = {tag: i for i, tag in enumerate(tags)}
    offsets = np.concatenate([[0], np.cumsum([len(own) for own in sentences])])
    return TagBatch(np.array([number[tag] for own in sentences for tag in own]), offsets, len(tags))


def random_batch(seed, n_sentences=6, n_tags=3, longest=5):
    random = np.random.default_rng(seed)
    sentences = [random.integers(0, n_tags, size=random.integers(1, longest + 1)).tolist() for _ in range(n_sentences)]
    return batch_of(sentences, range(n_tags))


def enumerate_trees(n):
    for heads in product(range(n + 1), repeat=n):
        array = np.array(heads, dtype=np.int32)
        if heads.count(0) == 1 and is_tree(array) and is_projective(array):
            yield heads


def probability(model: ValenceModel, tags, heads):
    """p(x, y) as the formula says, and which cells of the tables it is made of."""
    children = model.children()
    p, cells = 1.0, []
    for h, tag in enumerate(tags):
        if heads[h] == 0:
            p *= model.root[tag]
            cells.append(("root", tag))
        for side, way in enumerate((range(h - 1, -1, -1), range(h + 1, len(tags)))):
            v = 0
            for m in way:
                if heads[m] == h + 1:
                    s, c = min(v, model.stop.shape[2] - 1), min(v, model.child.shape[2] - 1)
                    p *= model.stop[tag, side, s, GO] * children[tag, side, c, tags[m]]
                    cells += [("stop", tag, side, s, GO), ("child", tag, side, c, tags[m])]
                    v += 1
            s = min(v, model.stop.shape[2] - 1)
            p *= model.stop[tag, side, s, STOP]
            cells.append(("stop", tag, side, s, STOP))
    return p, cells


@pytest.mark.must_show("posterior-sparsity-grammar-induction", 1)
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10_000), n=st.integers(1, 5), stops=st.integers(1, 3), children=st.integers(1, 3),
    mixed=st.booleans(),
)  # fmt: skip
def test_likelihoods_and_expected_counts_are_those_of_enumeration(seed, n, stops, children, mixed):
    random = np.random.default_rng(seed)
    tags = random.integers(0, 3, size=n).tolist()
    batch = batch_of([tags], range(3))
    model = random_start(batch, seed, stops, children, mixed)
    penalty = np.where(random.random(n * n) < 0.5, 3 * random.random(n * n), 0.0)
    log_z, parts = batch.trees(model, penalty).log_partition_and_marginals()
    counts = batch.counts(parts, model)
    total = 0.0
    expected = {"root": np.zeros(3), "stop": np.zeros(model.stop.shape), "child": np.zeros(model.child.shape)}
    for heads in enumerate_trees(n):
        p, cells = probability(model, tags, heads)
        p *= np.exp(-sum(penalty[(h - 1 if h else m) * n + m] for m, h in enumerate(heads)))
        total += p
        for name, *cell in cells:
            expected[name][tuple(cell)] += p
    np.testing.assert_allclose(log_z[0], np.log(total))
    for name, own in expected.items():
        np.testing.assert_allclose(getattr(counts, name), own / total, atol=1e-9, err_msg=name)
    if mixed:
        assert counts.backed_off is not None
        np.testing.assert_allclose(counts.full.sum() + counts.backed_off.sum(), n - 1)
        share = counts.full[counts.child > 0] / counts.child[counts.child > 0]
        mixture = (model.mixture * model.child / model.children())[counts.child > 0]
        np.testing.assert_allclose(share, mixture)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.must_show("posterior-sparsity-grammar-induction", 2)
def test_projections_close_the_gap_and_meet_the_conditions_of_an_optimum(symmetric):
    for seed in range(4):
        batch = random_batch(seed)
        model = random_start(batch, seed)
        features = pair_features(batch, symmetric)
        strength = 0.7
        found = sparse_posterior(batch, model, features, strength, max_steps=3000, tolerance=1e-10)
        assert found.gap < 1e-6
        sums = features.groups.sums(found.multipliers)
        assert found.multipliers.min() >= 0
        assert sums.max() <= strength + 1e-9
        maxima, group = np.empty(features.size), np.empty(features.size, dtype=np.int64)
        group[features.groups.order] = np.repeat(np.arange(len(features.groups)), np.diff(features.groups.offsets))
        maxima[:] = features.groups.maxima(found.expectations)[group]
        held = found.multipliers > 1e-3
        np.testing.assert_allclose(found.expectations[held], maxima[held], atol=1e-3)
        used = features.groups.maxima(found.expectations) > 1e-3
        np.testing.assert_allclose(sums[used], strength, atol=1e-3)


def test_symmetric_features_are_arcs_and_others_are_words_with_tags_of_parents():
    batch = batch_of([[0, 1, 1]], range(2))
    arcs = np.arange(9.0)
    symmetric, asymmetric = pair_features(batch, True), pair_features(batch, False)
    assert symmetric.expectations(arcs).tolist() == arcs.tolist()
    # Words of tags 0, 1, 1; the first may hang on a 1 (the second or third word) or on ROOT.
    found = asymmetric.expectations(arcs).tolist()
    assert found[:2] == [arcs[3] + arcs[6], arcs[0]]
    assert found[2:5] == [arcs[1], arcs[7], arcs[4]]
    without = pair_features(batch, True, root=False)
    assert without.expectations(arcs).size == 6
    assert without.penalties(np.ones(6)).tolist() == [0, 1, 1, 1, 0, 1, 1, 1, 0]


@pytest.mark.must_show("posterior-sparsity-grammar-induction", 3)
def test_strength_0_is_em_bit_for_bit():
    sentences, _ = sparse_sentences(60, seed=1)
    batch = batch_of(sentences, TAGS)
    start = harmonic_start(batch)
    plain = induce(batch, start, "em", iterations=8)
    posterior = sparse_posterior(batch, start, pair_features(batch, True), 0.0)
    counts = batch.counts(posterior.statistics, start)
    same = batch.counts(batch.trees(start).marginals(), start)
    assert all(np.array_equal(getattr(counts, name), getattr(same, name)) for name in ("root", "stop", "child"))
    for method in ("pr-s", "pr-as"):
        none = induce(batch, start, method, strength=0.0, iterations=8)
        assert none.objective == plain.objective
        assert np.array_equal(none.model.child, plain.model.child)
        assert np.array_equal(none.model.stop, plain.model.stop)


@pytest.mark.parametrize(
    ("method", "stops", "children", "mixed"),
    [("em", 2, 1, False), ("em", 3, 3, True), ("dd", 2, 1, False), ("dd", 2, 2, True), ("pr-s", 2, 1, False),
     ("pr-as", 2, 1, False), ("pr-s", 2, 2, True)],
)  # fmt: skip
@pytest.mark.must_show("posterior-sparsity-grammar-induction", 3)
def test_objectives_never_fall(method, stops, children, mixed):
    sentences, _ = sparse_sentences(80, seed=2)
    batch = batch_of(sentences, TAGS)
    start = harmonic_start(batch, stops, children, mixed)
    found = induce(batch, start, method, strength=8.0, iterations=15, tolerance=0.0)
    assert len(found.objective) > 5
    assert all(after >= before - 1e-7 * abs(before) for before, after in pairwise(found.objective))


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.must_show("posterior-sparsity-grammar-induction", 4)
def test_pairs_in_use_never_rise_with_the_strength(symmetric):
    sentences, _ = sparse_sentences(40, seed=3)
    batch = batch_of(sentences, TAGS)
    model, features = harmonic_start(batch), pair_features(batch, symmetric)
    used, start = [], None
    for strength in (0.0, 0.5, 1.0, 2.0, 4.0, 8.0):
        found = sparse_posterior(batch, model, features, strength, start=start, max_steps=400, tolerance=1e-6)
        start = found.multipliers
        used.append(features.groups.maxima(found.expectations).sum())
    assert all(after <= before + 1e-3 for before, after in pairwise(used))
    assert used[-1] < 0.7 * used[0]


@pytest.mark.must_show("posterior-sparsity-grammar-induction", 5)
def test_sparse_posteriors_find_the_direction_that_em_gets_wrong():
    gaps, wrong = [], []
    for seed in range(5):
        sentences, gold = sparse_sentences(200, seed)
        batch = batch_of(sentences, TAGS)
        heads = {}
        for method in ("em", "pr-s"):
            found = induce(batch, harmonic_start(batch), method, strength=40.0, iterations=25)
            heads[method] = batch.trees(found.model.smoothed()).best()
        right = {method: float((own == gold).mean()) for method, own in heads.items()}
        gaps.append(right["pr-s"] - right["em"])
        tags = np.array([tag for own in sentences for tag in own])
        of_determiners = {method: float((own == gold)[tags == "D"].mean()) for method, own in heads.items()}
        wrong.append(of_determiners["em"])
        assert of_determiners["pr-s"] > 0.9
    assert min(gaps) >= 0.1
    assert np.mean(wrong) < 0.5


def test_the_grammar_of_these_tests_has_ten_of_its_64_pairs():
    sentences, heads = sparse_sentences(500, seed=0)
    seen, at = set(), 0
    for tags in sentences:
        for m, h in enumerate(heads[at : at + len(tags)].tolist()):
            if h:
                seen.add((tags[m], tags[h - 1]))
        at += len(tags)
    assert seen == PAIRS
    assert (len(PAIRS), len(TAGS) ** 2) == (10, 64)


@pytest.mark.parametrize(("stops", "children", "mixed"), [(2, 1, False), (1, 2, True), (4, 4, True)])
def test_a_harmonic_start_is_a_distribution_and_copies_higher_valences(stops, children, mixed):
    sentences, _ = sparse_sentences(50, seed=4)
    model = harmonic_start(batch_of(sentences, TAGS), stops, children, mixed)
    assert model.root.sum() == pytest.approx(1)
    used = model.child.sum(axis=3)
    assert np.all(np.isclose(used, 1) | (used == 0))
    assert model.stop.min() >= 0
    for v in range(2, stops):
        assert np.array_equal(model.stop[:, :, v], model.stop[:, :, 1])
    for v in range(1, children):
        assert np.array_equal(model.child[:, :, v], model.child[:, :, 0])
    assert (model.backed_off is not None) == mixed


def test_the_harmonic_start_of_one_sentence_is_that_of_the_paper():
    # Three words a b a: each is the root with 1/3; heads by inverse distance: of the first word 2/3 * (2/3, 1/3).
    model = harmonic_start(batch_of([["a", "b", "a"]], "ab"))
    assert model.root.tolist() == pytest.approx([2 / 3, 1 / 3])
    third = 2 / 3
    to_b, to_a = third * 1 / 2, third * 1 / 3  # right children of the first word: b at distance 1, a at distance 2
    assert model.child[0, 1, 0].tolist() == pytest.approx([to_a / (to_a + to_b), to_b / (to_a + to_b)])


def test_a_dirichlet_prior_discounts_what_is_rare():
    batch = random_batch(1)
    start = random_start(batch, 1)
    counts = batch.counts(batch.trees(start).marginals(), start)
    plain, discounted = estimate(counts, start), estimate(counts, start, alpha=0.1)
    rare, often = counts.child < 0.2, counts.child > 1.0
    assert np.all(discounted.child[rare] <= plain.child[rare] + 1e-12)
    assert discounted.child[often].sum() / plain.child[often].sum() > 0.5
    assert discounted.log_prior < 0


def test_what_does_not_fit_is_refused():
    with pytest.raises(DataError, match="tags are numbers from 0 to 1; given: 0 to 2"):
        TagBatch(np.array([0, 2]), np.array([0, 2]), 2)
    batch = random_batch(2)
    with pytest.raises(ConfigError, match="of 2 tags, the sentences have 3"):
        batch.trees(harmonic_start(batch_of([[0, 1]], range(2))))
    with pytest.raises(ConfigError, match="method must be one of em, dd, pr-s, pr-as"):
        induce(batch, harmonic_start(batch), "pr")


def large_batch(sentences):
    random = np.random.default_rng(0)
    weights = 1 / np.arange(1, 36)
    lengths = random.integers(3, 11, size=sentences)
    tags = random.choice(35, size=int(lengths.sum()), p=weights / weights.sum())
    return TagBatch(tags, np.concatenate([[0], np.cumsum(lengths)]), 35)


@pytest.mark.must_show("posterior-sparsity-grammar-induction", 7)
def test_ten_projection_steps_take_eleven_evaluations_or_a_few_more():
    batch = large_batch(300)
    model, features = harmonic_start(batch), pair_features(batch, symmetric=False)
    log_z = batch.trees(model).log_partition()
    found = sparse_posterior(
        batch, model, features, 140.0, log_partition=float(log_z.sum()), max_steps=10, tolerance=0.0
    )
    assert 11 <= found.evaluations <= 44


@pytest.mark.timing
@pytest.mark.must_show("posterior-sparsity-grammar-induction", 7)
def test_an_iteration_with_ten_projection_steps_takes_seconds_on_thousands_of_sentences():
    batch = large_batch(7000)
    model, features = harmonic_start(batch), pair_features(batch, symmetric=False)
    sparse_posterior(batch, model, features, 140.0, max_steps=1)  # compiled, or loaded from the cache
    seconds = []
    for _ in range(2):
        begun = time.process_time()
        log_z = batch.trees(model).log_partition()
        found = sparse_posterior(
            batch, model, features, 140.0, log_partition=float(log_z.sum()), max_steps=10, tolerance=0.0
        )
        estimate(batch.counts(found.statistics, model), model)
        seconds.append(time.process_time() - begun)
    assert found.evaluations >= 11
    assert min(seconds) < 20

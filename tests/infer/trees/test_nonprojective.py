"""All spanning trees: every verb agrees with enumeration, trees come out of nested cycles, and time grows as n^2."""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import exponent, steps_of
from tree_twins import all_trees, arc_spaces, part_numbers, random_scores, tree_score

from weft.errors import InferenceError
from weft.infer.trees.arcs import ArcSpace, all_arcs
from weft.infer.trees.nonprojective import SpanningTrees
from weft.infer.trees.projective import ProjectiveTrees
from weft.infer.trees.projectivity import is_tree

KINDS = ["normal", "peaked", "tied", "negative", "forbidden"]


def scores_of(space, kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "tied":
        return rng.integers(0, 3, space.n_arcs).astype(float)
    if kind == "peaked":
        return 1000.0 * rng.normal(size=space.n_arcs)
    if kind == "negative":
        return -10.0 - rng.random(space.n_arcs)
    return random_scores(space, 1, seed, forbidden=0.3 if kind == "forbidden" else 0.0)[0]


def every_tree(model, sentence):
    """The trees of a sentence that the model allows with their scores, best first, by enumeration."""
    numbers = part_numbers(model.space, sentence)
    n = int(model.space.offsets[sentence + 1] - model.space.offsets[sentence])
    found = [(tree_score(heads, numbers, model.arc), heads) for heads in all_trees(n)]
    single = model.single_root and n > 0
    found = [(score, heads) for score, heads in found if score > -np.inf and (not single or heads.count(0) == 1)]
    return sorted(found, key=lambda item: -item[0])


def sentences(model):
    return zip(model.space.offsets[:-1], model.space.offsets[1:], strict=True)


@st.composite
def models(draw, max_words=5):
    space = draw(arc_spaces(max_words=max_words))
    return SpanningTrees(
        space, scores_of(space, draw(st.sampled_from(KINDS)), draw(st.integers(0, 2**16))), draw(st.booleans())
    )


@pytest.mark.must_show("nonprojective-mst", 1)
@pytest.mark.must_show("nonprojective-mst", 2)
@settings(max_examples=150, deadline=None)
@given(models())
def test_the_best_tree_is_that_of_enumeration(model):
    every = [every_tree(model, s) for s in range(len(model.space))]
    if not all(every):
        missing = [bool(trees) for trees in every].index(False)
        with pytest.raises(InferenceError, match=rf"sentence {missing} \(counting from 0\) has no tree"):
            model.best()
        return
    best = model.best()
    assert model.score(best) == pytest.approx([trees[0][0] for trees in every], abs=1e-9)
    for first, end in sentences(model):
        assert is_tree(best[first:end])
        if model.single_root and end > first:
            assert best[first:end].tolist().count(0) == 1


@pytest.mark.must_show("nonprojective-mst", 1)
@pytest.mark.must_show("nonprojective-mst", 2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("single_root", [False, True])
def test_the_best_tree_of_six_words_is_that_of_enumeration(kind, single_root):
    space = all_arcs([0, 6])
    for seed in range(2):
        model = SpanningTrees(space, scores_of(space, kind, seed), single_root)
        assert model.score(model.best())[0] == pytest.approx(every_tree(model, 0)[0][0], abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(models(max_words=4), st.integers(1, 40))
def test_the_k_best_trees_are_those_of_enumeration(model, k):
    every = [every_tree(model, s) for s in range(len(model.space))]
    if not all(every):
        with pytest.raises(InferenceError, match="no tree"):
            model.kbest(k)
        return
    for trees, found in zip(every, model.kbest_scored(k), strict=True):
        assert len({tuple(heads) for heads, _ in found}) == len(found) == min(k, len(trees))
        assert [score for _, score in found] == pytest.approx([score for score, _ in trees[:k]], abs=1e-9)
        allowed = {heads: score for score, heads in trees}
        assert all(allowed[tuple(heads.tolist())] == pytest.approx(score, abs=1e-9) for heads, score in found)
    assert [heads[0].tolist() for heads in model.kbest(1)] == [model.best()[a:b].tolist() for a, b in sentences(model)]


@settings(max_examples=150, deadline=None)
@given(models(), st.integers(0, 100))
def test_partition_and_marginals_are_those_of_enumeration(model, seed):
    every = [every_tree(model, s) for s in range(len(model.space))]
    if not all(every):
        with pytest.raises(InferenceError, match="no tree"):
            model.marginals()
        return
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(every))
    total, marginals = model.log_partition_and_marginals(weight)
    expected = np.zeros(model.space.n_arcs)
    for s, trees in enumerate(every):
        log_z = np.logaddexp.reduce([score for score, _ in trees])
        assert total[s] == pytest.approx(log_z, abs=1e-9)
        numbers = part_numbers(model.space, s)[0]
        for score, heads in trees:
            for m, h in enumerate(heads, start=1):
                expected[numbers[h, m]] += weight[s] * np.exp(score - log_z)
    assert marginals.arc == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("scale", [1.0, 30.0, 3000.0])
@pytest.mark.parametrize("single_root", [False, True])
def test_marginals_of_long_sentences_are_probabilities_and_the_slope_of_the_partition(scale, single_root):
    space = all_arcs([0, 40])
    rng = np.random.default_rng(4)
    model = SpanningTrees(space, scale * rng.normal(size=space.n_arcs), single_root)
    marginals = model.marginals().arc
    assert marginals.min() >= 0.0
    assert np.bincount(space.word, weights=marginals) == pytest.approx(np.ones(40), abs=1e-9)
    if single_root:
        assert marginals[space.head == 0].sum() == pytest.approx(1.0, abs=1e-9)
    step = 1e-5 * rng.normal(size=space.n_arcs)
    up, down = (SpanningTrees(space, model.arc + sign * step, single_root).log_partition()[0] for sign in (1, -1))
    assert (up - down) / 2 == pytest.approx(marginals @ step, rel=1e-4, abs=1e-10 * scale)


@pytest.mark.parametrize("single_root", [False, True])
@pytest.mark.parametrize("kind", ["normal", "peaked", "forbidden"])
def test_samples_are_drawn_from_the_distribution(single_root, kind):
    space = all_arcs([0, 2, 6])
    model = SpanningTrees(space, scores_of(space, kind, 9), single_root)
    drawn = model.sample(20000, seed=3)
    for s, (first, end) in enumerate(sentences(model)):
        trees = every_tree(model, s)
        log_z = np.logaddexp.reduce([score for score, _ in trees])
        count = Counter(map(tuple, drawn[:, first:end].tolist()))
        assert set(count) <= {heads for _, heads in trees}
        for score, heads in trees:
            p = np.exp(score - log_z)
            assert abs(count[heads] / 20000 - p) <= 5 * np.sqrt(p * (1 - p) / 20000) + 1e-4
    assert np.array_equal(drawn, model.sample(20000, seed=3))


def test_samples_of_a_long_peaked_sentence_have_its_marginals():
    space = all_arcs([0, 25])
    model = SpanningTrees(space, 4 * np.random.default_rng(1).normal(size=space.n_arcs), single_root=True)
    drawn = model.sample(4000, seed=1)
    assert all(is_tree(heads) and heads.tolist().count(0) == 1 for heads in drawn[:200])
    share = np.mean([model.parts(heads).arc for heads in drawn], axis=0)
    marginals = model.marginals().arc
    assert np.all(np.abs(share - marginals) <= 5 * np.sqrt(marginals * (1 - marginals) / 4000) + 2e-3)


@settings(max_examples=50, deadline=None)
@given(models(), st.integers(0, 2**16))
def test_the_other_verbs_follow_their_definitions(model, seed):
    rng = np.random.default_rng(seed)
    space = model.space
    pairs = [[heads for _, heads in every_tree(model, s)] for s in range(len(space))]
    if not all(pairs):
        return
    one, other = (
        np.array([h for trees in pairs for h in trees[rng.integers(len(trees))]], dtype=np.int32) for _ in range(2)
    )
    assert model.differs(one, other) == pytest.approx([np.sum(one[a:b] != other[a:b]) for a, b in sentences(model)])
    assert model.parts(one).arc @ np.where(model.arc > -np.inf, model.arc, 0) == pytest.approx(model.score(one).sum())
    cost = model.hamming(one, 2.0)
    assert model.augment(cost).score(other) == pytest.approx(model.score(other) + 2.0 * model.differs(one, other))
    only = model.restrict(model.parts(one).arc > 0)
    assert np.array_equal(only.best(), one)
    assert [len(trees) for trees in only.kbest(3)] == [1] * len(space)
    gold = SpanningTrees(space, model.parts(one).arc, model.single_root)
    assert np.array_equal(gold.best(), one)
    weight = rng.random(len(space))
    assert np.bincount(space.sentence, weights=model.parts(one, weight).arc, minlength=len(space)) == pytest.approx(
        weight * np.diff(space.offsets)
    )


def test_a_head_outside_the_space_is_named():
    model = SpanningTrees(ArcSpace([0, 2], [0, 1], [1, 2]), [0.0, 0.0])
    with pytest.raises(InferenceError, match="word 0 of the batch"):
        model.score([2, 0])


@pytest.mark.must_show("nonprojective-mst", 1)
def test_the_worked_example_of_three_words_scores_70():
    space = all_arcs([0, 3])
    table = {(0, 1): 9, (0, 2): 10, (0, 3): 9, (1, 2): 20, (2, 1): 30, (2, 3): 30, (3, 2): 0, (3, 1): 11, (1, 3): 3}
    scores = [table[arc] for arc in zip(space.head.tolist(), space.modifier.tolist(), strict=True)]
    model = SpanningTrees(space, scores)
    assert model.best().tolist() == [2, 0, 2]
    assert model.score([2, 0, 2]).tolist() == [70.0]


def nested_cycles(depth, rng):
    """Scores of depth + 1 words under which every contraction closes the next cycle, the words in random places.

    The second word and the first are each other's best heads; every further word is best entered from the cycle of
    those before it, and is itself the best way into that cycle, at a loss smaller than that of arcs from ROOT.
    """
    n = depth + 1
    table = np.full((n + 1, n + 1), -1e6)
    table[0, 1:] = rng.normal(size=n)
    spent = np.zeros(n + 1)  # what arcs into a word have to make up for after the contractions so far
    for new in range(2, n + 1):
        table[rng.integers(1, new), new] = spent[new] = 100.0 + rng.random()
        gain = 100.0 if new == 2 else -rng.random()
        entry = rng.integers(1, new)
        table[new, entry] = spent[entry] + gain
        spent[1:new] += gain
    order = np.concatenate([[0], 1 + rng.permutation(n)])
    moved = np.empty_like(table)
    moved[np.ix_(order, order)] = table
    return moved


def contractions(table):
    """How deep cycles nest, and the best total, by the recursion of the definition with sets of words."""
    n = len(table) - 1
    level = {m: (frozenset([m]), 0) for m in range(1, n + 1)}
    arcs = {(h, m): table[h, m] for h in range(n + 1) for m in range(1, n + 1) if h != m}
    base, fresh = 0.0, n
    while True:
        best = {v: max((w, h) for (h, m), w in arcs.items() if m == v) for v in level}
        cycle = None
        for start in level:
            seen, at = [], start
            while at != 0 and at not in seen:
                seen.append(at)
                at = best[at][1]
            if at != 0:
                cycle = seen[seen.index(at) :]
                break
        if cycle is None:
            return max(depth for _, depth in level.values()), base + sum(w for w, _ in best.values())
        fresh += 1
        base += sum(best[v][0] for v in cycle)
        joined = {}
        for (h, m), w in arcs.items():
            h2, m2 = (fresh if h in cycle else h), (fresh if m in cycle else m)
            if h2 != m2:
                joined[h2, m2] = max(joined.get((h2, m2), -np.inf), w - (best[m][0] if m in cycle else 0.0))
        arcs = joined
        depth = 1 + max(level[v][1] for v in cycle)
        members = frozenset().union(*(level[v][0] for v in cycle))
        level = {v: what for v, what in level.items() if v not in cycle} | {fresh: (members, depth)}


@pytest.mark.must_show("nonprojective-mst", 3)
@pytest.mark.parametrize("depth", [1, 2, 3, 5, 10, 25])
def test_cycles_nested_to_any_depth_come_apart_right(depth):
    for seed in range(8):
        table = nested_cycles(depth, np.random.default_rng(seed))
        reached, total = contractions(table)
        assert reached == depth
        space = all_arcs([0, depth + 1])
        for single_root in (False, True):
            model = SpanningTrees(space, table[space.head, space.modifier], single_root)
            best = model.best()
            assert is_tree(best)
            assert best.tolist().count(0) == 1  # arcs of -1e6 are worse than any root
            assert model.score(best)[0] == pytest.approx(total, abs=1e-6)


@pytest.mark.must_show("nonprojective-mst", 1)
@pytest.mark.parametrize("n", [10, 30, 60])
def test_totals_of_long_sentences_are_those_of_networkx(n):
    networkx = pytest.importorskip("networkx", reason="networkx is not installed")
    space = all_arcs([0, n])
    for kind in KINDS[:-1]:
        model = SpanningTrees(space, scores_of(space, kind, n))
        graph = networkx.DiGraph()
        for h, m, score in zip(space.head.tolist(), space.modifier.tolist(), model.arc.tolist(), strict=True):
            graph.add_edge(h, m, weight=score)
        peer = networkx.maximum_spanning_arborescence(graph)
        assert model.score(model.best())[0] == pytest.approx(peer.size(weight="weight"), rel=1e-9, abs=1e-9)


@pytest.mark.must_show("nonprojective-mst", 1)
@settings(max_examples=20, deadline=None)
@given(st.integers(7, 60), st.sampled_from(KINDS[:-1]), st.integers(0, 2**16))
def test_totals_of_long_sentences_are_those_of_the_recursion(n, kind, seed):
    space = all_arcs([0, n])
    model = SpanningTrees(space, scores_of(space, kind, seed))
    table = np.full((n + 1, n + 1), -np.inf)
    table[space.head, space.modifier] = model.arc
    assert model.score(model.best())[0] == pytest.approx(contractions(table)[1], rel=1e-9, abs=1e-9)


@pytest.mark.must_show("nonprojective-mst", 4)
def test_steps_of_decoding_grow_as_the_square_of_the_length_and_those_of_projective_trees_as_the_cube():
    lengths = [20, 40, 80]
    steps = {SpanningTrees: [], ProjectiveTrees: []}
    for n in lengths:
        space = all_arcs([0, n])
        draws = [np.random.default_rng(seed).normal(size=space.n_arcs) for seed in range(3)]
        for kind, found in steps.items():
            found.append(sum(steps_of(kind(space, arc).best) for arc in draws))
    assert 1.5 < exponent(lengths, steps[SpanningTrees]) < 2.4, steps
    assert 2.5 < exponent(lengths, steps[ProjectiveTrees]) < 3.5, steps
    assert all(free < nested for free, nested in zip(*steps.values(), strict=True)), steps


def seconds(decode, repeats):
    """The shortest time that one of a few runs took."""
    shortest = np.inf
    for _ in range(repeats):
        begin = time.thread_time()
        decode()
        shortest = min(shortest, time.thread_time() - begin)
    return shortest


@pytest.mark.must_show("nonprojective-mst", 4)
@pytest.mark.timing
def test_decoding_time_grows_as_the_square_of_the_length_and_that_of_projective_trees_as_the_cube():
    lengths = [20, 50, 100, 200, 400]
    times = {SpanningTrees: [], ProjectiveTrees: []}
    for n in lengths:
        copies = max(1, 4000 // n**2)
        space = all_arcs(n * np.arange(copies + 1))
        arc = np.random.default_rng(n).normal(size=space.n_arcs)
        for kind, found in times.items():
            model = kind(space, arc)
            found.append(seconds(model.best, 4) / copies)
    slopes = {kind: np.polyfit(np.log(lengths[1:]), np.log(found[1:]), 1)[0] for kind, found in times.items()}
    assert 1.5 < slopes[SpanningTrees] < 2.4
    assert 2.5 < slopes[ProjectiveTrees] < 3.5
    assert all(free < nested for free, nested in zip(*times.values(), strict=True))

"""The best 1-endpoint-crossing tree is that of enumeration, with the parts that the crossings of its edges ask for."""

from __future__ import annotations

import time
from collections import Counter

import crossing_twins as twins
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import exponent, steps_of
from tree_twins import all_trees, arc_spaces, is_projective

from weft.errors import InferenceError
from weft.formats import read
from weft.infer.crossing.bounds import forbid_crossings
from weft.infer.crossing.parts import KINDS, add_smaller_parts, smaller_parts, tree_parts
from weft.infer.crossing.trees import CrossingTrees, crossings, is_one_endpoint_crossing, nearest
from weft.infer.trees.arcs import ArcSpace, TreeParts, all_arcs
from weft.infer.trees.nonprojective import SpanningTrees
from weft.infer.trees.projective import ProjectiveTrees
from weft.infer.trees.projectivity import is_tree


def n_parts(space):
    return 2 * space.n_arcs + space.n_siblings + space.n_grand_arcs + space.n_grands


def random_structure(space, seed, **options):
    return twins.structure(space, np.random.default_rng(seed).normal(size=n_parts(space)), **options)


def sparse_space(n, heads_a_word, seed):
    """Random heads, some of them near; every word may hang on ROOT."""
    rng = np.random.default_rng(seed)
    arcs = {(0, m) for m in range(1, n + 1)}
    for m in range(1, n + 1):
        near = np.clip(m + rng.integers(-4, 5, size=heads_a_word - 1), 0, n)
        arcs |= {(int(h), m) for h in near if h != m}
    head, modifier = zip(*sorted(arcs), strict=True)
    return ArcSpace([0, n], head, modifier)


@pytest.mark.must_show("crossing-sensitive-third-order", 1)
@pytest.mark.parametrize(("n", "count"), [(4, 125), (5, 1104), (6, 10024)])
def test_every_one_endpoint_crossing_tree_is_derived_with_exactly_its_own_parts(n, count):
    space = all_arcs([0, n])
    trees, rows, _ = twins.part_matrix(space, twins.crossing_trees(n))
    assert len(trees) == count
    for tree, row in zip(trees, rows, strict=True):
        scores = np.full(n_parts(space), -np.inf)
        scores[row] = 1.0
        found, score = twins.structure(space, scores).best_scored()
        assert tuple(found) == tree
        assert score == n


@pytest.mark.must_show("crossing-sensitive-third-order", 1)
@pytest.mark.parametrize(("n", "draws"), [(3, 50), (4, 100), (5, 600), (6, 300)])
def test_random_scores_give_the_maximum_over_all_trees(n, draws):
    space = all_arcs([0, n])
    trees, rows, first = twins.part_matrix(space, twins.crossing_trees(n))
    rng = np.random.default_rng(n)
    crossed = 0
    for _ in range(draws):
        scores = rng.normal(size=n_parts(space))
        scores[: first["arc"]] += rng.choice([0.0, 1.0, 3.0])
        scores[rng.random(len(scores)) < rng.choice([0.0, 0.2])] -= 4.0
        totals = scores[rows].sum(axis=1)
        found, score = twins.structure(space, scores).best_scored()
        assert score == pytest.approx(totals.max(), abs=1e-9)
        assert tuple(found) == trees[totals.argmax()]
        crossed += not is_projective(tuple(found))
    assert crossed > draws / 10


@pytest.mark.must_show("crossing-sensitive-third-order", 1)
@settings(max_examples=60, deadline=None)
@given(arc_spaces(max_words=5, max_sentences=3), st.integers(0, 2**16), st.sampled_from([0.0, 2.0]), st.booleans())
def test_sparse_batches_give_the_maximum_over_the_trees_of_their_arcs(space, seed, favour, single_root):
    rng = np.random.default_rng(seed)
    sizes = [space.n_arcs, space.n_arcs, space.n_siblings, space.n_grand_arcs, space.n_grands]
    scores = [rng.normal(size=size) for size in sizes]
    scores[0] += favour
    best = []
    for s in range(len(space)):
        own, arcs = space.cut(s, s + 1)
        nodes = slice(space.node_offsets[s], space.node_offsets[s + 1])
        first = [numbers[nodes.start] for numbers in (space.grand_arcs, space.grands)]
        starts = [arcs.start, arcs.start, space.siblings[arcs.start], *first]
        lengths = [own.n_arcs, own.n_arcs, own.n_siblings, own.n_grand_arcs, own.n_grands]
        flat = np.concatenate([
            array[start : start + length] for array, start, length in zip(scores, starts, lengths, strict=True)
        ])  # fmt: skip
        trees, rows, _ = twins.part_matrix(own, twins.crossing_trees(int(np.diff(own.offsets)[0])))
        totals = [
            flat[row].sum() for tree, row in zip(trees, rows, strict=True) if not single_root or tree.count(0) <= 1
        ]
        best.append(max(totals) if len(totals) else None)
    structure = CrossingTrees(space, *scores, single_root=single_root)
    if None in best:
        with pytest.raises(InferenceError, match=f"sentence {best.index(None)} .*single root"):
            structure.best()
        return
    heads, score = structure.best_scored()
    np.testing.assert_allclose(score, best, atol=1e-9)
    np.testing.assert_allclose(structure.score(heads), best, atol=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.integers(0, 2**16))
def test_parts_of_any_tree_are_those_of_the_definition(n, seed):
    trees = all_trees(n)
    tree = trees[seed % len(trees)]
    space = all_arcs([0, n])
    numbers = twins.numbers_of(space)
    kind, number = tree_parts(space, tree)
    expected = [(KINDS.index(name), numbers[name][part]) for name, part in twins.tree_parts(tree)]
    assert list(zip(kind.tolist(), number.tolist(), strict=True)) == expected
    assert crossings(tree).tolist() == [len(twins.crossing_edges(tree, m)) for m in range(1, n + 1)]
    assert is_one_endpoint_crossing(tree) == twins.is_one_endpoint_crossing(tree)


@pytest.mark.must_show("crossing-sensitive-third-order", 1)
@pytest.mark.parametrize("seed", range(6))
def test_the_score_of_the_chart_is_that_of_the_parts_of_its_tree(seed):
    for n in (8, 12, 17):
        structure = random_structure(sparse_space(n, 5, seed), seed)
        structure.crossed += 1.0
        heads, score = structure.best_scored()
        np.testing.assert_allclose(structure.score(heads), score, atol=1e-9)


def test_the_example_of_the_sheet_has_its_parts():
    # * Which cars do Americans favor most these days ?
    heads = (2, 5, 0, 3, 3, 5, 8, 5, 3)
    assert twins.tree_parts(heads) == (
        ("sibling", (2, 1, None)), ("crossed", (5, 2)), ("crossed", (0, 3)), ("sibling", (3, 4, None)),
        ("sibling", (3, 5, 4)), ("sibling", (5, 6, None)), ("grand", (5, 8, 7, None)), ("sibling", (5, 8, 6)),
        ("crossed", (3, 9)),
    )  # fmt: skip
    kind, _ = tree_parts(all_arcs([0, 9]), heads)
    assert [KINDS[i] for i in kind] == [name for name, _ in twins.tree_parts(heads)]
    assert is_one_endpoint_crossing(heads)
    space = all_arcs([0, 9])
    _, row, _ = twins.part_matrix(space, [heads])
    scores = np.zeros(n_parts(space))
    scores[row[0]] = 1.0
    assert tuple(twins.structure(space, scores).best()) == heads


@pytest.mark.must_show("crossing-sensitive-third-order", 2)
@pytest.mark.parametrize("n", [1, 2, 5, 9, 14, 20])
def test_without_crossed_edges_it_is_the_third_order_projective_parser(n):
    for seed in range(3):
        space = all_arcs([0, n]) if n < 14 else sparse_space(n, 7, seed)
        structure = random_structure(space, seed)
        structure.crossed[:] = -np.inf
        projective = ProjectiveTrees(space, np.zeros(space.n_arcs), grand=structure.grand)
        heads, score = structure.best_scored()
        np.testing.assert_array_equal(heads, projective.best())
        np.testing.assert_allclose(score, projective.score(heads), atol=1e-9)


@pytest.mark.must_show("crossing-sensitive-third-order", 2)
def test_edge_scores_give_the_maximum_spanning_tree_where_that_is_one_endpoint_crossing():
    agreed, projective = 0, 0
    for seed in range(150):
        space = all_arcs([0, 7])
        arc = np.random.default_rng(seed).normal(size=space.n_arcs)
        best = SpanningTrees(space, arc).best()
        found, score = CrossingTrees.from_edges(space, arc).best_scored()
        assert is_one_endpoint_crossing(found)
        if is_one_endpoint_crossing(best):
            np.testing.assert_array_equal(found, best)
            agreed += 1
        else:
            assert score < SpanningTrees(space, arc).score(best)
        if is_projective(tuple(best.tolist())):
            np.testing.assert_array_equal(found, ProjectiveTrees(space, arc).best())
            projective += 1
    assert agreed > 30
    assert projective > 5


@pytest.mark.must_show("crossing-sensitive-third-order", 3)
@pytest.mark.parametrize("n", [7, 11, 16, 22])
def test_what_comes_out_is_always_a_one_endpoint_crossing_tree(n):
    shapes = Counter()
    for seed in range(12):
        space = sparse_space(n, 6, seed)
        structure = random_structure(space, seed, single_root=seed % 2 == 1)
        structure.crossed += 1.0 + seed % 3
        heads = structure.best()
        assert is_tree(heads)
        assert is_one_endpoint_crossing(heads)
        assert np.all(space.arcs_of(heads) >= 0)
        assert seed % 2 == 0 or (heads == 0).sum() == 1
        shapes[is_projective(tuple(heads.tolist()))] += 1
    assert shapes[False] > shapes[True]


@pytest.mark.must_show("crossing-sensitive-third-order", 3)
@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("Dutch-Alpino/dev", 0.990, 1.0), ("Dutch-Alpino/test", 0.990, 1.0), ("English-EWT/dev", 0.990, 1.0),
        ("Basque-BDT/train", 0.925, 0.943), ("Gothic-PROIEL/train", 0.974, 0.984),
    ],
)  # fmt: skip
def test_trees_of_treebanks_are_nearly_all_one_endpoint_crossing(corpus_file, name, least, most):
    within = [is_one_endpoint_crossing(heads) for heads in heads_of(corpus_file(f"treebanks/ud/{name}.conllu.gz"))]
    assert len(within) > 500
    assert least <= np.mean(within) <= most


@pytest.mark.parametrize("n", [5, 6])
def test_the_nearest_tree_shares_as_many_edges_as_any(n):
    within = np.array(twins.crossing_trees(n))
    others = [tree for tree in all_trees(n) if not twins.is_one_endpoint_crossing(tree)]
    for tree in others[:: len(others) // 40]:
        found = nearest(tree)
        assert is_one_endpoint_crossing(found)
        assert (found == tree).sum() == (within == tree).sum(axis=1).max()
    assert nearest(within[7]).tolist() == within[7].tolist()


def bounds(structure, single_root, least):
    """Edges that may be crossed in a tree above `least`, and whether there are any."""
    space = structure.space
    crossed, asked = np.empty(space.n_arcs), np.empty(len(space), np.bool_)
    forbid_crossings(
        space.offsets, space.head, space.modifier, space.first, space.siblings, space.grand_arcs, space.grands,
        structure.crossed, structure.arc, structure.sibling, structure.grand_arc, structure.grand, single_root,
        np.array([least]), crossed, asked,
    )  # fmt: skip
    return crossed, bool(asked[0])


@pytest.mark.parametrize("single_root", [False, True])
def test_edges_that_are_crossed_in_a_better_tree_are_never_forbidden_and_some_others_are(single_root):
    space = all_arcs([0, 5])
    trees, rows, first = twins.part_matrix(space, twins.crossing_trees(5))
    fits = np.array([not single_root or tree.count(0) == 1 for tree in trees])
    projective = np.array([is_projective(tree) for tree in trees])
    rng = np.random.default_rng(5)
    forbidden = without = 0
    for _ in range(200):
        scores = rng.normal(size=n_parts(space))
        scores[rows[rng.integers(len(rows))]] += rng.choice([1.0, 3.0])
        totals = scores[rows].sum(axis=1)
        least = totals[fits & projective].max()
        crossed, asked = bounds(twins.structure(space, scores, single_root=single_root), single_root, least)
        better = np.unique(rows[fits & (totals > least)])
        assert np.all(crossed[better[better < first["arc"]]] > -np.inf)
        assert asked == bool((crossed > -np.inf).any())
        forbidden += int((crossed == -np.inf).sum())
        without += not asked
    assert forbidden > 200 * space.n_arcs / 10
    assert without > 10


def test_long_sentences_get_their_best_projective_tree():
    space = all_arcs([0, 4, 9])
    structure = random_structure(space, 3, longest=4)
    structure.crossed += 3.0
    heads = structure.best()
    assert not is_projective(tuple(heads[:4].tolist()))
    own = all_arcs([0, 5])
    projective = ProjectiveTrees(own, np.zeros(own.n_arcs), grand=structure.grand[-own.n_grands :])
    np.testing.assert_array_equal(heads[4:], projective.best())


@settings(max_examples=30, deadline=None)
@given(arc_spaces(max_words=4), st.integers(0, 2**16))
def test_numbers_given_on_to_smaller_parts_are_the_transpose_of_scores_added_to_larger_ones(space, seed):
    rng = np.random.default_rng(seed)
    sizes = {"arc": space.n_arcs, "sibling": space.n_siblings, "grand": space.n_grands}
    sizes |= {"grand_arc": space.n_grand_arcs, "crossed": space.n_arcs}
    one, other = (TreeParts(**{name: rng.normal(size=size) for name, size in sizes.items()}) for _ in range(2))
    assert add_smaller_parts(space, one).inner(other) == pytest.approx(one.inner(smaller_parts(space, other)))


@settings(max_examples=30, deadline=None)
@given(arc_spaces(max_words=4), st.integers(0, 2**16))
def test_verbs_agree_with_each_other(space, seed):
    structure = random_structure(space, seed)
    heads = structure.best()
    other = random_structure(space, seed + 1).best()
    parts = structure.parts(heads)
    scores = TreeParts(
        structure.arc, structure.sibling, structure.grand, grand_arc=structure.grand_arc, crossed=structure.crossed
    )
    assert parts.inner(scores) == pytest.approx(structure.score(heads).sum())
    weights = np.arange(len(space)) + 1.0
    assert structure.parts(heads, weights).inner(scores) == pytest.approx(structure.score(heads) @ weights)
    cost = structure.hamming(other, 2.0)
    np.testing.assert_allclose(
        structure.augment(cost).score(heads) - structure.score(heads), 2.0 * structure.differs(heads, other), atol=1e-9
    )
    allowed = np.zeros(space.n_arcs, dtype=np.bool_)
    allowed[space.arcs_of(other)] = True
    np.testing.assert_array_equal(structure.restrict(allowed).best(), other)


def test_what_cannot_be_is_refused():
    space = all_arcs([0, 2])
    with pytest.raises(InferenceError, match="sibling scores"):
        CrossingTrees(space, np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(6), np.zeros(7))
    forbidden = random_structure(space, 0).restrict(space.modifier != 1)
    with pytest.raises(InferenceError, match=r"sentence 0 .* has no 1-endpoint-crossing tree"):
        forbidden.best()


@pytest.mark.must_show(
    "crossing-sensitive-third-order",
    4,
    weaker="growth alone; the recorded run has the ratio at equal pruning",
)
def test_steps_grow_with_about_the_fourth_power_of_length_and_the_third_where_arcs_are_pruned():
    whole = [steps_of(random_structure(all_arcs([0, n]), 0).best) for n in (6, 8, 12)]
    pruned = [steps_of(random_structure(sparse_space(n, 6, 0), 0).best) for n in (12, 16, 22)]
    assert 3.5 < exponent((6, 8, 12), whole) < 4.5, whole
    assert 2.3 < exponent((12, 16, 22), pruned) < 3.5, pruned


def seconds(structures):
    """The least CPU time of a search of each, taken in turn: a busy machine changes its mind."""
    best = [np.inf] * len(structures)
    for _ in range(12):
        for i, structure in enumerate(structures):
            begin = time.thread_time()
            structure.best()
            best[i] = min(best[i], time.thread_time() - begin)
    return best


@pytest.mark.must_show(
    "crossing-sensitive-third-order",
    4,
    weaker="growth alone; the recorded run has the ratio at equal pruning",
)
@pytest.mark.timing
def test_time_grows_with_about_the_fourth_power_of_length_and_the_third_where_arcs_are_pruned():
    whole = seconds([random_structure(all_arcs([0, n]), 0) for n in (16, 32)])
    pruned = seconds([random_structure(sparse_space(n, 6, 0), 0) for n in (12, 48)])
    assert 2.8 < np.log2(whole[1] / whole[0]) < 5.3, whole
    assert 2.0 < np.log2(pruned[1] / pruned[0]) / 2 < 3.9, pruned


def heads_of(path):
    """Heads of all sentences of a treebank that are trees."""
    for doc in read(path):
        for first, end in zip(doc.sentence_offsets[:-1], doc.sentence_offsets[1:], strict=True):
            if is_tree(doc.head[first:end]):
                yield doc.head[first:end]

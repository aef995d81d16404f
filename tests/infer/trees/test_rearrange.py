"""Rearranging climbs: every step gains what rescoring says, up to a tree or graph that no single move makes better."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tree_twins import all_trees, arc_spaces, inner_sibling, is_projective, part_numbers, random_scores, tree_score

from weft.errors import InferenceError
from weft.infer.trees.arcs import ArcSpace, all_arcs
from weft.infer.trees.projective import ProjectiveTrees
from weft.infer.trees.projectivity import is_tree
from weft.infer.trees.rearrange import DependencyGraphs, RearrangedTrees, grow_graph, rearrange


@st.composite
def problems(draw, max_words=5):
    """A space, scores of arcs and siblings, the best projective tree, and whether the root is to be single."""
    space = draw(arc_spaces(max_words=max_words))
    seed, tied = draw(st.integers(0, 2**16)), draw(st.booleans())
    arc, sibling = random_scores(space, 2, seed)
    if tied:
        arc, sibling = np.round(arc), np.round(sibling)
    single = draw(st.booleans())
    try:
        start = ProjectiveTrees(space, arc, sibling, single_root=single).best()
    except InferenceError:
        single = False
        start = ProjectiveTrees(space, arc, sibling).best()
    return space, arc, sibling, start, single


def by_sentence(space, values):
    return [values[a:b] for a, b in zip(space.offsets[:-1], space.offsets[1:], strict=True)]


def graph_of(space, chosen, sentence):
    """The arcs of a graph as a set of pairs."""
    there = chosen & (space.sentence == sentence)
    return set(zip(space.head[there].tolist(), space.modifier[there].tolist(), strict=True))


def graph_score(graph, numbers, arc, sibling):
    """The score of a set of arcs, straight from the definition."""
    total = 0.0
    for h, m in graph:
        step = 1 if m < h else -1
        s = next((s for s in range(m + step, h, step) if (h, s) in graph), None)
        total += arc[numbers[0][h, m]] + sibling[numbers[1][h, m, s]]
    return total


def has_cycle(graph):
    left = set(graph)
    while left:
        loose = {(h, m) for h, m in left if not any(m == other for other, _ in left)}
        if not loose:
            return True
        left -= loose
    return False


@pytest.mark.must_show("second-order-mst", 2)
@settings(max_examples=100, deadline=None)
@given(problems(), st.booleans())
def test_every_move_of_trees_gains_what_rescoring_says(problem, from_worst):
    space, arc, sibling, start, single = problem
    if from_worst:  # a bad tree, so that many moves are made
        start = ProjectiveTrees(space, -arc, -sibling, single_root=single).best()
    scorer = ProjectiveTrees(space, arc, sibling)
    steps, heads = 0, start
    while True:
        after = rearrange(space, arc, sibling, heads, limit=1, single_root=single)
        assert scorer.score(after.heads) - scorer.score(heads) == pytest.approx(after.gain, abs=1e-9)
        assert np.array_equal(after.gain > 0, after.moves == 1)
        assert scorer.differs(after.heads, heads) == pytest.approx(after.moves)
        if not after.moves.any():
            break
        steps += after.moves
        heads = after.heads
    whole = rearrange(space, arc, sibling, start, single_root=single)
    assert np.array_equal(whole.heads, heads)
    assert np.array_equal(whole.moves, np.broadcast_to(steps, whole.moves.shape))
    assert scorer.score(heads) - scorer.score(start) == pytest.approx(whole.gain, abs=1e-9)


@pytest.mark.must_show("second-order-mst", 2)
@settings(max_examples=100, deadline=None)
@given(problems())
def test_each_step_is_the_best_change_of_one_head_and_the_end_has_none(problem):
    space, arc, sibling, start, single = problem
    heads = start
    for _ in range(50):
        after = rearrange(space, arc, sibling, heads, limit=1, single_root=single)
        for s, (own, then) in enumerate(zip(by_sentence(space, heads), by_sentence(space, after.heads), strict=True)):
            numbers = part_numbers(space, s)
            tree = tuple(own.tolist())
            now = tree_score(tree, numbers, arc, sibling)
            best = now
            for j in range(len(tree)):
                for i in range(len(tree) + 1):
                    changed = (*tree[:j], i, *tree[j + 1 :])
                    if changed in all_trees(len(tree)) and not (single and changed.count(0) != 1):
                        best = max(best, tree_score(changed, numbers, arc, sibling))
            assert is_tree(then)
            assert tree_score(tuple(then.tolist()), numbers, arc, sibling) == pytest.approx(best, abs=1e-8)
        if not after.moves.any():
            return
        heads = after.heads
    raise AssertionError("there is no end")


@pytest.mark.must_show("second-order-mst", 3)
@settings(max_examples=150, deadline=None)
@given(problems(max_words=6))
def test_a_projective_optimum_that_moved_is_no_longer_projective(problem):
    space, arc, sibling, start, single = problem
    one = rearrange(space, arc, sibling, start, limit=1, single_root=single)
    whole = rearrange(space, arc, sibling, start, single_root=single)
    for after in (one, whole):
        for moves, heads in zip(after.moves, by_sentence(space, after.heads), strict=True):
            assert not (moves and is_projective(tuple(heads.tolist())))


@pytest.mark.must_show("second-order-mst", 4)
@pytest.mark.parametrize(("n", "most"), [(4, 60), (5, 60), (6, 12)])
def test_the_rearranged_tree_is_mostly_the_best_of_all_and_never_below_the_projective(n, most):
    space = all_arcs([0, n])
    numbers = part_numbers(space)
    trees = np.array(all_trees(n), dtype=np.int32)
    parts = [space.parts_of(heads)[:2] for heads in trees]
    arcs, siblings = (np.array([part[kind] for part in parts]) for kind in (0, 1))
    exact, exact_projective = 0, 0
    for seed in range(most):
        arc, sibling = random_scores(space, 2, seed)
        model = RearrangedTrees(space, arc, sibling)
        found, start = model.score(model.best())[0], model.score(model.projective.best())[0]
        best = (arc[arcs].sum(axis=1) + sibling[siblings].sum(axis=1)).max()
        assert start <= found + 1e-12 <= best + 1e-9
        assert found == pytest.approx(tree_score(tuple(model.best().tolist()), numbers, arc, sibling))
        exact += found > best - 1e-9
        exact_projective += start > best - 1e-9
    print(f"{n} words, random scores: exact {exact}/{most} rearranged, {exact_projective}/{most} projective")
    assert exact > exact_projective
    assert exact >= most // 2


@pytest.mark.must_show("second-order-mst", 2)
@settings(max_examples=100, deadline=None)
@given(problems(max_words=4))
def test_graphs_are_acyclic_with_a_head_for_every_word_and_each_step_is_the_best_move(problem):
    space, arc, sibling, start, single = problem
    graphs = DependencyGraphs(space, arc, sibling, single_root=single)
    before = grow_graph(space, arc, sibling, start, limit=0, single_root=single)
    assert not before.moves.any()
    for limit in range(1, 40):
        after = grow_graph(space, arc, sibling, start, limit=limit, single_root=single)
        assert graphs.score(after.arcs) - graphs.score(before.arcs) == pytest.approx(after.gain - before.gain, abs=1e-9)
        for s in range(len(space)):
            numbers = part_numbers(space, s)
            graph, then = graph_of(space, before.arcs, s), graph_of(space, after.arcs, s)
            assert not has_cycle(then)
            assert {m for _, m in then} == set(range(1, int(space.offsets[s + 1] - space.offsets[s]) + 1))
            assert graphs.score(after.arcs)[s] == pytest.approx(graph_score(then, numbers, arc, sibling), abs=1e-9)
            best = graph_score(graph, numbers, arc, sibling)
            for h, m in set(numbers[0]) - graph:
                old = [(None, None), *((g, w) for g, w in graph if w == m)]
                for drop in old:
                    moved = (graph - {drop}) | {(h, m)}
                    if not has_cycle(moved) and not (single and (h == 0 or drop[0] == 0)):
                        best = max(best, graph_score(moved, numbers, arc, sibling))
            assert graph_score(then, numbers, arc, sibling) == pytest.approx(best, abs=1e-8)
        if np.array_equal(after.moves, before.moves):
            assert np.array_equal(graphs.best(), after.arcs) or single
            return
        before = after


@settings(max_examples=60, deadline=None)
@given(problems(), st.integers(0, 100))
def test_the_other_verbs_of_trees_and_graphs_follow_their_definitions(problem, seed):
    space, arc, sibling, start, single = problem
    rng = np.random.default_rng(seed)
    trees, graphs = RearrangedTrees(space, arc, sibling, single), DependencyGraphs(space, arc, sibling, single)
    best, graph = trees.best(), graphs.best()
    assert np.all(trees.score(best) >= trees.score(start) - 1e-9)
    other = grow_graph(space, -arc, -sibling, start).arcs
    tree_mask = np.zeros(space.n_arcs, dtype=bool)
    tree_mask[space.arcs_of(best)] = True
    assert graphs.score(tree_mask) == pytest.approx(trees.score(best))
    whole = trees.parts(best)
    assert whole.arc @ arc + whole.sibling @ sibling == pytest.approx(trees.score(best).sum())
    weight = rng.random(len(space))
    parts = graphs.parts(graph, weight)
    assert parts.arc @ arc + parts.sibling @ sibling == pytest.approx(weight @ graphs.score(graph))
    assert graphs.differs(graph, other) == pytest.approx(
        [len(graph_of(space, graph, s) ^ graph_of(space, other, s)) for s in range(len(space))]
    )
    gold = [len(graph_of(space, graph, s)) for s in range(len(space))]
    charged = graphs.augment(graphs.hamming(graph, 2.0)).score(other)
    assert charged == pytest.approx(graphs.score(other) + 2.0 * (graphs.differs(graph, other) - gold))
    charged = trees.augment(trees.hamming(best, 2.0)).score(start)
    assert charged == pytest.approx(trees.score(start) + 2.0 * trees.differs(best, start))
    assert np.array_equal(trees.restrict(trees.parts(start).arc > 0).best(), start)


def test_children_stay_in_order_on_their_side_after_a_crossing_move():
    space = all_arcs([0, 4])
    numbers = part_numbers(space)
    arc, sibling = np.zeros(space.n_arcs), np.zeros(space.n_siblings)
    for h, m in [(3, 1), (0, 3), (3, 4)]:
        arc[numbers[0][h, m]] = 10.0
    arc[numbers[0][4, 2]] = 5.0
    sibling[numbers[1][4, 2, None]] = 1.0
    model = RearrangedTrees(space, arc, sibling)
    assert model.best().tolist() == [3, 4, 0, 3]
    assert model.rearranged().moves.tolist() == [1]
    assert inner_sibling((3, 4, 0, 3), 1, 3) is None  # 2 has left, so that 1 is the first child of 3 on its side
    assert model.score([3, 4, 0, 3]).tolist() == [36.0]


def test_a_start_with_a_forbidden_part_and_a_negative_limit_are_named():
    space = ArcSpace([0, 1, 2], [0, 0], [1, 1], [0, 1])
    with pytest.raises(InferenceError, match="tree of sentence 1"):
        rearrange(space, [0.0, -np.inf], np.zeros(2), [0, 0])
    with pytest.raises(InferenceError, match="limit"):
        rearrange(space, [0.0, 0.0], np.zeros(2), [0, 0], limit=-1)

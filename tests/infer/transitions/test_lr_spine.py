"""The LR-spine system: its computations, spines, contexts and oracle."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spine_twins import spines_of_arcs
from transition_twins import (
    candidates,
    explore,
    gold_of,
    is_projective_tree,
    legal_actions,
    projective_trees,
    random_tree,
)

from weft.formats import read
from weft.infer.transitions import systems
from weft.infer.transitions.state import (
    FRONT,
    HEAD,
    L1,
    LEFT,
    NONDET,
    R1,
    RIGHT,
    SCALAR,
    SHIFT,
    SIZE,
    STACK,
    STATIC,
    Table,
    gold_table,
    new_state,
)
from weft.infer.transitions.systems import system_named
from weft.infer.trees.projectivity import is_projective

SYSTEM = system_named("lr-spine")
NUMBER = SYSTEM.number


def begin(n: int) -> Table:
    state = new_state(n)
    systems.start(NUMBER, state, n)
    return state


def ends(n: int, single_root: bool) -> tuple[set[tuple[int, ...]], set[int]]:
    """The trees and the lengths of all computations."""

    @cache
    def below(key: bytes) -> tuple[frozenset[tuple[int, ...]], frozenset[int]]:
        state = np.frombuffer(key, dtype=np.int32).reshape(-1, begin(n).shape[1]).copy()
        if systems.finished(NUMBER, state):
            return frozenset([tuple(state[1 : n + 1, HEAD].tolist())]), frozenset([0])
        trees: set[tuple[int, ...]] = set()
        lengths: set[int] = set()
        for action in legal_actions(SYSTEM, state, single_root=single_root):
            after = state.copy()
            systems.apply(NUMBER, after, *action)
            more, steps = below(after.tobytes())
            trees |= more
            lengths |= {1 + k for k in steps}
        return frozenset(trees), frozenset(lengths)

    trees, lengths = below(begin(n).tobytes())
    return set(trees), set(lengths)


@pytest.mark.must_show("lr-spine-parser", 1)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("single_root", [False, True])
def test_computations_build_exactly_the_projective_trees_in_as_many_moves_as_the_paper_says(n, single_root):
    trees, lengths = ends(n, single_root)
    assert trees == set(projective_trees(n, single_root))
    assert lengths == {2 * n}  # and the SHIFT of ROOT, which the start has done: 2n + 1


@pytest.mark.must_show("lr-spine-parser", 1)
@pytest.mark.parametrize("n", [5, 6])
def test_the_oracle_builds_every_projective_tree_of_up_to_six_words(n):
    trees = all_projective_trees(n)
    assert len(trees) == {5: 273, 6: 1428}[n]
    for heads in trees:
        for oracle in (STATIC, NONDET):
            state, steps = begin(n), 0
            gold = gold_of((heads, (0,) * n))
            while not systems.finished(NUMBER, state):
                follow(state, gold, oracle, pick=-1)
                steps += 1
            assert tuple(state[1 : n + 1, HEAD].tolist()) == heads
            assert steps == 2 * n


def all_projective_trees(n: int) -> list[tuple[int, ...]]:
    """Every projective tree over n words, built from the outside in: 0 heads a row of spans, each with its root."""

    @cache
    def spans(low: int, high: int, head: int) -> tuple[dict[int, int], ...]:
        if low > high:
            return ({},)
        return tuple(
            {root: head, **left, **right, **rest}
            for end in range(low, high + 1)
            for root in range(low, end + 1)
            for left in spans(low, root - 1, root)
            for right in spans(root + 1, end, root)
            for rest in spans(end + 1, high, head)
        )

    found = {tuple(tree[word] for word in range(1, n + 1)) for tree in spans(1, n, 0)}
    assert all(is_projective_tree(tree) for tree in found)
    return sorted(found)


def follow(state: Table, gold: Table, oracle: int, pick: int) -> int:
    """Make one of the moves that an oracle allows; returns how many there were."""
    systems.price(NUMBER, state, gold, oracle)
    actions = legal_actions(SYSTEM, state)
    free = [action for action in actions if systems.cost(NUMBER, state, gold, *action[:2]) == 0]
    assert free
    systems.apply(NUMBER, state, *free[pick % len(free)])
    return len(free)


@pytest.mark.must_show("lr-spine-parser", 1)
@settings(max_examples=60, deadline=None)
@given(n=st.integers(5, 25), seed=st.integers(0, 10**6))
def test_random_computations_end_with_a_projective_tree_after_two_moves_a_word(n, seed):
    rng, state, steps = np.random.default_rng(seed), begin(n), 0
    while not systems.finished(NUMBER, state):
        actions = legal_actions(SYSTEM, state)
        systems.apply(NUMBER, state, *actions[int(rng.integers(len(actions)))])
        steps += 1
    heads = state[1 : n + 1, HEAD].copy()
    assert is_projective_tree(tuple(heads.tolist()))
    assert is_projective(heads)
    assert steps == 2 * n


@pytest.mark.must_show("lr-spine-parser", 4)
@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 20), seed=st.integers(0, 10**6))
def test_spines_are_those_of_the_arcs_and_candidates_are_the_places_on_them(n, seed):
    rng, state = np.random.default_rng(seed), begin(n)
    while True:
        size, front = int(state[SIZE, SCALAR]), int(state[FRONT, SCALAR])
        for root in state[:size, STACK].tolist():
            left, right = [root], [root]
            while state[left[-1], L1] >= 0:
                left.append(int(state[left[-1], L1]))
            while state[right[-1], R1] >= 0:
                right.append(int(state[right[-1], R1]))
            assert (tuple(left), tuple(right)) == spines_of_arcs(state, root, front)
        if size >= 2:
            s1, s2 = int(state[size - 1, STACK]), int(state[size - 2, STACK])
            left_spine = spines_of_arcs(state, s1, front)[0][1:] if s2 > 0 else ()
            assert list(candidates(SYSTEM, state)) == [0, *left_spine, *spines_of_arcs(state, s2, front)[1][1:]]
        if systems.finished(NUMBER, state):
            break
        actions = legal_actions(SYSTEM, state)
        systems.apply(NUMBER, state, *actions[int(rng.integers(len(actions)))])


def test_an_attachment_waits_until_both_places_are_open():
    # saw man with telescope: after saw -> man and with -> telescope, `with` can hang on either of them.
    state = begin(4)
    for move in (SHIFT, SHIFT, RIGHT, SHIFT, SHIFT, RIGHT):
        systems.apply(NUMBER, state, 0, move, 0)
    arcs = {systems.arc(NUMBER, state, candidate, move) for candidate, move, _ in legal_actions(SYSTEM, state)}
    assert {(1, 3), (2, 3)} <= arcs
    systems.apply(NUMBER, state, 2, RIGHT, 0)
    assert state[1:5, HEAD].tolist() == [-1, 1, 2, 3]
    systems.apply(NUMBER, state, 0, RIGHT, 0)
    assert systems.finished(NUMBER, state)


def test_contexts_are_those_of_the_table_in_the_paper():
    # 1 -> 2 -> 3 below 4 <- 5 6: the stack is ROOT, 1 (right spine 1 2 3) and 6 (left spine 6 5 4), 7 and 8 follow.
    state = begin(8)
    for move in (SHIFT, SHIFT, SHIFT, RIGHT, RIGHT, SHIFT, SHIFT, LEFT, SHIFT, LEFT):
        systems.apply(NUMBER, state, 0, move, 0)
    assert state[1:7, HEAD].tolist() == [-1, 1, 2, 5, 6, -1]
    out = np.zeros(16, dtype=np.int32)

    def context(candidate: int) -> list[int]:
        systems.bases(NUMBER, state, candidate, out)
        return out[: len(SYSTEM.bases)].tolist()

    assert SYSTEM.bases == ("S1", "S2", "S3", "Q1", "Q2", "GP", "GG")
    assert context(0) == [6, 1, 0, 7, 8, -1, -1]
    assert context(5) == [5, 1, 0, 6, 7, 6, -1]
    assert context(4) == [4, 1, 0, 5, 6, 5, 6]
    assert context(2) == [6, 2, 1, 7, 8, 1, -1]
    assert context(3) == [6, 3, 2, 7, 8, 2, 1]
    assert [systems.legal(NUMBER, state, candidate, True) for candidate in (5, 2)] == [1 << LEFT, 1 << RIGHT]


@pytest.mark.must_show("lr-spine-parser", 3)
@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 40), seed=st.integers(0, 10**6))
def test_any_mixture_of_right_moves_ends_in_the_gold_tree(n, seed):
    rng, heads = np.random.default_rng(seed), random_tree(n, seed)
    gold, state = gold_of((heads, (0,) * n)), begin(n)
    while not systems.finished(NUMBER, state):
        assert follow(state, gold, NONDET, int(rng.integers(100))) <= 2
    assert tuple(state[1 : n + 1, HEAD].tolist()) == heads


@pytest.mark.must_show("lr-spine-parser", 3)
def test_any_mixture_of_right_moves_ends_in_the_gold_tree_of_a_treebank(corpus_file):
    path = corpus_file("treebanks/other/wsj-dependency-sample/wsj.dp.gz")
    rng, trees = np.random.default_rng(0), 0
    for doc in read(path, format="columns", fields="form xpos head").take_sentences(500):
        for first, end in zip(doc.sentence_offsets[:-1].tolist(), doc.sentence_offsets[1:].tolist(), strict=True):
            heads = np.ascontiguousarray(doc.head[first:end], np.int32)
            if not is_projective(heads):
                continue
            gold, state = gold_table(heads, np.zeros(len(heads), np.int32)), begin(len(heads))
            while not systems.finished(NUMBER, state):
                follow(state, gold, NONDET, int(rng.integers(100)))
            assert (state[1 : len(heads) + 1, HEAD] == heads).all()
            trees += 1
    assert trees > 450


def test_the_static_oracle_takes_a_gold_arc_as_soon_as_there_is_one():
    golds = [gold_of((heads, (0,) * 4)) for heads in projective_trees(4)]
    for gold in golds:
        state = begin(4)
        while not systems.finished(NUMBER, state):
            assert follow(state, gold, STATIC, 0) == 1


def test_every_configuration_is_met_by_arc_standard_too():
    # Spines open more ways, not more forests: the projective ones are the same.
    trees = [(heads, (0,) * 3) for heads in projective_trees(3)]
    assert set(explore(SYSTEM, 3, trees)) == set(explore(system_named("arc-standard"), 3, trees))

"""The Edit transition: its oracle against exhaustive search, what holds in every state, and the paper's example."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transition_twins import cost_of, explore, gold_of, labelled, legal_actions, projective_trees, unlabelled

from weft.infer.transitions import systems
from weft.infer.transitions.state import (
    EDIT,
    FRONT,
    HEAD,
    HEADLESS,
    L1,
    LE,
    LEFT,
    LENGTH,
    LV,
    R1,
    REDUCE,
    RIGHT,
    RV,
    SCALAR,
    SHIFT,
    SIZE,
    STACK,
    new_state,
)
from weft.infer.transitions.systems import EDITING


def analyses(n: int) -> list[tuple[int, ...]]:
    """Every gold analysis of n words: a projective tree over some of them; the others are their own heads."""
    found = []
    for kept in range(n + 1):
        for words in combinations(range(1, n + 1), kept):
            for tree in projective_trees(kept):
                heads = list(range(1, n + 1))
                for word, head in zip(words, tree, strict=True):
                    heads[word - 1] = words[head - 1] if head else 0
                found.append(tuple(heads))
    return found


def begin(n: int) -> np.ndarray:
    state = new_state(n)
    systems.start(EDITING.number, state, n)
    return state


def stack_of(state: np.ndarray) -> list[int]:
    return state[: state[SIZE, SCALAR], STACK].tolist()


def check_rules(n: int, labels: int = 1) -> int:
    """Compare the rules with reachability wherever gold can be reached; returns the number of transitions."""
    golds = labelled(analyses(n), labels) if labels > 1 else unlabelled(analyses(n))
    golds = [(heads, tuple(-1 if h == w else m for w, (h, m) in enumerate(zip(heads, marks, strict=True), 1)))
             for heads, marks in golds]  # fmt: skip
    golds = list(dict.fromkeys(golds))
    tables = [gold_of(gold) for gold in golds]
    checked = 0
    for configuration in explore(EDITING, n, golds, labels).values():
        for g in np.flatnonzero(configuration.least == 0):
            for action, after in zip(configuration.actions, configuration.after, strict=True):
                free = cost_of(EDITING, configuration.state, tables[g], *action) == 0
                assert free == (after.least[g] == 0), (golds[g], action, configuration.state[: n + 2])
                checked += 1
    return checked


@pytest.mark.must_show("disfluency-parser", 1)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_moves_without_cost_are_those_that_keep_the_gold_analysis_within_reach(n):
    assert check_rules(n) > 0


@pytest.mark.must_show("disfluency-parser", 1)
def test_moves_without_cost_are_those_that_keep_gold_within_reach_for_five_words():
    assert check_rules(5) > 59_000


@pytest.mark.must_show("disfluency-parser", 1)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_wrong_label_costs_on_gold_arcs_only(n):
    assert check_rules(n, labels=2) > 0


def check_state(state: np.ndarray, n: int) -> None:
    """What holds in every state: D without arcs, a stack in order, what nodes know of their children."""
    heads = state[: n + 1, HEAD].tolist()
    stack = stack_of(state)
    assert stack == sorted(stack)
    struck = {word for word in range(1, n + 1) if heads[word] == word}
    assert not struck & set(stack)
    assert all(heads[word] not in struck for word in range(1, n + 1) if word not in struck)
    assert state[HEADLESS, SCALAR] == sum(heads[word] < 0 for word in stack)
    for word in range(1, n + 1):
        left = [child for child in range(1, word) if heads[child] == word]
        right = [child for child in range(word + 1, n + 1) if heads[child] == word]
        if word in struck:
            left = right = []
        assert (state[word, LV], state[word, RV]) == (len(left), len(right))
        assert state[word, L1] == (left[0] if left else -1)
        assert state[word, R1] == (right[-1] if right else -1)
        below, edge = [word], word
        while below:
            node = below.pop()
            edge = min(edge, node)
            below += [child for child in range(1, n + 1) if heads[child] == node != child]
        assert state[word, LE] == edge


@pytest.mark.must_show("disfluency-parser", 2)
def test_in_every_state_arcs_avoid_struck_words_and_the_stack_is_in_order():
    for n in (1, 2, 3, 4):
        configurations = explore(EDITING, n, unlabelled(analyses(n)))
        for configuration in configurations.values():
            check_state(configuration.state, n)
        ends = {tuple(one.state[1 : n + 1, HEAD].tolist()) for one in configurations.values() if not one.actions}
        assert ends == set(analyses(n))


@pytest.mark.must_show("disfluency-parser", 2)
@settings(max_examples=100, deadline=None)
@given(st.integers(1, 40), st.integers(0, 10**6), st.booleans())
def test_random_computations_end_and_with_one_root_if_so_asked(n, seed, single_root):
    rng = np.random.default_rng(seed)
    state, moves = begin(n), 0
    while not systems.finished(EDITING.number, state):
        actions = legal_actions(EDITING, state, single_root=single_root)
        edits = [action for action in actions if action[1] == EDIT]
        lefts = [action for action in actions if action[1] == LEFT]
        # Left arcs and edits as often as can be: words come back many times.
        favoured = edits if rng.random() < 0.3 else lefts
        chosen = favoured or actions
        systems.apply(EDITING.number, state, *chosen[int(rng.integers(len(chosen)))])
        check_state(state, n)
        moves += 1
    assert moves <= EDITING.most_steps(n)
    assert (state[1 : n + 1, HEAD] >= 0).all()
    if single_root:
        assert (state[1 : n + 1, HEAD] == 0).sum() == 1


@pytest.mark.must_show("disfluency-parser", 3)
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_walks_over_moves_without_cost_end_at_gold(data):
    n = data.draw(st.integers(1, 14))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    gold_heads = random_analysis(n, rng)
    gold = gold_of((gold_heads, (0,) * n))
    state = begin(n)
    while not systems.finished(EDITING.number, state):
        free = [a for a in legal_actions(EDITING, state) if cost_of(EDITING, state, gold, *a) == 0]
        assert free
        systems.apply(EDITING.number, state, *free[int(rng.integers(len(free)))])
    assert tuple(state[1 : n + 1, HEAD].tolist()) == gold_heads


def random_analysis(n: int, rng: np.random.Generator) -> tuple[int, ...]:
    kept = np.flatnonzero(rng.random(n) < 0.6) + 1
    heads = np.arange(1, n + 1)

    def hang(low: int, high: int, head: int) -> None:
        while low <= high:
            end = int(rng.integers(low, high + 1))
            root = int(rng.integers(low, end + 1))
            heads[kept[root] - 1] = head
            hang(low, root - 1, int(kept[root]))
            hang(root + 1, end, int(kept[root]))
            low = end + 1

    hang(0, len(kept) - 1, 0)
    return tuple(heads.tolist())


@pytest.mark.must_show("disfluency-parser", 4)
def test_the_worked_example_company_comes_back_and_hangs_on_the_repair():
    # his company went broke i_mean went bankrupt: went(3) and broke are struck out.
    gold_heads = (2, 6, 3, 4, 6, 0, 6)
    gold, state = gold_of((gold_heads, (0,) * 7)), begin(7)
    derivation = [SHIFT, LEFT, SHIFT, LEFT, SHIFT, RIGHT, REDUCE, SHIFT, LEFT, EDIT, LEFT, SHIFT, RIGHT, REDUCE, LEFT]
    for step, move in enumerate(derivation):
        assert (0, move, 0 if move in (LEFT, RIGHT) else -1) in legal_actions(EDITING, state)
        assert systems.cost(EDITING.number, state, gold, 0, move) == 0
        if move == EDIT:
            assert stack_of(state) == [3]
            assert state[2, HEAD] == 3
        systems.apply(EDITING.number, state, 0, move, 0)
        if move == EDIT:
            assert stack_of(state) == [2]  # company, without a head
            assert state[2, HEAD] == -1
            assert state[[3, 4], HEAD].tolist() == [3, 4]
            assert state[5, HEAD] == 6  # i_mean hangs on the repair and is not touched
            assert step == 9
    assert systems.finished(EDITING.number, state)
    assert state[FRONT, SCALAR] > state[LENGTH, SCALAR]
    assert tuple(state[1:8, HEAD].tolist()) == gold_heads


def test_an_edit_gives_the_head_its_other_children_back():
    # a -> b, a -> c, then c is struck out: b is the outermost child of a again.
    state = begin(4)
    for move in (SHIFT, RIGHT, REDUCE, RIGHT, EDIT):
        systems.apply(EDITING.number, state, 0, move, 0)
    assert (state[1, R1], state[1, RV]) == (2, 1)
    assert stack_of(state) == [1]
    check_state(state, 4)

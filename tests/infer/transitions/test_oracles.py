"""Costs, oracles and reachability of transition systems, against exhaustive search."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transition_twins import (
    check_costs,
    cost_of,
    explore,
    gold_of,
    is_projective_tree,
    legal_actions,
    projective_trees,
    random_tree,
    unlabelled,
)

from weft.infer.transitions import systems
from weft.infer.transitions.state import HEAD, LEFT, RIGHT, SHIFT, gold_table, new_state
from weft.infer.transitions.systems import SYSTEMS, system_named

EXACT = ["arc-eager", "arc-hybrid", "easy-first"]


@pytest.mark.must_show("dynamic-oracles", 1)
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_costs_equal_exhaustive_search_over_all_configurations_and_projective_trees(name, n):
    assert check_costs(name, n) > 0


@pytest.mark.must_show("dynamic-oracles", 1)
@pytest.mark.parametrize("name", EXACT)
def test_costs_equal_exhaustive_search_for_five_words(name):
    assert check_costs(name, 5) > 30_000


@pytest.mark.must_show("dynamic-oracles", 1)
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_costs_with_two_labels_equal_exhaustive_search(name, n):
    assert check_costs(name, n, labels=2) > 0


@pytest.mark.parametrize("name", ["arc-hybrid", "easy-first"])
@pytest.mark.parametrize("n", [2, 3, 4])
def test_costs_stay_exact_when_root_takes_one_child_last(name, n):
    assert check_costs(name, n, single_root=True) > 0


@pytest.mark.must_show("dynamic-oracles", 2)
@pytest.mark.parametrize("name", EXACT)
def test_some_move_costs_nothing_and_following_such_moves_realizes_the_least_loss(name):
    system, n = system_named(name), 4
    golds = unlabelled(projective_trees(n))
    tables = [gold_of(tree) for tree in golds]
    for configuration in explore(system, n, golds).values():
        for g, gold in enumerate(tables):
            here = configuration
            while here.actions:
                free = [
                    after
                    for action, after in zip(here.actions, here.after, strict=True)
                    if cost_of(system, here.state, gold, *action) == 0
                ]
                assert free
                here = free[-1]
            assert here.least[g] == configuration.least[g]


@pytest.mark.must_show("dynamic-oracles", 3)
@pytest.mark.parametrize("name", list(SYSTEMS))
def test_where_gold_can_be_reached_the_oracle_allows_exactly_the_moves_that_keep_it_so(name):
    system, n = system_named(name), 4
    golds = unlabelled(projective_trees(n))
    tables = [gold_of(tree) for tree in golds]
    for configuration in explore(system, n, golds).values():
        for g in np.flatnonzero(configuration.least == 0):
            if not configuration.actions:
                continue
            gold = tables[g]
            dynamic = {a for a in configuration.actions if cost_of(system, configuration.state, gold, *a) == 0}
            pairs = zip(configuration.actions, configuration.after, strict=True)
            nondeterministic = {action for action, after in pairs if after.least[g] == 0}
            assert dynamic == nondeterministic
            move = systems.canonical(system.number, configuration.state, gold)
            if move >= 0:
                assert move in {move for _, move, _ in dynamic}


@pytest.mark.parametrize("name", [name for name, system in SYSTEMS.items() if not system.many])
def test_the_static_oracle_builds_every_projective_tree(name):
    system = system_named(name)
    for n in range(1, 6):
        for heads in projective_trees(n):
            gold = gold_of((heads, (0,) * n))
            state = new_state(n)
            systems.start(system.number, state, n)
            while not systems.finished(system.number, state):
                systems.apply(system.number, state, 0, systems.canonical(system.number, state, gold), 0)
            assert tuple(state[1 : n + 1, HEAD]) == heads


@pytest.mark.parametrize("name", [name for name, system in SYSTEMS.items() if system.projective])
@pytest.mark.parametrize("single_root", [False, True])
def test_every_computation_ends_with_a_projective_tree_and_every_tree_is_built(name, single_root):
    system, n = system_named(name), 4
    golds = unlabelled(projective_trees(n, single_root))
    configurations = explore(system, n, golds, single_root=single_root)
    ends = {tuple(one.state[1 : n + 1, HEAD].tolist()) for one in configurations.values() if not one.actions}
    assert ends == {heads for heads, _ in golds}


def arc_decomposable(name: str, n: int) -> bool:
    """Whether, from every configuration, arcs that can be built one by one and fit together can be built together."""
    system = system_named(name)
    trees = projective_trees(n)
    golds = unlabelled(trees)
    configurations = explore(system, n, golds)
    for configuration in configurations.values():
        ends = set()
        stack, seen = [configuration], set()
        while stack:
            here = stack.pop()
            if id(here) in seen:
                continue
            seen.add(id(here))
            if not here.actions:
                ends.add(tuple(here.state[1 : n + 1, HEAD].tolist()))
            stack.extend(here.after)
        single = {(word, head) for end in ends for word, head in enumerate(end)}
        for tree in trees:
            arcs = [(word, head) for word, head in enumerate(tree) if (word, head) in single]
            if not any(all(end[word] == head for word, head in arcs) for end in ends):
                return False
    return True


@pytest.mark.must_show("dynamic-oracles", 4)
def test_arc_standard_is_not_arc_decomposable_and_the_others_are():
    assert not arc_decomposable("arc-standard", 3)
    for name in EXACT:
        assert arc_decomposable(name, 3)


@pytest.mark.must_show("dynamic-oracles", 4)
def test_the_counter_example_of_arc_standard():
    # Stack a, b, c: c -> b and b -> a can each be built, not both.
    system = system_named("arc-standard")
    state = new_state(3)
    systems.start(system.number, state, 3)
    for _ in range(3):
        systems.apply(system.number, state, 0, SHIFT, -1)

    def ends(state: np.ndarray) -> set[tuple[int, ...]]:
        if systems.finished(system.number, state):
            return {tuple(state[1:4, HEAD].tolist())}
        found = set()
        for candidate, move, label in legal_actions(system, state):
            after = state.copy()
            systems.apply(system.number, after, candidate, move, label)
            found |= ends(after)
        return found

    reached = ends(state)
    assert any(end[1] == 3 for end in reached)
    assert any(end[0] == 2 for end in reached)
    assert not any(end[1] == 3 and end[0] == 2 for end in reached)


def test_the_worked_example_of_the_sheet():
    # She wrote the long letter . with wrote (2) as root; 5 is letter.
    heads, system = [2, 0, 5, 5, 2, 2], system_named("arc-eager")
    gold = gold_table(np.array(heads, np.int32), np.zeros(6, np.int32))
    state = new_state(6)
    systems.start(system.number, state, 6)
    for move in (SHIFT, LEFT, SHIFT):
        systems.apply(system.number, state, 0, move, 0)
    assert systems.cost(system.number, state, gold, 0, RIGHT) == 1
    systems.apply(system.number, state, 0, RIGHT, 0)
    costs = {move: systems.cost(system.number, state, gold, 0, move) for _, move, _ in legal_actions(system, state)}
    assert costs == {SHIFT: 0, 3: 0, RIGHT: 1}


@settings(max_examples=60, deadline=None)
@given(st.data())
@pytest.mark.parametrize("name", EXACT)
def test_long_random_walks_end_with_as_many_errors_as_moves_cost(name, data):
    system = system_named(name)
    n = data.draw(st.integers(6, 25))
    heads = random_tree(n, data.draw(st.integers(0, 10**6)))
    gold = gold_of((heads, (0,) * n))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    state = new_state(n)
    systems.start(system.number, state, n)
    total = 0
    while not systems.finished(system.number, state):
        actions = legal_actions(system, state)
        costs = [cost_of(system, state, gold, *action) for action in actions]
        assert min(costs) == 0
        pick = int(rng.integers(len(actions))) if rng.random() < 0.3 else int(np.argmin(costs))
        total += costs[pick]
        systems.apply(system.number, state, *actions[pick])
    assert int((state[1 : n + 1, HEAD] != np.array(heads)).sum()) == total


def test_there_are_as_many_projective_trees_as_counted_by_hand():
    assert [len(projective_trees(n)) for n in (1, 2, 3)] == [1, 3, 12]
    assert all(is_projective_tree(tree) for tree, _ in combinations(projective_trees(3), 2))

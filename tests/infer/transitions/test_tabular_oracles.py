"""The oracles of arc-standard and LR-spine, found by dynamic programming, against exhaustive search."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spine_twins import unpruned_spine_loss
from steps import exponent, steps_of
from transition_twins import (
    check_costs,
    cost_of,
    explore,
    gold_of,
    legal_actions,
    projective_trees,
    random_tree,
    unlabelled,
)

from weft.infer.transitions import spine_table, systems, tabular
from weft.infer.transitions.state import (
    DYNAMIC,
    HEAD,
    LEFT,
    NONDET,
    OWN1,
    OWN2,
    RIGHT,
    SHIFT,
    Table,
    gold_table,
    new_state,
)
from weft.infer.transitions.systems import TransitionSystem, system_named

TABULAR = ["arc-standard", "lr-spine"]
NO_SIZES = np.zeros(0, dtype=np.int64)


def remaining(name: str, state: Table, gold: Table) -> int:
    if name == "arc-standard":
        return tabular.remaining_loss(state, gold)
    return spine_table.remaining_loss(state, gold, NO_SIZES)


def walk(system: TransitionSystem, n: int, moves: str) -> Table:
    """The state after moves at candidate 0: s, l, r."""
    state = new_state(n)
    systems.start(system.number, state, n)
    for move in moves:
        systems.apply(system.number, state, 0, "slr".index(move), 0)
    return state


@pytest.mark.must_show("tabular-dynamic-oracles", 1)
@pytest.mark.parametrize("name", TABULAR)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_losses_equal_exhaustive_search_over_all_configurations_and_projective_trees(name, n):
    system, trees = system_named(name), unlabelled(projective_trees(n))
    tables, heads = [gold_of(tree) for tree in trees], np.array([heads for heads, _ in trees])
    checked = 0
    for configuration in explore(system, n, trees).values():
        found = configuration.state[1 : n + 1, HEAD]
        wrong = ((found >= 0) & (found != heads)).sum(axis=1)
        for gold, built, least in zip(tables, wrong.tolist(), configuration.least.tolist(), strict=True):
            assert remaining(name, configuration.state, gold) + built == least
            checked += 1
    assert checked > (200_000 if n == 5 else 0)


@pytest.mark.must_show("tabular-dynamic-oracles", 1)
@pytest.mark.parametrize("name", TABULAR)
@pytest.mark.parametrize("single_root", [False, True])
def test_costs_equal_exhaustive_search_with_labels_and_with_a_single_root(name, single_root):
    assert check_costs(name, 4, single_root=single_root) > 3_000
    assert check_costs(name, 3, labels=2, single_root=single_root) > 0


@pytest.mark.must_show("tabular-dynamic-oracles", 1)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_pruned_and_unpruned_spine_tables_agree_on_all_configurations(n):
    trees = projective_trees(n)
    for configuration in explore(system_named("lr-spine"), n, unlabelled(trees)).values():
        for heads in trees:
            expected, _ = unpruned_spine_loss(configuration.state, heads)
            assert remaining("lr-spine", configuration.state, gold_of((heads, (0,) * n))) == expected


@pytest.mark.must_show("tabular-dynamic-oracles", 1)
@settings(max_examples=60, deadline=None)
@given(n=st.integers(6, 11), seed=st.integers(0, 10**6))
def test_pruned_and_unpruned_spine_tables_agree_on_random_walks(n, seed):
    system, rng = system_named("lr-spine"), np.random.default_rng(seed)
    heads = random_tree(n, seed)
    gold, state = gold_of((heads, (0,) * n)), new_state(n)
    systems.start(system.number, state, n)
    while not systems.finished(system.number, state):
        sizes = np.zeros(2 * n + 2, dtype=np.int64)
        found = spine_table.remaining_loss(state, gold, sizes)
        expected, pairs = unpruned_spine_loss(state, heads)
        assert found == expected
        assert sizes.max() <= pairs
        actions = legal_actions(system, state)
        systems.apply(system.number, state, *actions[int(rng.integers(len(actions)))])


@pytest.mark.must_show("tabular-dynamic-oracles", 2)
@pytest.mark.parametrize("name", TABULAR)
def test_some_move_costs_nothing_and_following_such_moves_realizes_the_loss(name):
    system, n = system_named(name), 4
    trees = unlabelled(projective_trees(n))
    tables = [gold_of(tree) for tree in trees]
    for configuration in explore(system, n, trees).values():
        for g, gold in enumerate(tables):
            here = configuration
            while here.actions:
                pairs = zip(here.actions, here.after, strict=True)
                free = [after for action, after in pairs if cost_of(system, here.state, gold, *action) == 0]
                assert free
                here = free[-1]
            assert here.least[g] == configuration.least[g]


@pytest.mark.must_show("tabular-dynamic-oracles", 3)
@settings(max_examples=25, deadline=None)
@given(n=st.integers(30, 60), seed=st.integers(0, 10**6))
@pytest.mark.parametrize("name", TABULAR)
def test_following_the_oracle_in_long_sentences_ends_with_exactly_the_loss_foretold(name, n, seed):
    system, rng = system_named(name), np.random.default_rng(seed)
    heads = random_tree(n, seed)
    gold, state = gold_of((heads, (0,) * n)), new_state(n)
    systems.start(system.number, state, n)
    for _ in range(int(rng.integers(2 * n))):
        actions = legal_actions(system, state)
        systems.apply(system.number, state, *actions[int(rng.integers(len(actions)))])
    found = state[1 : n + 1, HEAD]
    foretold = int(((found >= 0) & (found != np.array(heads))).sum()) + remaining(name, state, gold)
    while not systems.finished(system.number, state):
        systems.price(system.number, state, gold, DYNAMIC)
        free = [action for action in legal_actions(system, state) if cost_of(system, state, gold, *action) == 0]
        assert free
        systems.apply(system.number, state, *free[int(rng.integers(len(free)))])
    assert int((state[1 : n + 1, HEAD] != np.array(heads)).sum()) == foretold


@pytest.mark.must_show("tabular-dynamic-oracles", 4)
@pytest.mark.must_show("lr-spine-parser", 2)
@pytest.mark.parametrize("name", TABULAR)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_where_gold_can_be_reached_the_rules_allow_exactly_the_moves_that_keep_it_so(name, n):
    system, trees = system_named(name), unlabelled(projective_trees(n))
    tables = [gold_of(tree) for tree in trees]
    checked = 0
    for configuration in explore(system, n, trees).values():
        for g in np.flatnonzero(configuration.least == 0):
            systems.price(system.number, configuration.state, tables[g], NONDET)
            for action, after in zip(configuration.actions, configuration.after, strict=True):
                rule = systems.cost(system.number, configuration.state, tables[g], *action[:2])
                assert (rule == 0) == (after.least[g] == 0), (action, tables[g])
                checked += 1
            configuration.state[0, OWN1] = 0
    if n == 5:
        assert checked > (10_000 if name == "lr-spine" else 5_000)


@pytest.mark.parametrize("name", TABULAR)
def test_costs_noted_at_once_are_those_found_one_by_one_and_go_with_the_next_move(name):
    system, n = system_named(name), 4
    for heads in projective_trees(n):
        gold, state = gold_of((heads, (0,) * n)), new_state(n)
        rng = np.random.default_rng(0)
        systems.start(system.number, state, n)
        while not systems.finished(system.number, state):
            actions = legal_actions(system, state)
            one_by_one = [cost_of(system, state, gold, *action) > 0 for action in actions]
            systems.price(system.number, state, gold, DYNAMIC)
            assert [cost_of(system, state, gold, *action) > 0 for action in actions] == one_by_one
            systems.apply(system.number, state, *actions[int(rng.integers(len(actions)))])
            assert state[0, OWN1] == 0


@pytest.mark.must_show("tabular-dynamic-oracles", 4)
@pytest.mark.parametrize("name", TABULAR)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_rules_hold_after_mistakes_as_long_as_no_other_gold_arc_is_lost(name, n):
    system, trees = system_named(name), unlabelled(projective_trees(n))
    tables, heads = [gold_of(tree) for tree in trees], np.array([heads for heads, _ in trees])
    after_mistakes = 0
    for configuration in explore(system, n, trees).values():
        found = configuration.state[1 : n + 1, HEAD]
        built = ((found >= 0) & (found != heads)).sum(axis=1)
        for g in np.flatnonzero(configuration.least == built):
            state = configuration.state.copy()
            systems.price(system.number, state, tables[g], NONDET)
            for action, after in zip(configuration.actions, configuration.after, strict=True):
                rule = systems.cost(system.number, state, tables[g], *action[:2])
                assert (rule == 0) == (after.least[g] == configuration.least[g]), (action, tables[g])
            after_mistakes += built[g] > 0
    assert after_mistakes > 0


@settings(max_examples=40, deadline=None)
@given(n=st.integers(5, 25), seed=st.integers(0, 10**6), mistakes=st.floats(0, 1))
@pytest.mark.parametrize("name", TABULAR)
def test_the_loss_carried_from_move_to_move_gives_the_same_oracle_as_tables_for_each(name, n, seed, mistakes):
    system, rng = system_named(name), np.random.default_rng(seed)
    heads = random_tree(n, seed)
    gold, state = gold_of((heads, (0,) * n)), new_state(n)
    systems.start(system.number, state, n)
    while not systems.finished(system.number, state):
        actions = legal_actions(system, state)
        fresh = state.copy()
        fresh[:, OWN1] = fresh[:, OWN2] = 0
        exact = [cost_of(system, fresh, gold, *action) for action in actions]
        systems.price(system.number, state, gold, DYNAMIC)
        assert [cost_of(system, state, gold, *action) > 0 for action in actions] == [each > 0 for each in exact]
        choice = actions if rng.random() < mistakes else [a for a, each in zip(actions, exact, strict=True) if not each]
        systems.apply(system.number, state, *choice[int(rng.integers(len(choice)))])


@settings(max_examples=40, deadline=None)
@given(n=st.integers(3, 25), seed=st.integers(0, 10**6), most=st.integers(0, 6))
def test_a_spine_table_with_a_limit_tells_the_loss_up_to_it_and_anything_larger_beyond(n, seed, most):
    system, rng = system_named("lr-spine"), np.random.default_rng(seed)
    gold, state = gold_of((random_tree(n, seed), (0,) * n)), new_state(n)
    systems.start(system.number, state, n)
    while not systems.finished(system.number, state):
        loss, within = remaining("lr-spine", state, gold), spine_table.loss_within(state, gold, most, NO_SIZES)
        assert within == loss if loss <= most else within > most
        actions = legal_actions(system, state)
        systems.apply(system.number, state, *actions[int(rng.integers(len(actions)))])


def test_the_worked_example_of_arc_standard():
    # ROOT -> 2, 2 -> 1, 2 -> 3 with 0 1 2 3 on the stack: only 2 -> 3 loses nothing, 3 -> 2 loses everything.
    gold = gold_table(np.array([2, 0, 2], np.int32), np.zeros(3, np.int32))
    system = system_named("arc-standard")
    state = walk(system, 3, "sss")
    assert remaining("arc-standard", state, gold) == 0
    assert [systems.cost(system.number, state, gold, 0, move) for move in (LEFT, RIGHT)] == [3, 0]
    state = walk(system, 3, "ss")
    assert [systems.cost(system.number, state, gold, 0, move) for move in (SHIFT, LEFT, RIGHT)] == [0, 0, 3]


def test_tables_with_more_than_64_elements_need_more_than_one_word_of_bits():
    # 150 words on the stack, each the head of the one before: LEFT again and again loses nothing.
    n = 150
    gold = gold_table(np.array([*range(2, n + 1), 0], np.int32), np.zeros(n, np.int32))
    state = walk(system_named("lr-spine"), n, "s" * n)
    assert remaining("lr-spine", state, gold) == 0
    reverse = gold_table(np.array([0, *range(1, n)], np.int32), np.zeros(n, np.int32))
    assert remaining("lr-spine", state, reverse) == 0
    assert remaining("arc-standard", walk(system_named("arc-standard"), n, "s" * n), reverse) == 0


@pytest.mark.must_show("tabular-dynamic-oracles", 3)
@pytest.mark.parametrize("name", TABULAR)
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_of_a_stack_of_more_than_64_words_is_what_following_the_oracle_comes_to(name, seed):
    system, n = system_named(name), 90
    heads = random_tree(n, seed)
    gold, state = gold_of((heads, (0,) * n)), walk(system, n, "s" * n)
    foretold = remaining(name, state, gold)
    while not systems.finished(system.number, state):
        systems.price(system.number, state, gold, DYNAMIC)
        systems.apply(
            system.number,
            state,
            *next(a for a in legal_actions(system, state) if cost_of(system, state, gold, *a) == 0),
        )
    assert int((state[1 : n + 1, HEAD] != np.array(heads)).sum()) == foretold


def test_long_sentences_and_large_tables_fall_back_on_the_rules_for_gold_paths():
    n = tabular.LONGEST + 1
    gold = gold_table(np.array([*range(2, n + 1), 0], np.int32), np.zeros(n, np.int32))
    for name in TABULAR:
        system = system_named(name)
        state = walk(system, n, "ss")
        systems.price(system.number, state, gold, DYNAMIC)
        costs = [systems.cost(system.number, state, gold, 0, move) for move in (SHIFT, LEFT, RIGHT)]
        assert costs == ([1, 0, 1] if name == "arc-standard" else [0, 0, 1])


LENGTHS = (10, spine_table.LARGEST - 1, 390)


def shifted(n: int) -> tuple[Table, Table]:
    """Gold, and everything shifted: as many elements as there can be. Beyond the largest table rules answer at once."""
    return gold_of((random_tree(n, 0), (0,) * n)), walk(system_named("lr-spine"), n, "s" * (n // 2))


def test_the_steps_of_a_spine_table_are_bounded_whatever_the_parser_has_done():
    system, steps = system_named("lr-spine"), {}
    for n in LENGTHS:
        gold, state = shifted(n)
        steps[n] = steps_of(lambda gold=gold, state=state: systems.price(system.number, state, gold, DYNAMIC))
    small, largest, beyond = LENGTHS
    assert exponent((small, largest), (steps[small], steps[largest])) < 3, steps
    assert steps[beyond] < 10 * beyond, steps


@pytest.mark.timing
def test_a_spine_table_is_bounded_whatever_the_parser_has_done():
    system, seconds = system_named("lr-spine"), {}
    for n in LENGTHS:
        gold, state = shifted(n)
        started = time.process_time()
        systems.price(system.number, state, gold, DYNAMIC)
        seconds[n] = time.process_time() - started
    assert max(seconds.values()) < 0.5, seconds

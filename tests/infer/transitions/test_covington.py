"""Covington's systems: costs, reachability and single roots, against exhaustive search."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transition_twins import all_trees, check_costs, explore, gold_of, legal_actions, projective_trees, unlabelled

from weft.errors import ConfigError
from weft.infer.transitions import TransitionParser, systems
from weft.infer.transitions.state import HEAD, LEFT, REDUCE, RIGHT, SHIFT, new_state
from weft.infer.transitions.systems import system_named
from weft.infer.trees.projectivity import is_projective, is_tree

NAMES = ["covington-projective", "covington"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n", "at_least"), [(2, 9), (3, 200), (4, 5000)])
def test_costs_equal_exhaustive_search_over_all_configurations_and_trees(name, n, at_least):
    assert check_costs(name, n) >= at_least


@pytest.mark.parametrize("name", NAMES)
def test_exactly_the_trees_that_a_system_allows_can_be_built(name):
    system = system_named(name)
    for n in (1, 2, 3, 4):
        golds = unlabelled(all_trees(n))
        start = next(iter(explore(system, n, golds).values()))
        reached = {heads for (heads, _), loss in zip(golds, start.least.tolist(), strict=True) if loss == 0}
        assert reached == set(projective_trees(n) if system.projective else all_trees(n))


@pytest.mark.parametrize("name", NAMES)
def test_the_static_oracle_builds_every_tree(name):
    system = system_named(name)
    for n in range(1, 6):
        for heads in projective_trees(n) if system.projective else all_trees(n):
            state, gold = new_state(n), gold_of((heads, (0,) * n))
            systems.start(system.number, state, n)
            while not systems.finished(system.number, state):
                move = systems.canonical(system.number, state, gold)
                assert systems.legal(system.number, state, 0, False) >> move & 1
                systems.apply(system.number, state, 0, move, 0)
            assert tuple(state[1 : n + 1, HEAD].tolist()) == heads


@pytest.mark.parametrize("name", NAMES)
@given(n=st.integers(1, 9), choices=st.lists(st.integers(0, 3), min_size=80, max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_moves_end_in_a_tree_with_one_root(name, n, choices):
    system = system_named(name)
    state = new_state(n)
    systems.start(system.number, state, n)
    for choice in choices:
        if systems.finished(system.number, state):
            break
        actions = legal_actions(system, state, single_root=True)
        candidate, move, label = actions[choice % len(actions)]
        systems.apply(system.number, state, candidate, move, label)
    heads = state[1 : n + 1, HEAD].copy()
    if systems.finished(system.number, state):
        assert is_tree(heads)
        assert (heads == 0).sum() == 1
        assert not system.projective or is_projective(heads)


def test_the_projective_system_passes_over_words_with_a_head_only():
    state = new_state(3)
    number = systems.COVINGTON_PROJECTIVE
    systems.start(number, state, 3)
    systems.apply(number, state, 0, SHIFT, -1)
    assert not systems.legal(number, state, 0, True) >> REDUCE & 1
    systems.apply(number, state, 0, RIGHT, 0)  # 1 -> 2
    assert systems.legal(number, state, 0, True) == 1 << SHIFT
    systems.apply(number, state, 0, SHIFT, -1)
    assert systems.legal(number, state, 0, True) >> REDUCE & 1  # 2 has a head
    systems.apply(number, state, 0, REDUCE, -1)
    assert systems.arc(number, state, 0, LEFT) == (3, 1)


def test_a_beam_is_refused():
    parser = TransitionParser("covington", "S0.t", ["t"], [(SHIFT, -1), (LEFT, 0), (RIGHT, 0), (REDUCE, -1)])
    with pytest.raises(ConfigError, match="all pairs of words"):
        parser.parse(np.ones((3, 1), np.uint64), np.array([0, 2]), beam=2)

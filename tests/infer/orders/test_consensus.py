"""The order that agrees best with preferences: exact, greedy, and the guarantee of the greedy one."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.orders.consensus import Preferences
from weft.infer.orders.relations import is_partial_order


@cache
def all_orders(n: int) -> np.ndarray:
    """Every partial order of n nodes, by trying all relations between pairs."""
    first, second = np.triu_indices(n, 1)
    orders = []
    for each in product((0, 1, 2), repeat=len(first)):
        matrix = np.zeros((n, n), dtype=bool)
        kinds = np.array(each)
        matrix[first[kinds == 1], second[kinds == 1]] = True
        matrix[second[kinds == 2], first[kinds == 2]] = True
        if is_partial_order(matrix):
            orders.append(matrix)
    return np.array(orders)


def uniform(draw: np.random.Generator, n: int) -> Preferences:
    """Probabilities of the three relations of every pair, uniform on the simplex."""
    forth, back, apart = (np.zeros((n, n)) for _ in range(3))
    first, second = np.triu_indices(n, 1)
    drawn = draw.dirichlet([1.0, 1.0, 1.0], size=len(first))
    return _of(n, first, second, drawn, forth, back, apart)


def _of(n, first, second, drawn, forth, back, apart) -> Preferences:
    forth[first, second], back[second, first] = drawn[:, 0], drawn[:, 1]
    apart[first, second] = apart[second, first] = drawn[:, 2]
    return Preferences(forth + back, apart)


def peaked(draw: np.random.Generator, n: int) -> Preferences:
    """Preferences peaked around a random order: Gamma(6) for its relations, Gamma(1) for the others."""
    order = all_orders(n)[draw.integers(len(all_orders(n)))]
    forth, back, apart = (np.zeros((n, n)) for _ in range(3))
    first, second = np.triu_indices(n, 1)
    shape = np.ones((len(first), 3))
    true = np.where(order[first, second], 0, np.where(order[second, first], 1, 2))
    shape[np.arange(len(first)), true] = 6.0
    drawn = draw.gamma(shape)
    return _of(n, first, second, drawn / drawn.sum(axis=1, keepdims=True), forth, back, apart)


def optimum(wants: Preferences) -> float:
    return max(wants.value(order) for order in all_orders(len(wants)) if np.all(order >= wants.required))


def test_the_numbers_of_orders_are_those_of_labelled_posets():
    assert [len(all_orders(n)) for n in (1, 2, 3, 4)] == [1, 3, 19, 219]


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_the_program_finds_the_best_order(seed, n, some_required):
    draw = np.random.default_rng(seed)
    wants = uniform(draw, n)
    if some_required and n > 1:
        required = np.zeros((n, n), dtype=bool)
        required[tuple(draw.choice(n, 2, replace=False))] = True
        wants = Preferences(wants.before, wants.apart, required)
    best = wants.best()
    assert is_partial_order(best)
    assert np.all(best >= wants.required)
    assert wants.value(best) == pytest.approx(optimum(wants))


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10_000), st.integers(1, 12), st.sampled_from(["closure", "all or none"]), st.booleans())
def test_greedy_orders_are_orders_and_hold_what_is_required(seed, n, insertion, some_required):
    draw = np.random.default_rng(seed)
    wants = uniform(draw, n)
    required = np.zeros((n, n), dtype=bool)
    if some_required:
        places = draw.permutation(n)
        required[places[: n // 2], places[n - n // 2 :]] = True
    order = Preferences(wants.before, wants.apart, required).greedy(insertion)
    assert is_partial_order(order)
    assert np.all(order >= required)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_greedy_orders_are_worth_a_third_of_the_best(seed, n):
    wants = uniform(np.random.default_rng(seed), n)
    for insertion in ("closure", "all or none"):
        assert wants.value(wants.greedy(insertion)) >= optimum(wants) / 3 - 1e-9


def test_insertion_by_closure_is_near_the_best_where_all_or_none_is_not():
    draw = np.random.default_rng(0)
    shares, exact = {"closure": [], "all or none": []}, {"closure": [], "all or none": []}
    for _ in range(60):
        wants = peaked(draw, 4)
        best = optimum(wants)
        for insertion, values in shares.items():
            value = wants.value(wants.greedy(insertion))
            values.append(value / best)
            exact[insertion].append(value > best - 1e-9)
    assert np.mean(shares["closure"]) >= 0.99
    assert np.mean(exact["closure"]) >= 0.9
    assert np.mean(shares["all or none"]) < 0.95
    assert np.mean(exact["all or none"]) < 0.5


def inserted_by_enumeration(wants: Preferences) -> np.ndarray:
    """The greedy search with the best of all sets that contain, with every node, all nodes before it."""
    n, gains = len(wants), wants.before - wants.apart
    order, left = np.zeros((n, n), dtype=bool), list(range(n))
    while left:
        others = {u: [v for v in left if v != u] for u in left}
        u = max(left, key=lambda u: (wants.before[u, others[u]] - wants.before[others[u], u]).sum())
        left.remove(u)
        placed = [v for v in range(n) if v not in left and v != u]
        best: tuple[float, list[int]] = (0.0, [])
        for each in product((False, True), repeat=len(placed)):
            inside = [v for v, chosen in zip(placed, each, strict=True) if chosen]
            closed = all(w in inside for v in inside for w in np.flatnonzero(order[:, v]))
            if closed and gains[inside, u].sum() > best[0]:
                best = gains[inside, u].sum(), inside
        order[best[1], u] = True
    return order


def test_every_node_goes_after_the_best_of_all_closed_sets():
    draw = np.random.default_rng(1)
    for _ in range(60):
        wants = uniform(draw, 5)
        assert np.array_equal(wants.greedy(), inserted_by_enumeration(wants))


def test_the_order_of_nodes_does_not_matter():
    draw = np.random.default_rng(2)
    for _ in range(50):
        wants, places = uniform(draw, 6), draw.permutation(6)
        moved = Preferences(wants.before[np.ix_(places, places)], wants.apart[np.ix_(places, places)])
        assert np.array_equal(moved.greedy(), wants.greedy()[np.ix_(places, places)])


def test_what_cannot_be_is_told():
    with pytest.raises(InferenceError, match="symmetric"):
        Preferences(np.zeros((2, 2)), [[0, 1], [0, 0]])
    with pytest.raises(InferenceError, match="required pairs have a cycle"):
        Preferences(np.zeros((2, 2)), np.zeros((2, 2)), [[0, 1], [1, 0]])
    with pytest.raises(InferenceError, match="no insertion 'best'"):
        Preferences(np.zeros((2, 2)), np.zeros((2, 2))).greedy("best")

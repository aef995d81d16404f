"""Tied chains against enumeration and against the linear programme of the graph room."""

from __future__ import annotations

import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelling_lp import Bound, Labelling

from weft.errors import InferenceError
from weft.infer.chains.chain import Chain
from weft.infer.chains.tied import TiedChains


def random_chains(random, lengths, states, ties, scale=1.0):
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    cost = scale * random.random((offsets[-1], states, states))
    parts = np.setdiff1d(np.arange(offsets[-1]), offsets[:-1])
    first = random.integers(len(parts), size=ties)
    second = (first + random.integers(1, len(parts), size=ties)) % len(parts)
    return TiedChains(cost, offsets, parts[first], parts[second], random.random(ties))


def as_labelling(tied):
    """The same problem for the solvers of the graph room."""
    states = tied.cost.shape[1]
    parts = np.setdiff1d(np.arange(len(tied.cost)), tied.offsets[:-1])
    number = {int(part): i for i, part in enumerate(parts)}
    pairs = [(number[p], number[p + 1]) for p in number if p + 1 in number]
    label = np.arange(states**2)
    bound = Bound(*(np.array(each, dtype=int) for each in zip(*pairs, strict=True)), label % states, label // states)
    ends = ([number[int(p)] for p in each] for each in (tied.u, tied.v))
    return Labelling(tied.cost[parts].reshape(len(parts), -1), *ends, tied.weights, bound=bound)


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_the_best_path_and_its_bound_enclose_the_optimum_of_enumeration(seed):
    random = np.random.default_rng(seed)
    tied = random_chains(random, [3, 4], 2, 5)
    found = tied.relax(1e-4)
    best = min(tied.value(path) for path in product(range(2), repeat=7))
    assert found.bound <= best + 1e-9
    assert found.rounded == pytest.approx(tied.value(found.path))
    assert best <= found.rounded + 1e-9
    assert found.bound <= found.value + 1e-9


@pytest.mark.must_show("constrained-min-cuts", 2)
@pytest.mark.parametrize("seed", range(8))
def test_the_dual_climbs_to_the_optimum_of_the_linear_programme(seed):
    random = np.random.default_rng(seed)
    tied = random_chains(random, [4, 3, 4], 2 + seed % 2, 12)
    found = tied.relax(1e-5, rounds=20, steps=200)
    exact = as_labelling(tied).relax().value
    assert found.bound <= exact + 1e-7
    assert found.bound == pytest.approx(exact, rel=1e-3)
    assert found.value == pytest.approx(exact, rel=2e-3)
    assert found.value >= exact - 1e-7


def test_without_ties_every_chain_has_its_own_best_path():
    random = np.random.default_rng(1)
    tied = random_chains(random, [5, 1, 6], 3, 0)
    found = tied.relax()
    alone = Chain(np.zeros((12, 3)), -tied.cost, tied.offsets)
    assert found.rounded == pytest.approx(-alone.best_scores().sum())
    assert found.gap == pytest.approx(0.0)


def test_what_is_forbidden_is_never_chosen():
    random = np.random.default_rng(2)
    cost = random.random((8, 3, 3))
    cost[:, 0, 2] = np.inf
    tied = TiedChains(cost, [0, 4, 8], [1, 2, 3], [5, 6, 7], [2.0, 2.0, 2.0])
    path = tied.relax().path
    assert not any(a == 0 and b == 2 for s in (0, 4) for a, b in zip(path[s : s + 3], path[s + 1 : s + 4], strict=True))


@pytest.mark.parametrize(("arguments", "told"), [
    ((np.zeros((3, 2)), [0, 3], [], [], []), "costs"),
    ((np.full((3, 2, 2), np.nan), [0, 3], [], [], []), "numbers"),
    ((np.zeros((3, 2, 2)), [0, 3], [0], [2], [1.0]), "first position"),
    ((np.zeros((3, 2, 2)), [0, 3], [1], [3], [1.0]), "between parts"),
    ((np.zeros((3, 2, 2)), [0, 3], [1], [2], [-1.0]), "0 and above"),
    ((np.zeros((3, 2, 2)), [0, 3], [1], [2], []), "two parts and a weight"),
])  # fmt: skip
def test_impossible_ties_are_refused(arguments, told):
    with pytest.raises(InferenceError, match=told):
        TiedChains(*arguments)


@pytest.mark.must_show("constrained-min-cuts", 8)
def test_the_gap_of_many_parts_is_small():
    found = random_chains(np.random.default_rng(0), [26] * 40, 4, 4_000, 3.0).relax(5e-3)
    assert found.value - found.bound < 0.01 * found.bound


@pytest.mark.must_show("constrained-min-cuts", 8)
@pytest.mark.timing
def test_five_thousand_parts_of_16_labels_take_less_than_a_minute():
    tied = random_chains(np.random.default_rng(0), [26] * 200, 4, 20_000, 3.0)
    started = time.process_time()
    found = tied.relax(5e-3)
    taken = time.process_time() - started
    assert found.value - found.bound < 0.01 * found.bound
    assert taken < 60

"""The beam over slots against every structure of small sentences."""

from __future__ import annotations

import numpy as np
import pytest
import slot_twins as twins
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import steps_of

from weft.infer.slots.beam import best, scores_of
from weft.infer.slots.problem import Batch, Table, Weights


def problem(seed: int, size: tuple[int, int], nested: bool, whole: bool = True) -> tuple[Batch, Table, Weights, list]:
    draw = np.random.default_rng(seed)
    table = twins.random_table(draw, labels=4 if size[0] * size[1] < 4 else 3, types=2, roles=4)
    batch = twins.random_batch(draw, [size], 2, nested)
    every = twins.structures(batch, table, 0)
    keys = {key for structure in every for key in twins.features(batch, table, 0, structure)}
    return batch, table, twins.random_weights(draw, batch, table, keys, whole), every


def flat(structure: twins.Structure) -> tuple[np.ndarray, np.ndarray]:
    labels, roles = structure
    return np.array(labels, np.int16), np.array([role for row in roles for role in row], np.int16)


@pytest.mark.must_show("joint-event-extraction", 1)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]))
def test_a_beam_as_wide_as_there_are_structures_finds_the_best_of_all(seed: int, size: tuple[int, int]) -> None:
    batch, table, weights, every = problem(seed, size, nested=False)
    labels, roles, scores = best(batch, table, weights, min(len(every), 4000))
    highest = max(twins.score(batch, table, weights, 0, each) for each in every)
    assert scores[0] == highest
    assert scores_of(batch, table, weights, labels, roles)[0] == highest


@pytest.mark.must_show("joint-event-extraction", 1)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), size=st.sampled_from([(1, 1), (2, 0), (2, 1)]))
def test_with_nested_slots_too(seed: int, size: tuple[int, int]) -> None:
    batch, table, weights, every = problem(seed, size, nested=True)
    labels, roles, scores = best(batch, table, weights, min(len(every), 4000))
    highest = max(twins.score(batch, table, weights, 0, each) for each in every)
    assert scores[0] == highest == scores_of(batch, table, weights, labels, roles)[0]


@pytest.mark.must_show("joint-event-extraction", 2)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), nested=st.booleans(), width=st.integers(1, 5))
def test_the_score_of_a_search_is_that_of_the_structure_from_scratch(seed: int, nested: bool, width: int) -> None:
    size = (2, 1) if nested else (3, 2)
    batch, table, weights, every = problem(seed, size, nested)
    labels, roles, scores = best(batch, table, weights, width)
    found = labels, roles.reshape(size[0], -1)
    structure = tuple(found[0].tolist()), tuple(map(tuple, found[1].tolist()))
    assert structure in every
    assert scores[0] == twins.score(batch, table, weights, 0, structure)


@pytest.mark.must_show("joint-event-extraction", 2)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), nested=st.booleans(), pick=st.integers(0, 10**6))
def test_any_structure_scores_as_the_set_of_its_features(seed: int, nested: bool, pick: int) -> None:
    batch, table, weights, every = problem(seed, (2, 1) if nested else (2, 2), nested)
    structure = every[pick % len(every)]
    assert scores_of(batch, table, weights, *flat(structure))[0] == twins.score(batch, table, weights, 0, structure)


@pytest.mark.must_show("joint-event-extraction", 7)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), nested=st.booleans())
def test_no_role_is_outside_the_table_or_without_a_label(seed: int, nested: bool) -> None:
    draw = np.random.default_rng(seed)
    table = twins.random_table(draw, labels=4, types=2, roles=4)
    sizes = [(int(draw.integers(0, 7)), int(draw.integers(0, 4))) for _ in range(3)]
    batch = twins.random_batch(draw, sizes, 2, nested)
    weights = twins.random_weights(draw, batch, table, set())
    weights.bonus[:] = 5.0
    labels, roles, _ = best(batch, table, weights, 3)
    for number, (size, candidates) in enumerate(sizes):
        own = labels[batch.positions[number] : batch.positions[number + 1]].tolist()
        matrix = roles[batch.cells[number] : batch.cells[number + 1]].reshape(size, -1) if size else np.zeros((0, 0))
        assert not twins._cyclic(tuple(map(tuple, matrix.tolist())), candidates)
        for i, k in zip(*(matrix > 0).nonzero(), strict=True):
            assert own[i] > 0
            what = twins.kind(batch, table, number, tuple(own), int(k))
            assert what >= 0
            assert table.columns[own[i], what, int(matrix[i, k])] >= 0


def test_a_wider_beam_never_scores_lower_at_the_width_of_all_structures() -> None:
    batch, table, weights, every = problem(3, (3, 2), nested=False)
    narrow, wide = (best(batch, table, weights, width)[2][0] for width in (1, min(len(every), 4000)))
    assert narrow <= wide


def test_without_global_features_their_weights_do_not_count() -> None:
    batch, table, weights, every = problem(5, (2, 2), nested=False)
    local = weights._replace(use_global=0)
    for structure in every[:20]:
        assert scores_of(batch, table, local, *flat(structure))[0] == twins.score(batch, table, local, 0, structure)


@pytest.mark.must_show(
    "joint-event-extraction", 6, weaker="counts steps of the search, not seconds of training; the recipe measures those"
)
def test_the_steps_of_a_search_grow_with_the_width_of_the_beam() -> None:
    draw = np.random.default_rng(4)
    table = twins.random_table(draw, labels=6, types=2, roles=4)
    batch = twins.random_batch(draw, [(9, 2)] * 2, 2, nested=False)
    keys: set[int] = set()
    weights = twins.random_weights(draw, batch, table, keys)
    steps = {width: steps_of(lambda width=width: best(batch, table, weights, width)) for width in (2, 4, 8)}
    assert 1.7 <= steps[8] / steps[4] <= 2.3
    assert 1.5 <= steps[4] / steps[2] <= 2.3

"""Training of the search over slots: validity of updates, what an update changes, and separable data."""

from __future__ import annotations

import numpy as np
import pytest
import slot_twins as twins
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.infer.slots.beam import best
from weft.infer.slots.features import COUNT
from weft.infer.slots.weights import averaged, change, grown, keys_of, look_up, new_rows, number_key
from weft.learn.transitions.slots import SlotTrainer
from weft.recipes.extraction.joint_event_extraction.generated import generated
from weft.recipes.extraction.joint_event_extraction.systems import Task, fit
from weft.tasks.events.encode import Reading

READING = Reading(tags="upos", trees=True)


@pytest.fixture(scope="module")
def task() -> Task:
    return Task.of(generated(500, 11), generated(100, 12), READING)


@pytest.mark.must_show("joint-event-extraction", 3)
@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("whole", [True, False])
def test_early_update_is_never_invalid(task: Task, width: int, whole: bool) -> None:
    fitted = fit(task, width, "early", whole, 3)
    assert sum(each.updates for each in fitted.reports) > 50
    assert sum(each.invalid for each in fitted.reports) == 0


@pytest.mark.must_show("joint-event-extraction", 3)
@pytest.mark.parametrize("update", ["early", "violation"])
def test_early_update_is_never_invalid_on_data_that_cannot_be_learned(update: str) -> None:
    draw = np.random.default_rng(2)
    table = twins.random_table(draw, labels=3, types=2, roles=3)
    batch = twins.random_batch(draw, [(3, 1)] * 12, 2, nested=False)
    labels, roles = [], []
    for number in range(12):
        every = twins.structures(batch, table, number)
        chosen = every[int(draw.integers(len(every)))]
        labels += chosen[0]
        roles += [role for row in chosen[1] for role in row]
    trainer = SlotTrainer(width=1, update=update, epochs=4)
    trainer.fit(batch, table, np.array(labels, np.int16), np.array(roles, np.int16))
    assert sum(each.updates for each in trainer.reports) > 20
    assert sum(each.invalid for each in trainer.reports) == 0
    trainer = SlotTrainer(width=1, update="standard", epochs=4)
    trainer.fit(batch, table, np.array(labels, np.int16), np.array(roles, np.int16))
    assert sum(each.invalid for each in trainer.reports) > 0


def test_the_largest_violation_is_never_invalid(task: Task) -> None:
    fitted = fit(task, 2, "violation", True, 3)
    assert sum(each.updates for each in fitted.reports) > 50
    assert sum(each.invalid for each in fitted.reports) == 0


@pytest.mark.must_show("joint-event-extraction", 3)
def test_standard_update_is_invalid_the_less_the_wider_the_beam_and_more_with_global_features(task: Task) -> None:
    rates = {width: fit(task, width, "standard", True, 3).invalid for width in (1, 2, 8)}
    assert rates[1] > rates[2] > rates[8]
    assert rates[1] > fit(task, 1, "standard", False, 3).invalid


@pytest.mark.must_show("joint-event-extraction", 4)
def test_separable_data_are_learned_without_an_error(task: Task) -> None:
    fitted = fit(task, 4, "early", True, 30)
    assert fitted.reports[-1].updates == 0
    assert fitted.reports[-1].right == len(task.batch.positions) - 1


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_first_update_adds_the_features_of_gold_and_takes_those_of_the_guess(seed: int) -> None:
    draw = np.random.default_rng(seed)
    table = twins.random_table(draw, labels=3, types=2, roles=3)
    batch = twins.random_batch(draw, [(2, 2)], 2, nested=False)
    every = twins.structures(batch, table, 0)
    gold = every[int(draw.integers(len(every)))]
    flat = np.array(gold[0], np.int16), np.array([role for row in gold[1] for role in row], np.int16)
    trainer = SlotTrainer(width=4, update="standard", epochs=1)
    # All scores are 0 before the first update, so the guess is the first structure: no labels at all.
    weights = trainer.fit(batch, table, *flat)
    expected = twins.features(batch, table, 0, gold)
    if trainer.reports[0].updates == 0:
        assert all(label == 0 for label in gold[0])
        return
    keys = np.array(sorted(key for key, count in expected.items() if count), np.uint32)
    signs = look_up(weights.whole, keys)[:, 0]
    assert (signs > 0).all()
    assert len(keys_of(weights.whole)) == len(keys)


def test_a_table_grows_without_losing_weights() -> None:
    rows = new_rows(2, room=4)
    for key in range(1, 5):
        change(rows, np.uint32(key), 1, float(key), 2.0)
    rows = grown(rows, 100)
    for key in range(5, 60):
        change(rows, np.uint32(key), 0, 1.0, 0.0)
    assert look_up(rows, np.arange(1, 5, dtype=np.uint32))[:, 1].tolist() == [1, 2, 3, 4]
    keys, means = averaged(rows, 4.0)
    assert keys.tolist() == list(range(1, 60))
    assert means[:4, 1].tolist() == [0.5, 1.0, 1.5, 2.0]


def test_averaged_weights_are_the_mean_after_every_sentence() -> None:
    rows = new_rows(1)
    now, past = 0.0, []
    for clock, by in enumerate((3.0, 0.0, -1.0, 2.0), 1):
        if by:
            change(rows, np.uint32(9), 0, by, float(clock))
        now += by
        past.append(now)
    assert float(averaged(rows, 5.0)[1][0, 0]) == pytest.approx(sum(past) / 5)


def test_the_count_of_a_role_fires_from_none_to_three(task: Task) -> None:
    weights = fit(task, 4, "early", True, 2).weights
    table = task.schema.table
    keys = [number_key(COUNT, 1, role, n, 0, np.uint32(0)) for role in range(1, table.roles) for n in range(4)]
    assert (look_up(weights.whole, np.array(keys, np.uint32)) != 0).any()


def test_training_is_the_same_twice(task: Task) -> None:
    one, two = (fit(task, 2, "early", True, 2, seed=3).weights for _ in range(2))
    assert np.array_equal(averaged(one.roles, 1.0)[1], averaged(two.roles, 1.0)[1])
    found = [best(task.test.batch, task.schema.table, weights, 2)[2] for weights in (one, two)]
    assert np.array_equal(*found)

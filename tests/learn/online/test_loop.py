from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learn_twins import chain_problem, choice_problem, enumerated_problem

from weft.errors import ConfigError, ModelError
from weft.learn import (
    MIRA,
    SGD,
    AdaGrad,
    Checkpoint,
    EarlyStopping,
    Gold,
    Margin,
    MaxMargin,
    Objective,
    Perceptron,
    minimize,
)
from weft.learn.online.mira import hildreth, inner_products


def sentences_of(batch):
    return list(batch.batches(1))


def items_of(batch):
    return [batch.one(i) for i in range(len(batch))]


def orders(seed, size, epochs):
    generator = np.random.default_rng(seed)
    return [generator.permutation(size).tolist() for _ in range(epochs)]


def test_the_perceptron_separates_what_is_separable():
    model, batch = choice_problem(1, noise=0.0)
    result = Perceptron(epochs=1000, average=False).fit(model, items_of(batch))
    assert result.why == "no errors left"
    assert (model.score(batch, result.weights).best() == batch.gold).all()


@pytest.mark.parametrize("group", [1, 3])
@pytest.mark.parametrize("cost", [0.0, 1.0])
def test_lazy_averaging_is_the_mean_of_all_weights(cost, group):
    model, batch = chain_problem(2, sentences=8)
    batches = sentences_of(batch)
    weights, total, count = np.zeros(model.size), np.zeros(model.size), 0
    for order in orders(7, len(batches), 3):
        for begin in range(0, len(order), group):
            change = np.zeros(model.size)
            for i in order[begin : begin + group]:
                one = batches[i]
                chain = model.score(one, weights)
                guess = chain.augment(chain.hamming(one.gold, cost)).best()
                model.scatter(one, chain.parts(one.gold, one.weight) - chain.parts(guess, one.weight), change)
            weights = weights + change
            total += weights
            count += 1
    result = Perceptron(epochs=3, cost=cost, group=group, seed=7).fit(model, batches)
    np.testing.assert_allclose(result.weights, total / count, atol=1e-10)
    assert result.calls == count


def test_the_perceptron_learns_chains_by_enumeration_as_by_viterbi():
    model, batch = enumerated_problem(3, sentences=6)
    result = Perceptron(epochs=2).fit(model, [batch])
    assert result.history[1].loss <= result.history[0].loss


def test_seeds_decide_the_order_and_nothing_else():
    model, batch = chain_problem(4)
    batches = sentences_of(batch)
    one, same, other = (Perceptron(epochs=2, seed=seed).fit(model, batches).weights for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5), st.sampled_from([math.inf, 0.5]))
def test_hildreth_solves_the_quadratic_program(seed, size, cap):
    from scipy.optimize import minimize

    random = np.random.default_rng(seed)
    rows = random.normal(size=(size, 6))
    products, missing = rows @ rows.T, random.normal(size=size) + 0.5
    alpha = hildreth(products, missing, cap, rounds=20_000)

    def dual(a):
        return 0.5 * a @ products @ a - missing @ a, products @ a - missing

    bounds = [(0, None if math.isinf(cap) else cap)] * size
    peer = minimize(dual, np.zeros(size), jac=True, bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-10})
    assert dual(alpha)[0] == pytest.approx(peer.fun, abs=1e-6)
    if math.isinf(cap):
        assert (rows @ (rows.T @ alpha) >= missing - 1e-4).all()


def test_inner_products_of_sparse_vectors_are_those_of_dense_ones():
    random = np.random.default_rng(1)
    dense = random.normal(size=(4, 30)) * (random.random((4, 30)) < 0.3)
    rows = [np.flatnonzero(row) for row in dense]
    ends = np.cumsum([0, *map(len, rows)])
    values = np.concatenate([row[places] for row, places in zip(dense, rows, strict=True)])
    np.testing.assert_allclose(inner_products(ends, np.concatenate(rows), values), dense @ dense.T)


@pytest.mark.parametrize("k", [1, 4])
def test_a_hard_margin_update_meets_all_its_constraints(k):
    model, batch = chain_problem(5, sentences=1, length=9)
    result = MIRA(k=k, epochs=1, average=False).fit(model, [batch])
    before = model.score(batch, np.zeros(model.size))
    after = model.score(batch, result.weights)
    solutions = [before.best()] if k == 1 else before.kbest(k)[0]
    for solution in solutions:
        gap = after.score(batch.gold)[0] - after.score(solution)[0]
        assert gap >= before.differs(batch.gold, solution)[0] - 1e-6


def test_a_capped_update_is_no_longer_than_the_cap_allows():
    model, batch = choice_problem(6, items=1)
    batch.weight[:] = 1.0
    if model.score(batch, np.zeros(model.size)).best()[0] == batch.gold[0]:
        batch.gold[:] = (batch.gold + 1) % model.labels
    small = MIRA(k=1, cap=0.01, epochs=1, average=False).fit(model, [batch]).weights
    hard = MIRA(k=1, epochs=1, average=False).fit(model, [batch]).weights
    rows = np.linalg.norm(batch.values)
    assert np.linalg.norm(small) == pytest.approx(0.01 * rows * math.sqrt(2))
    assert np.linalg.norm(hard) > np.linalg.norm(small)


@pytest.mark.parametrize("learner", [MIRA(k=3, epochs=15), MIRA(k=1, epochs=15, cap=0.1)])
def test_mira_learns_separable_items(learner):
    model, batch = choice_problem(7, noise=0.0)
    result = learner.fit(model, items_of(batch))
    assert (model.score(batch, result.weights).best() == batch.gold).mean() > 0.95


def test_mira_averages_all_its_weights():
    model, batch = chain_problem(8, sentences=5)
    batches, seen = sentences_of(batch), []
    for steps in range(1, 6):
        start = seen[-1] if seen else np.zeros(model.size)
        one = MIRA(k=3, epochs=1, average=False, shuffle=False).fit(model, batches[steps - 1 : steps], start)
        seen.append(one.weights)
    whole = MIRA(k=3, epochs=1, shuffle=False).fit(model, batches)
    np.testing.assert_allclose(whole.weights, np.mean(seen, axis=0), atol=1e-10)


def test_mira_asks_for_single_sentences():
    model, batch = chain_problem(9)
    with pytest.raises(ConfigError, match="one sentence at a time"):
        MIRA().fit(model, [batch])


@pytest.mark.parametrize(("l2", "l1"), [(0.0, 0.0), (2.0, 0.0), (0.0, 1.5), (2.0, 1.5)])
def test_delayed_penalties_are_those_of_dense_updates(l2, l1):
    model, batch = choice_problem(10, items=25, features=8)
    items, rate, epochs = items_of(batch), 0.4, 3
    n = len(items)
    raw, paid = np.zeros(model.size), np.zeros(model.size)
    factor, due, t = 1.0, 0.0, 0
    for order in orders(3, n, epochs):
        for i in order:
            weights = factor * raw
            step = 1 / (1 / rate + l2 / n * t) if l2 else rate * 0.85 ** (t / n)
            _, parts = Gold()(model.score(items[i], weights), items[i])
            change = np.zeros(model.size)
            model.scatter(items[i], parts, change)
            factor *= 1 - step * l2 / n
            raw = raw + step / factor * change
            due += step * l1 / n / factor
            before = raw.copy()
            raw = np.where(
                raw > 0, np.maximum(0, raw - (due + paid)), np.where(raw < 0, np.minimum(0, raw + (due - paid)), 0)
            )
            paid += (raw - before) * (l1 > 0)
            if not l1:
                raw = before
            t += 1
    result = SGD(epochs=epochs, l2=l2, l1=l1, rate=rate, seed=3).fit(model, items)
    np.testing.assert_allclose(result.weights, factor * raw, atol=1e-10)


def test_delayed_l2_is_the_textbook_update():
    model, batch = choice_problem(11, items=20)
    items, l2, rate = items_of(batch), 1.0, 0.3
    weights, total, t = np.zeros(model.size), np.zeros(model.size), 0
    for order in orders(0, len(items), 2):
        for i in order:
            step = 1 / (1 / rate + l2 / len(items) * t)
            change = np.zeros(model.size)
            model.scatter(items[i], Gold()(model.score(items[i], weights), items[i])[1], change)
            weights = (1 - step * l2 / len(items)) * weights + step * change
            total += weights
            t += 1
    np.testing.assert_allclose(SGD(epochs=2, l2=l2, rate=rate).fit(model, items).weights, weights, atol=1e-12)
    mean = SGD(epochs=2, l2=l2, rate=rate, average=True).fit(model, items).weights
    np.testing.assert_allclose(mean, total / t, atol=1e-12)


def test_delayed_penalties_work_on_chains():
    model, batch = chain_problem(12, sentences=10)
    batches, l2, rate = sentences_of(batch), 1.0, 0.2
    weights, t = np.zeros(model.size), 0
    for order in orders(0, len(batches), 2):
        for i in order:
            step = 1 / (1 / rate + l2 / len(batches) * t)
            change = np.zeros(model.size)
            model.scatter(batches[i], Gold()(model.score(batches[i], weights), batches[i])[1], change)
            weights = (1 - step * l2 / len(batches)) * weights + step * change
            t += 1
    np.testing.assert_allclose(SGD(epochs=2, l2=l2, rate=rate).fit(model, batches).weights, weights, atol=1e-12)


def test_stochastic_gradient_nears_the_optimum_of_the_whole_objective():
    model, batch = chain_problem(13, sentences=60)
    best = minimize(Objective(model, [batch], l2=1.0), np.zeros(model.size)).loss
    found = SGD(epochs=60, l2=1.0).fit(model, sentences_of(batch))
    assert Objective(model, [batch], l2=1.0).value(found.weights) == pytest.approx(best, rel=5e-3)


def test_cumulative_l1_makes_weights_zero():
    model, batch = choice_problem(14, features=20)
    found = SGD(epochs=30, l1=4.0).fit(model, items_of(batch))
    zero = float((found.weights == 0).mean())
    assert 0.2 < zero < 1.0


def test_max_margin_nears_the_optimum_of_the_hinge():
    model, batch = choice_problem(15)
    objective = Objective(model, [batch], Margin(), l2=1.0)
    found = MaxMargin(l2=1.0, epochs=300).fit(model, items_of(batch))
    loss = objective.value(found.weights)
    random = np.random.default_rng(1)
    nearby = [objective.value(found.weights + 0.1 * random.normal(size=model.size)) for _ in range(50)]
    # Strong convexity: the loss exceeds the optimum by at most ||g||^2 / (2 l2) at a point of small subgradient.
    assert loss < min(nearby)
    assert loss < 0.9 * objective.value(np.zeros(model.size))


LEARNERS = [
    Perceptron(epochs=6, seed=3),
    Perceptron(epochs=6, seed=3, average=False),
    MIRA(epochs=6, k=2, seed=3),
    SGD(epochs=6, l2=0.5, rate=0.2, seed=3),
    SGD(epochs=6, l1=0.5, rate=0.2, seed=3),
    SGD(epochs=6, l2=0.5, average=True, seed=3),
    AdaGrad(epochs=6, seed=3),
    AdaGrad(epochs=6, average=False, seed=3),
]


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_resumed_learner_ends_with_the_bits_of_an_uninterrupted_one(learner, tmp_path):
    model, batch = chain_problem(16)
    batches, place = sentences_of(batch), tmp_path / "run.safetensors"
    whole = learner.fit(model, batches)
    part = learner.fit(model, batches, checkpoint=Checkpoint(place), callback=lambda step: step.row.iteration == 2)
    assert part.iterations == 2
    rest = learner.fit(model, batches, checkpoint=Checkpoint(place))
    np.testing.assert_array_equal(rest.weights, whole.weights)
    assert [(row.iteration, row.calls, row.loss) for row in rest.history] == [
        (row.iteration, row.calls, row.loss) for row in whole.history
    ]


def test_early_stopping_survives_an_interruption(tmp_path):
    model, batch = chain_problem(17, sentences=30)
    batches = sentences_of(batch)

    def score(weights):
        return float(-abs(np.linalg.norm(weights) - 5.0))

    def fit(**options):
        early = EarlyStopping(score, patience=3)
        return Perceptron(epochs=12).fit(model, batches, early=early, **options), early

    whole, seen = fit()
    place = Checkpoint(tmp_path / "run.safetensors")
    fit(checkpoint=place, callback=lambda step: step.row.iteration == 2)
    rest, seen_too = fit(checkpoint=place)
    np.testing.assert_array_equal(rest.weights, whole.weights)
    assert seen.scores == seen_too.scores
    assert rest.why == whole.why
    again, _ = fit(checkpoint=place)
    assert again.iterations == rest.iterations


def test_a_finished_run_can_be_given_more_epochs(tmp_path):
    model, batch = chain_problem(21)
    batches, place = sentences_of(batch), Checkpoint(tmp_path / "run.safetensors")
    Perceptron(epochs=2).fit(model, batches, checkpoint=place)
    longer = Perceptron(epochs=4).fit(model, batches, checkpoint=place)
    np.testing.assert_array_equal(longer.weights, Perceptron(epochs=4).fit(model, batches).weights)


def test_a_checkpoint_of_another_run_or_a_broken_one_is_refused(tmp_path):
    model, batch = chain_problem(18)
    batches, place = sentences_of(batch), tmp_path / "run.safetensors"
    Perceptron(epochs=1).fit(model, batches, checkpoint=Checkpoint(place))
    with pytest.raises(ConfigError, match="another run"):
        Perceptron(epochs=1, cost=2.0).fit(model, batches, checkpoint=Checkpoint(place))
    assert Perceptron(epochs=1, cost=2.0).fit(model, batches, checkpoint=Checkpoint(place, resume=False)).calls
    place.write_bytes(place.read_bytes()[:100])
    with pytest.raises(ModelError, match="Delete it to start anew"):
        Perceptron(epochs=1).fit(model, batches, checkpoint=Checkpoint(place))


def _rewritten(place, change):
    """Write a checkpoint again after `change` has altered its arrays and its header."""
    from safetensors import safe_open
    from safetensors.numpy import save_file

    with safe_open(place, framework="numpy") as stored:
        header = json.loads(stored.metadata()["weft"])
        arrays = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118
    change(arrays, header)
    save_file(arrays, place, metadata={"weft": json.dumps(header)})


#: Valid files with contents that no run writes; the first ones used to be broadcast into the weights.
DAMAGES = {
    "one number": lambda arrays, header: arrays.update(weights=np.ones(1)),
    "no dimension": lambda arrays, header: arrays.update(late=np.array(2.0)),
    "too short": lambda arrays, header: arrays.update(weights=arrays["weights"][:-1].copy()),
    "another type": lambda arrays, header: arrays.update(weights=arrays["weights"].astype(np.int64)),
    "not a number": lambda arrays, header: arrays["weights"].__setitem__(0, np.nan),
    "missing": lambda arrays, header: arrays.pop("late"),
    "unknown": lambda arrays, header: arrays.update(more=np.ones(3)),
    "best weights": lambda arrays, header: arrays.update({"early.best": np.ones(2)}),
    "updates": lambda arrays, header: header["values"]["own"]["run"].update(updates="many"),
    "negative updates": lambda arrays, header: header["values"]["own"]["run"].update(updates=-1),
    "no updates": lambda arrays, header: header["values"]["own"]["run"].clear(),
    "generator": lambda arrays, header: header["values"]["own"]["generator"].update(name="os.system"),
    "generator's state": lambda arrays, header: header["values"]["own"]["generator"].update(state=None),
    "loss": lambda arrays, header: header["values"]["own"].update(loss=[]),
    "iteration": lambda arrays, header: header["values"]["shared"].update(iteration=-3),
    "history": lambda arrays, header: header["values"].update(history=[{"nothing": 1}]),
    "values": lambda arrays, header: header.update(values=[]),
    "version": lambda arrays, header: header.update(version="1"),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_checkpoint_that_no_run_wrote_is_refused_plainly(damage, tmp_path):
    model, batch = chain_problem(18, sentences=3)
    batches, place = sentences_of(batch), tmp_path / "run.safetensors"
    Perceptron(epochs=2).fit(model, batches, checkpoint=Checkpoint(place))
    Perceptron(epochs=3).fit(model, batches, checkpoint=Checkpoint(place))
    _rewritten(place, damage)
    with pytest.raises(ModelError, match=r"run\.safetensors is .*Delete it to start anew"):
        Perceptron(epochs=4).fit(model, batches, checkpoint=Checkpoint(place))


def test_a_checkpoint_sets_nothing_but_the_state_of_its_learner(tmp_path):
    model, batch = chain_problem(18, sentences=3)
    batches, place = sentences_of(batch), tmp_path / "run.safetensors"
    learner = SGD(epochs=2, l2=0.5, rate=0.2)
    learner.fit(model, batches, checkpoint=Checkpoint(place))
    whole = replace(learner, epochs=4).fit(model, batches)
    _rewritten(place, lambda arrays, header: header["values"]["own"]["run"].update(visit="gone", l2=1e9))
    resumed = replace(learner, epochs=4).fit(model, batches, checkpoint=Checkpoint(place))
    np.testing.assert_allclose(resumed.weights, whole.weights, rtol=1e-12)


def test_a_checkpoint_is_readable_without_weft(tmp_path):
    from safetensors import safe_open

    model, batch = chain_problem(19)
    place = tmp_path / "deep" / "run.safetensors"
    Perceptron(epochs=2).fit(model, sentences_of(batch), checkpoint=Checkpoint(place, every=2))
    with safe_open(place, framework="numpy") as stored:
        header = json.loads(stored.metadata()["weft"])
        assert set(stored.keys()) == {"weights", "late"}
    assert header["values"]["shared"]["iteration"] == 2
    assert [path.name for path in place.parent.iterdir()] == ["run.safetensors"]


def test_bad_options_are_plain_errors():
    model, batch = chain_problem(20)
    batches = sentences_of(batch)
    with pytest.raises(ConfigError, match="no batches"):
        Perceptron().fit(model, [])
    with pytest.raises(ConfigError, match="at least 1, got 0"):
        Perceptron(epochs=0).fit(model, batches)
    with pytest.raises(ConfigError, match="cap > 0"):
        MIRA(cap=0.0).fit(model, batches)
    with pytest.raises(ConfigError, match="cannot average under L1"):
        SGD(l1=1.0, average=True).fit(model, batches)
    with pytest.raises(ConfigError, match="l2 above 0"):
        MaxMargin(l2=0.0).fit(model, batches)

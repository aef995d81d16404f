from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from learn_twins import chain_problem, choice_problem

from weft.errors import ConfigError, ModelError
from weft.learn import (
    LBFGS,
    Checkpoint,
    ConjugateGradient,
    EarlyStopping,
    IterativeScaling,
    MixedCG,
    Objective,
    PreconditionedCG,
    minimize,
)
from weft.learn.batch.line_search import search
from weft.learn.training import run_name

METHODS = {
    "lbfgs": LBFGS(),
    "lbfgs3": LBFGS(memory=3),
    "cg": ConjugateGradient(),
    "pcg": PreconditionedCG(),
    "mixed": MixedCG(switch=4),
}


def rosenbrock(w):
    x, y = w[:-1], w[1:]
    gradient = np.zeros(len(w))
    gradient[:-1] = -400 * x * (y - x * x) - 2 * (1 - x)
    gradient[1:] += 200 * (y - x * x)
    return float(np.sum(100 * (y - x * x) ** 2 + (1 - x) ** 2)), gradient


@pytest.mark.parametrize("method", [LBFGS(), LBFGS(memory=10), ConjugateGradient()])
def test_a_curved_valley_is_followed_to_its_end(method):
    result = minimize(rosenbrock, np.full(6, -0.5), method, tolerance=1e-8, max_iterations=2000)
    np.testing.assert_allclose(result.weights, 1.0, atol=1e-6)
    assert result.why == "converged"


@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_the_optimum_of_logistic_regression(name):
    from sklearn.linear_model import LogisticRegression

    model, batch = choice_problem(1, noise=3.0)
    objective = Objective(model, [batch], l2=0.5)
    result = minimize(objective, np.zeros(model.size), METHODS[name], tolerance=1e-8)
    rows = np.zeros((len(batch), model.features))
    for i in range(len(batch)):
        place = slice(batch.offsets[i], batch.offsets[i + 1])
        rows[i, batch.features[place]] = batch.values[place]
    peer = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, max_iter=5000)
    peer.fit(rows, batch.gold, sample_weight=batch.weight)
    np.testing.assert_allclose(result.weights.reshape(model.features, -1), peer.coef_.T, atol=1e-4)


@pytest.mark.must_show("crf-shallow-parsing", 3)
def test_all_optimizers_reach_the_same_likelihood_on_a_chain():
    model, batch = chain_problem(3, sentences=60)
    losses = {}
    for name, method in METHODS.items():
        objective = Objective(model, list(batch.batches(20)), sigma=1.0)
        result = minimize(objective, np.zeros(model.size), method, tolerance=1e-6)
        assert result.calls == objective.calls
        losses[name] = result.loss
    best = min(losses.values())
    assert all(loss <= best * (1 + 1e-7) for loss in losses.values()), losses


@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_iterative_scaling_never_raises_the_loss_and_nears_the_optimum(l2):
    model, batch = choice_problem(4, noise=3.0)
    objective = Objective(model, [batch], l2=l2)
    slow = minimize(objective, np.zeros(model.size), IterativeScaling(), max_iterations=1500, tolerance=1e-6)
    losses = [row.loss for row in slow.history]
    assert all(b <= a + 1e-9 for a, b in pairwise(losses))
    fast = minimize(Objective(model, [batch], l2=l2), np.zeros(model.size), tolerance=1e-8)
    assert slow.loss == pytest.approx(fast.loss, rel=1e-3)
    assert slow.calls > 3 * fast.calls


def test_iterative_scaling_works_on_chains():
    model, batch = chain_problem(5, sentences=40)
    objective = Objective(model, [batch], sigma=1.0)
    losses = [
        row.loss for row in minimize(objective, np.zeros(model.size), IterativeScaling(), max_iterations=60).history
    ]
    assert all(b < a for a, b in pairwise(losses))


def test_lbfgs_needs_little_more_than_one_call_an_iteration():
    model, batch = chain_problem(6, sentences=100, features=60)
    result = minimize(Objective(model, [batch], sigma=3.0), np.zeros(model.size), tolerance=1e-5)
    assert result.iterations > 20
    assert result.calls <= 1.15 * result.iterations + 2


def test_history_tells_calls_seconds_loss_and_gradient():
    model, batch = choice_problem(2)
    result = minimize(Objective(model, [batch], l2=1.0), np.zeros(model.size))
    assert [row.iteration for row in result.history] == list(range(1, result.iterations + 1))
    assert all(a.calls < b.calls and a.seconds <= b.seconds for a, b in pairwise(result.history))
    assert result.history[-1].norm <= 1e-5 * max(1.0, np.linalg.norm(result.weights))


def test_limits_and_callbacks_stop_a_run():
    def run(**options):
        return minimize(rosenbrock, np.full(6, -0.5), **options)

    assert run(max_iterations=3).why == "iteration limit"
    assert run(max_calls=5).calls <= 8
    assert run(max_calls=5).why == "call limit"
    assert run(callback=lambda step: step.row.iteration == 2).iterations == 2
    assert run(change=0.5, tolerance=0.0).why == "the loss no longer falls"


def test_early_stopping_keeps_the_best_weights():
    scores = iter([1.0, 5.0, 3.0, 2.0, 9.0])
    early = EarlyStopping(lambda weights: next(scores), patience=2)
    seen = []
    result = minimize(rosenbrock, np.full(6, -0.5), early=early, callback=lambda step: seen.append(step.weights.copy()))
    assert result.why == "no better on held-out data"
    assert result.iterations == 4
    np.testing.assert_array_equal(result.weights, seen[1])
    assert [row.score for row in result.history] == [1.0, 5.0, 3.0, 2.0]


@pytest.mark.parametrize("method", [LBFGS(memory=3), LBFGS(memory=3, l1=0.5), ConjugateGradient(), MixedCG(switch=3)])
def test_a_resumed_run_ends_with_the_bits_of_an_uninterrupted_one(method, tmp_path):
    model, batch = choice_problem(5)

    def run(**options):
        objective = Objective(model, [batch], l2=0.01)
        return minimize(objective, np.zeros(model.size), method, max_iterations=12, tolerance=0.0, **options)

    whole = run()
    place = tmp_path / "run.safetensors"
    part = run(checkpoint=Checkpoint(place), callback=lambda step: step.row.iteration == 5)
    assert part.iterations == 5
    rest = run(checkpoint=Checkpoint(place))
    np.testing.assert_array_equal(rest.weights, whole.weights)
    assert rest.loss == whole.loss
    assert [(row.iteration, row.calls, row.loss) for row in rest.history] == [
        (row.iteration, row.calls, row.loss) for row in whole.history
    ]


@pytest.mark.parametrize("values", [{"newest": 3}, {"newest": -1}, {"count": 4}, {"count": 1.0}, {"loss": None}])
def test_a_checkpoint_whose_rows_do_not_exist_is_refused(values, tmp_path):
    model, batch = choice_problem(5)
    objective = Objective(model, [batch], l2=0.01)
    place = Checkpoint(tmp_path / "run.safetensors")
    minimize(objective, np.zeros(model.size), LBFGS(memory=3), max_iterations=4, checkpoint=place)
    learner = run_name(LBFGS(memory=3), model.size)
    arrays, kept = place.load(learner)
    kept["own"].update(values)
    place.save(learner, arrays, kept)
    with pytest.raises(ModelError, match=r"run\.safetensors is a damaged checkpoint .*Delete it to start anew"):
        minimize(objective, np.zeros(model.size), LBFGS(memory=3), max_iterations=6, checkpoint=place)


@pytest.mark.parametrize("l2", [0.0, 0.3])
def test_l1_solutions_meet_the_optimality_conditions_and_are_sparse(l2):
    model, batch = choice_problem(6, features=12)
    l1 = 3.0
    objective = Objective(model, [batch], l2=l2)
    result = minimize(objective, np.zeros(model.size), LBFGS(l1=l1), tolerance=1e-7)
    _, gradient = objective(result.weights)
    zero = result.weights == 0
    assert 0 < zero.sum() < model.size
    np.testing.assert_allclose(gradient[~zero], -l1 * np.sign(result.weights[~zero]), atol=1e-4)
    assert (np.abs(gradient[zero]) <= l1 + 1e-4).all()
    assert result.loss == pytest.approx(objective.value(result.weights) + l1 * np.abs(result.weights).sum())


def test_methods_that_need_more_than_a_gradient_say_so():
    with pytest.raises(ConfigError, match="curvature"):
        minimize(rosenbrock, np.zeros(3), PreconditionedCG())
    with pytest.raises(ConfigError, match="most_active"):
        minimize(rosenbrock, np.zeros(3), IterativeScaling())


def test_a_start_without_finite_loss_is_an_error():
    with pytest.raises(ConfigError, match="starting weights is inf"):
        minimize(lambda w: (np.inf, w), np.zeros(3))


@pytest.mark.parametrize("first", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("curvature", [0.1, 0.9])
def test_the_line_search_meets_the_strong_wolfe_conditions(first, curvature):
    def f(t):
        return (t - 2) ** 2 * (1 + 0.1 * np.sin(5 * t)), (
            2 * (t - 2) * (1 + 0.1 * np.sin(5 * t)) + (t - 2) ** 2 * 0.5 * np.cos(5 * t)
        )

    value, slope = f(0.0)
    found = search(f, value, slope, first, curvature=curvature)
    assert found.ok
    assert found.value <= value + 1e-4 * found.step * slope
    assert abs(found.slope) <= -curvature * slope
    assert (found.value, found.slope) == f(found.step)


def test_the_line_search_backs_off_from_infinite_values():
    found = search(lambda t: (np.inf, np.nan) if t > 0.3 else ((t - 0.2) ** 2, 2 * (t - 0.2)), 0.04, -0.4, 8.0)
    assert found.ok
    assert found.step < 0.3

from __future__ import annotations

import numpy as np
import pytest
from learn_twins import central_differences, chain_problem, choice_problem, relative_error

from weft.errors import ConfigError
from weft.learn import Expectations, Gold, Objective, PartsConstraints, TotalObjective


def test_the_loss_is_minus_the_value_plus_the_prior():
    model, batch = chain_problem(1)
    weights = np.random.default_rng(1).normal(size=model.size)
    loss, gradient = Objective(model, [batch], sigma=0.5)(weights)
    value, _ = Gold()(model.score(batch, weights), batch)
    assert loss == pytest.approx(-value + weights @ weights / (2 * 0.5**2))
    objective = Objective(model, [batch], l2=4.0)
    assert relative_error(gradient.copy(), central_differences(objective.value, weights)) < 1e-5


@pytest.mark.parametrize("workers", [1, 2, 3, 50])
def test_threads_and_batch_size_do_not_change_the_result(workers):
    model, batch = chain_problem(2, sentences=20)
    weights = np.random.default_rng(1).normal(size=model.size)
    whole = Objective(model, [batch], l2=1.0)
    cut = Objective(model, list(batch.batches(3)), l2=1.0, workers=workers)
    for _ in range(2):
        loss, gradient = whole(weights)
        same, same_gradient = cut(weights)
        assert same == pytest.approx(loss, rel=1e-13)
        np.testing.assert_allclose(same_gradient, gradient, atol=1e-11)
    np.testing.assert_allclose(cut.curvature(weights), whole.curvature(weights), atol=1e-11)
    np.testing.assert_allclose(cut.expectations(weights), whole.expectations(weights), atol=1e-11)
    assert cut.most_active() == whole.most_active()


def test_the_same_number_of_workers_gives_the_same_bits():
    model, batch = chain_problem(2, sentences=20)
    weights = np.random.default_rng(1).normal(size=model.size)
    runs = [Objective(model, list(batch.batches(3)), l2=1.0, workers=2)(weights) for _ in range(3)]
    assert len({loss for loss, _ in runs}) == 1
    assert all((gradient == runs[0][1]).all() for _, gradient in runs)


def test_calls_are_counted():
    model, batch = choice_problem()
    objective = Objective(model, [batch], l2=1.0)
    weights = np.zeros(model.size)
    objective(weights)
    objective.curvature(weights)
    objective.expectations(weights)
    assert objective.calls == 3


def test_the_gradient_is_expectations_minus_observations_plus_the_prior():
    model, batch = chain_problem(3)
    weights = np.random.default_rng(1).normal(size=model.size)
    objective = Objective(model, [batch], l2=0.5)
    loss, gradient = objective(weights)
    np.testing.assert_allclose(gradient, objective.expectations(weights) - objective.empirical() + 0.5 * weights)
    same, expected = objective.loss_and_expectations(weights)
    assert same == pytest.approx(loss)
    np.testing.assert_allclose(expected, objective.expectations(weights))


def test_the_curvature_of_single_choices_is_the_diagonal_of_the_hessian():
    model, batch = choice_problem(4, items=20)
    weights = np.random.default_rng(1).normal(size=model.size)
    objective = Objective(model, [batch], l2=0.3)
    diagonal = []
    for i in range(model.size):
        up, down = weights.copy(), weights.copy()
        up[i] += 1e-5
        down[i] -= 1e-5
        diagonal.append((objective(up)[1][i] - objective(down)[1][i]) / 2e-5)
    np.testing.assert_allclose(objective.curvature(weights), diagonal, rtol=1e-6)


def test_the_most_active_solution_bounds_the_features_of_gold():
    model, batch = chain_problem(5)
    objective = Objective(model, [batch])
    longest = int(np.diff(batch.sentences).max())
    # Three features and a pair column each at every position, and a transition between any two.
    assert objective.most_active() == pytest.approx(longest * 6 + longest - 1)


def test_expectations_are_those_of_all_batches_together():
    model, batch = choice_problem(6, items=12)
    random = np.random.default_rng(1)
    weights = random.normal(size=model.size)
    parts = type(model.score(batch, weights).marginals())
    features = [random.random((12, 3)) for _ in range(2)]
    batch.constraints = PartsConstraints([parts(f) for f in features])
    singles = [batch.one(i) for i in range(12)]
    for i, single in enumerate(singles):
        single.constraints = PartsConstraints([parts(f[i : i + 1]) for f in features])
    signal = Expectations([4.0, 9.0], "kl")
    loss, gradient = Objective(model, [batch], signal, l2=0.1)(weights)
    for workers in (1, 2):
        objective = Objective(model, singles, signal, l2=0.1, workers=workers)
        same, same_gradient = objective(weights)
        assert same == pytest.approx(loss)
        np.testing.assert_allclose(same_gradient, gradient, atol=1e-12)
    assert relative_error(gradient.copy(), central_differences(objective.value, weights)) < 1e-5


def test_a_sum_of_objectives_adds_losses_and_gradients():
    model, batch = choice_problem(7)
    weights = np.random.default_rng(1).normal(size=model.size)
    one = Objective(model, [batch], l2=1.0)
    loss, gradient = one(weights)
    both, both_gradient = TotalObjective([one, Objective(model, [batch], l2=1.0)])(weights)
    assert both == pytest.approx(2 * loss)
    np.testing.assert_allclose(both_gradient, 2 * gradient)


def test_bad_options_are_plain_errors():
    model, batch = choice_problem()
    with pytest.raises(ConfigError, match="l2 or sigma, not both"):
        Objective(model, [batch], l2=1.0, sigma=1.0)
    with pytest.raises(ConfigError, match="above 0, got -1"):
        Objective(model, [batch], sigma=-1.0)
    with pytest.raises(ConfigError, match="at least one batch"):
        Objective(model, [])
    with pytest.raises(ConfigError, match="at least 1 worker"):
        Objective(model, [batch], workers=0)


@pytest.mark.parametrize("processes", [False, True])
def test_a_dask_cluster_gives_the_result_of_threads(processes):
    distributed = pytest.importorskip("distributed")
    model, batch = chain_problem(8, sentences=20)
    weights = np.random.default_rng(1).normal(size=model.size)
    here = Objective(model, list(batch.batches(3)), l2=1.0, workers=2)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=processes, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        there = Objective(model, list(batch.batches(3)), l2=1.0, cluster=client)
        for factor in (1.0, 0.5):
            loss, gradient = here(factor * weights)
            same, same_gradient = there(factor * weights)
            assert same == loss
            np.testing.assert_array_equal(same_gradient, gradient)
        np.testing.assert_allclose(there.curvature(weights), here.curvature(weights), rtol=1e-12)
        np.testing.assert_allclose(there.empirical(), here.empirical())

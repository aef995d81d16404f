from __future__ import annotations

import numpy as np
import pytest
from learn_twins import chain_problem

from weft.errors import ConfigError
from weft.learn import AdaGrad, Gold, Objective


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("group", [1, 3])
def test_the_updates_are_those_of_the_dense_formula(average, group):
    model, batch = chain_problem(21)
    batches = list(batch.batches(1))
    found = AdaGrad(epochs=3, rate=0.3, damping=0.5, average=average, group=group, seed=4).fit(model, batches)
    weights, squares = np.zeros(model.size), np.full(model.size, 0.5)
    seen = []
    generator = np.random.default_rng(4)
    for _ in range(3):
        order = generator.permutation(len(batches)).tolist()
        for first in range(0, len(order), group):
            gradient = np.zeros(model.size)
            for i in order[first : first + group]:
                model.scatter(batches[i], Gold()(model.score(batches[i], weights), batches[i])[1], gradient)
            squares += gradient**2
            weights = weights + 0.3 * gradient / np.sqrt(squares)
            seen.append(weights)
    np.testing.assert_allclose(found.weights, np.mean(seen, axis=0) if average else weights, atol=1e-12)


def test_the_likelihood_rises_with_the_epochs():
    model, batch = chain_problem(22, sentences=30)
    batches = list(batch.batches(1))
    objective = Objective(model, [batch], Gold(), l2=0.0)
    losses = [objective.value(AdaGrad(epochs=epochs).fit(model, batches).weights) for epochs in (1, 4, 16)]
    assert losses[2] < losses[1] < losses[0] < objective.value(np.zeros(model.size))


@pytest.mark.parametrize("options", [{"rate": 0.0}, {"damping": -1.0}])
def test_rates_and_damping_are_above_zero(options):
    model, batch = chain_problem(23)
    with pytest.raises(ConfigError, match="above 0"):
        AdaGrad(**options).fit(model, list(batch.batches(1)))

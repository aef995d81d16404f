"""Temperatures: the best one is found, and makes the probabilities of any scale of scores honest."""

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.evaluate import calibration
from weft.infer.chains.candidates import CandidateChain
from weft.infer.chains.chain import Chain
from weft.learn.temperature import fit_temperature
from weft.tasks.labelling.calibrate import temperature_on


@pytest.mark.parametrize("best", [0.02, 1.0, 7.5, 900.0])
def test_the_least_loss_is_found_within_a_percent(best):
    assert fit_temperature(lambda t: abs(np.log(t / best))) == pytest.approx(best, rel=0.01)


def test_temperatures_out_of_order_are_refused():
    with pytest.raises(ConfigError, match="hottest above the coldest"):
        fit_temperature(lambda t: t, 2.0, 1.0)


@pytest.mark.parametrize("scale", [0.1, 1.0, 40.0])
def test_scores_of_any_scale_become_honest_probabilities(scale):
    rng = np.random.default_rng(1)
    offsets = np.arange(0, 3001, 3)
    true = Chain(rng.normal(size=(3000, 3)), rng.normal(size=(3, 3)), offsets)
    gold = true.sample(1, 2)[0]
    learned = Chain(true.node * scale, true.edge * scale, offsets)
    temperature = temperature_on(learned, gold)
    assert temperature == pytest.approx(scale, rel=0.15)
    honest = learned.temper(temperature)
    path = honest.best()
    assert (path == learned.best()).all()
    p = honest.marginals().node[np.arange(3000), path]
    assert calibration(p, path == gold).error < 0.03


def test_candidates_are_tempered_as_chains_are():
    node = np.array([[0.0, 2.0], [1.0, 0.0]])
    edge = np.array([[0.5, 0.0], [0.0, 1.5]])
    chain = Chain(node, edge, [0, 2])
    same = CandidateChain(node.ravel(), edge.ravel(), [0, 2, 4], [0, 2])
    for temperature in (0.5, 3.0):
        np.testing.assert_allclose(
            chain.temper(temperature).marginals().node.ravel(), same.temper(temperature).marginals().node
        )
    gold = np.array([1, 1])
    assert temperature_on(chain, gold) == pytest.approx(temperature_on(same, gold))

"""The driver of Markov chains: schedules, checkpoints, processes, R-hat."""

import numpy as np
import pytest

from weft.errors import ConfigError, ModelError
from weft.learn.adaptor.mcmc import Schedule, r_hat, run_chains
from weft.pictures import draw_lines


class Walk:
    """A random walk whose state is a position and a generator."""

    stop_at = None

    def __init__(self, seed):
        self.random, self.x, self.steps = np.random.default_rng(seed), 10.0, 0

    def step(self):
        if self.steps == self.stop_at:
            raise KeyboardInterrupt
        self.x = 0.5 * self.x + self.random.normal()
        self.steps += 1

    def trace(self):
        return {"x": self.x}

    def sample(self):
        return {"x": np.array([self.x])}

    def state(self):
        return {"random": self.random.bit_generator.state, "steps": self.steps}, {"x": np.array([self.x])}

    def restore(self, header, arrays):
        self.random.bit_generator.state = header["random"]
        self.x, self.steps = float(arrays["x"][0]), header["steps"]


class Interrupted(Walk):
    stop_at = 37


def values(result):
    return [[float(sample["x"][0]) for sample in chain.samples] for chain in result.chains]


SCHEDULE = Schedule(iterations=60, burn_in=20, samples=8, lag=5, checkpoint_every=10)


def test_samples_are_those_of_the_schedule():
    result = run_chains(Walk, SCHEDULE, chains=2, seed=3)
    traced = [[row["x"] for row in chain.trace] for chain in result.chains]
    assert [chain.seed for chain in result.chains] == [3, 4]
    assert values(result) == [row[24::5] for row in traced]


def test_an_interrupted_run_goes_on_to_the_same_bits(tmp_path):
    whole = run_chains(Walk, SCHEDULE, chains=2)
    with pytest.raises(KeyboardInterrupt):
        run_chains(Interrupted, SCHEDULE, chains=2, checkpoints=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["chain-1.weft"]
    resumed = run_chains(Walk, SCHEDULE, chains=2, checkpoints=tmp_path)
    assert values(resumed) == values(whole)
    assert [chain.trace for chain in resumed.chains] == [chain.trace for chain in whole.chains]
    again = run_chains(Interrupted, SCHEDULE, chains=2, checkpoints=tmp_path)  # all is done: no step is taken
    assert values(again) == values(whole)


def test_a_checkpoint_of_another_schedule_is_refused(tmp_path):
    run_chains(Walk, SCHEDULE, chains=1, checkpoints=tmp_path)
    with pytest.raises(ModelError, match="another schedule or seed"):
        run_chains(Walk, Schedule.of(50, 2), chains=1, checkpoints=tmp_path)
    with pytest.raises(ModelError, match="another schedule or seed"):
        run_chains(Walk, SCHEDULE, chains=1, seed=9, checkpoints=tmp_path)


def test_processes_give_what_one_process_gives():
    assert values(run_chains(Walk, SCHEDULE, chains=2, workers=2)) == values(run_chains(Walk, SCHEDULE, chains=2))


def test_r_hat_is_near_one_for_chains_that_have_met_and_large_for_others():
    random = np.random.default_rng(0)
    draws = random.normal(size=(4, 500))
    assert r_hat(draws) == pytest.approx(1.0, abs=0.01)
    assert r_hat(draws + np.array([[0.0], [0.0], [0.0], [3.0]])) > 1.5
    assert r_hat(draws + np.linspace(0, 9, 500)) > 1.5  # chains that still move
    assert np.isnan(r_hat([[1.0, 2.0]]))


def test_the_plot_shows_every_chain():
    run = run_chains(Walk, SCHEDULE, chains=3)
    picture = draw_lines(f"x, R-hat {run.r_hat('x'):.2f}", "iteration", "x", run.lines("x"))
    assert picture.count("<polyline") == 3
    assert "R-hat" in picture


@pytest.mark.parametrize("numbers", [(10, 8, 3, 1), (0, 0, 1, 1), (10, -1, 1, 1)])
def test_schedules_that_cannot_be_kept_are_refused(numbers):
    with pytest.raises(ConfigError):
        Schedule(*numbers)
    with pytest.raises(ConfigError, match="at least one chain"):
        run_chains(Walk, SCHEDULE, chains=0)

"""The recipe of annotator-gaussian-processes: annotators drawn from the model, its baselines, its corpora."""

from __future__ import annotations

import numpy as np
import pytest

from weft import data
from weft.errors import DataError
from weft.learn.gaussian.regression import Form, MultiTaskProcess
from weft.recipes.framework import RecipeOptions
from weft.recipes.translation.annotator_gaussian_processes.baselines import SupportVectors, easy_adapt, independent
from weft.recipes.translation.annotator_gaussian_processes.corpora import TIMES, effort
from weft.recipes.translation.annotator_gaussian_processes.further import simulated
from weft.recipes.translation.annotator_gaussian_processes.material import FORMS, Material, Size


@pytest.mark.must_show(
    "annotator-gaussian-processes", 3,
    weaker="a and the noise are medians and means over five draws of 6 x 60 rows; a = 100 is only known to be large",
)  # fmt: skip
def test_what_annotators_share_and_their_noise_are_learned_from_their_labels() -> None:
    for a in (0.01, 1.0, 100.0):
        learned, ratios = [], []
        for seed in range(5):
            noise = np.random.default_rng(100 + seed).uniform(0.1, 0.3, 6) * max(1.0, a**0.5)
            x, who, y = simulated(np.full(6, a), noise, seed)
            process = MultiTaskProcess.fit(x, who, y, Form(("combined",), noise=(0,), iterations=40))
            learned.append(float(process.covariance.shares[0].own[0]))
            ratios.append(np.exp(process.covariance.noise.values) * process.unit / noise)
        if a < 100:
            assert a / 3 <= float(np.median(learned)) <= 3 * a
        else:
            assert float(np.median(learned)) >= a / 3
        assert np.abs(np.mean(ratios, axis=0) - 1).max() < 0.2


@pytest.mark.must_show("annotator-gaussian-processes", 3)
def test_an_outlier_has_the_largest_a() -> None:
    for seed in range(3):
        own = np.full(6, 0.1)
        own[seed] = 3.0
        x, who, y = simulated(own, np.full(6, 0.3), seed, per_task=40)
        found = MultiTaskProcess.fit(x, who, y, Form(("combined+",), iterations=40)).covariance.shares[0].own
        assert int(found.argmax()) == seed
        assert found[seed] > 3 * np.median(np.delete(found, seed))


@pytest.mark.must_show("annotator-gaussian-processes", 4)
def test_intervals_hold_as_often_as_they_say() -> None:
    inside = []
    for seed in range(6):
        x, who, y = simulated(np.full(4, 0.3), np.full(4, 0.4), seed, per_task=60)
        train = np.random.default_rng(seed).permutation(len(x)) < 160
        process = MultiTaskProcess.fit(
            x[train], who[train], y[train], Form(("combined",), iterations=30), sizes=(4,)
        )  # fmt: skip
        low, high = process.predict(x[~train], who[~train]).interval()
        inside.append((low <= y[~train]) & (y[~train] <= high))
    assert 0.92 <= np.mean(inside) <= 0.98


def test_baselines_use_groups() -> None:
    rng = np.random.default_rng(0)
    x, groups = rng.normal(size=(120, 2)), np.arange(120) % 2
    y = np.where(groups == 0, x[:, 0], -x[:, 0]) + 0.05 * rng.normal(size=120)
    train, test = np.arange(90), np.arange(90, 120)

    def error(predicted: np.ndarray) -> float:
        return float(np.abs(predicted - y[test]).mean())

    pooled = error(SupportVectors(x[train], y[train]).predict(x[test]))
    apart = error(independent(x[train], groups[train], y[train], x[test], groups[test]))
    adapted = error(easy_adapt(x[train], groups[train], y[train], x[test], groups[test]))
    assert max(apart, adapted) < 0.3 < 0.6 < pooled


@pytest.mark.corpus
def test_the_mean_of_the_shared_task_is_that_of_the_paper() -> None:
    options = RecipeOptions()
    try:
        train, test = effort(options, "training"), effort(options, "test")
    except DataError as missing:
        pytest.skip(str(missing))
    assert (train.x.shape, test.x.shape) == ((1832, 17), (422, 17))
    errors = np.abs(test.y - train.y.mean())
    assert f"{errors.mean():.4f} {np.sqrt((errors**2).mean()):.4f}" == "0.8279 0.9899"


@pytest.fixture(scope="module")
def compared() -> dict[str, float]:
    """Mean errors over three seeds, of processes with one length-scale, which learn quickly."""
    try:
        data.find(TIMES.format(0))
    except DataError as missing:
        pytest.skip(str(missing))
    material = Material(RecipeOptions(), Size(pairs=500))
    found: dict[str, list[float]] = {}
    for seed in range(3):
        split = material.split(seed)
        who, y = split.tasks[split.train, 0], split.y[split.train]
        means = np.array([y[who == k].mean() for k in range(split.sizes[0])])
        found.setdefault("mean A", []).append(float(split.errors(means[split.tasks[split.test, 0]]).mean()))
        start = None
        for name in ("pooled", "independent A", "combined A"):
            form = Form(FORMS[name][0], isotropic=True, iterations=20)
            fitted = split.fit(form, start if name == "combined A" else None)
            start = fitted.process if name == "pooled" else start
            found.setdefault(name, []).append(float(fitted.errors.mean()))
            if name == "combined A":
                found.setdefault("inside", []).append(fitted.inside)
    return {name: float(np.mean(values)) for name, values in found.items()}


@pytest.mark.corpus
@pytest.mark.must_show("annotator-gaussian-processes", 5, weaker="one length-scale for all features")
def test_combined_is_no_worse_than_pooled_and_independent_on_times(compared: dict[str, float]) -> None:
    assert compared["combined A"] <= min(compared["pooled"], compared["independent A"])
    assert compared["independent A"] < compared["pooled"]
    assert compared["mean A"] < compared["pooled"]


@pytest.mark.corpus
@pytest.mark.must_show("annotator-gaussian-processes", 4)
def test_intervals_of_times_hold_nearly_as_often_as_they_say(compared: dict[str, float]) -> None:
    assert 0.92 <= compared["inside"] <= 0.97

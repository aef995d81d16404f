"""Splits of the times, the forms that are compared on them, and how their errors are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.arrays import Floats, Ints
from weft.learn.gaussian.regression import Form, MultiTaskProcess
from weft.recipes.claims import Figure, mean_of
from weft.recipes.framework import RecipeOptions
from weft.recipes.translation.annotator_gaussian_processes.corpora import FILES, Times, times

DIGITS = {"MAE": 4, "RMSE": 4, "sd of MAE": 4, "log p": 1, "inside 95 %": 3, "a": 3, "CPU s": 1}


@dataclass(frozen=True)
class Size:
    """How much is run."""

    rows: int = 0  #: training rows of the single task; 0 is all 1,832
    sentences: int = 0  #: of the times; 0 is all 1,047
    train: int = 750
    seeds: int = 5
    pairs: int = 20_000
    iterations: int = 40
    shared: int = 200  #: sentences with all editors
    curve: tuple[int, ...] = (50, 150, 400, 750)
    curve_seeds: int = 3
    items: int = 600  #: of the timing, each labelled five times


#: Forms of the singly annotated setting: covariances of editors and systems, and whose noise.
FORMS = {
    "pooled": (("pooled", "pooled"), ()), "pooled {N}": (("pooled", "pooled"), (0,)),
    "independent A": (("independent", "pooled"), ()), "independent S": (("pooled", "independent"), ()),
    "combined A": (("combined", "pooled"), ()), "combined A {N}": (("combined", "pooled"), (0,)),
    "combined+ A": (("combined+", "pooled"), ()), "combined+ A {N}": (("combined+", "pooled"), (0,)),
    "ICM A": (("dense", "pooled"), ()),
    "combined S": (("pooled", "combined"), ()), "combined A,S": (("combined", "combined"), ()),
    "combined A,S {N}": (("combined", "combined"), (0, 1)), "combined+ A,S": (("combined+", "combined"), ()),
}  # fmt: skip
#: Where the learning of a form starts, if not from the pooled one.
BEFORE = {
    "combined A {N}": "combined A", "combined+ A": "combined A", "combined+ A {N}": "combined+ A",
    "ICM A": "combined A", "combined A,S": "combined A", "combined A,S {N}": "combined A,S",
    "combined+ A,S": "combined A,S",
}  # fmt: skip


class Material:
    """The times, read when first asked for."""

    def __init__(self, options: RecipeOptions, size: Size) -> None:
        self.options, self.size = options, size
        self._times: Times | None = None

    @property
    def times(self) -> Times:
        if self._times is None:
            self._times = times(self.options, self.size.pairs, self.size.sentences)
        return self._times

    def split(self, seed: int) -> Split:
        """One editor per sentence, drawn anew by every seed; the first sentences of a permutation are for training."""
        own = self.times
        rng = np.random.default_rng(1000 * self.options.seed + seed)
        chosen = rng.integers(0, FILES, own.n)
        order = rng.permutation(own.n)
        each = np.arange(own.n)
        tasks = np.stack([own.who[each, chosen], own.system], axis=1)
        train, test = order[: self.size.train], order[self.size.train :]
        return Split(own.x, tasks, own.y[each, chosen], train, test, (len(own.editors), own.systems))


@dataclass(frozen=True)
class Split:
    """Rows with their descriptors, and which of them train and test."""

    x: Floats
    tasks: Ints
    y: Floats
    train: Ints
    test: Ints
    sizes: tuple[int, ...]

    def fit(self, form: Form, start: MultiTaskProcess | None = None, columns: Sequence[int] = (0, 1)) -> Fitted:
        """A process on some of the descriptors."""
        own = list(columns)
        process = MultiTaskProcess.fit(
            self.x[self.train], self.tasks[self.train][:, own], self.y[self.train], form,
            sizes=[self.sizes[k] for k in own], start=start,
        )  # fmt: skip
        return Fitted(process, self, own)

    def errors(self, predicted: Floats) -> Floats:
        return np.abs(self.y[self.test] - predicted)


class Fitted:
    """A process with its predictions of the test rows."""

    def __init__(self, process: MultiTaskProcess, split: Split, columns: list[int]) -> None:
        self.process = process
        self.said = process.predict(split.x[split.test], split.tasks[split.test][:, columns])
        self.errors = split.errors(self.said.mean)
        low, high = self.said.interval()
        y = split.y[split.test]
        self.inside = float(((low <= y) & (y <= high)).mean())


def scores(errors: Floats) -> dict[str, float]:
    """Mean absolute error and root of the mean squared one.

    >>> scores(np.array([3.0, 4.0]))["MAE"]
    3.5
    """
    return {"MAE": float(errors.mean()), "RMSE": float(np.sqrt((errors * errors).mean()))}


def paper_figures(figures: Mapping[str, tuple[float, float]], name: str) -> dict[str, Any]:
    return dict(zip(("MAE", "RMSE"), figures[name], strict=True)) if name in figures else {}


def gains(better: Sequence[Floats], worse: Sequence[Floats], where: str, names: Sequence[str] | None = None) -> Figure:
    """By how much mean errors are lower, with Student's interval over seeds."""
    each = {
        names[k] if names else f"seed {k}": float(b.mean() - a.mean())
        for k, (a, b) in enumerate(zip(better, worse, strict=True))
    }
    return replace(mean_of(each, where), digits=4)


def spread_of(errors: Sequence[Floats]) -> dict[str, float]:
    """Means over seeds, and how much the mean absolute error varies."""
    each = [scores(values) for values in errors]
    row = {key: float(np.mean([one[key] for one in each])) for key in ("MAE", "RMSE")}
    return row | {"sd of MAE": float(np.std([one["MAE"] for one in each], ddof=1))}

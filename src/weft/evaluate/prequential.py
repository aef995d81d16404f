"""Forecasts day by day, each from what is known that morning, and what they earn.

A predictor is asked for day t with a `Past`: recorded series, of which a *delay* of 0 says that the value of day t is
known in the morning of day t, and a delay of 1 that it is known once day t is over, as outcomes are. Reading anything
later raises `LookAheadError`, so that a run with a leak fails instead of looking good. Forecasts are numbers: the sign
is the direction, 0 abstains. With forecasts y and outcomes d,

    earnings = sign(y_t) d_t        profit = 100 * sum_t sign(y_t) d_t / sum_t |d_t|

so an omniscient predictor earns 100 %, and a random one 0 with the standard error 100 * sqrt(sum d_t^2) / sum |d_t|.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Floats, Ints
from weft.errors import WeftError
from weft.progress import progress

X = TypeVar("X")
#: The series of a `Past` that holds the outcomes.
OUTCOMES = "outcomes"


class LookAheadError(WeftError):
    """A predictor read something that is not known yet."""


class Recorded(NamedTuple):
    """A series with one value per day, and after how many days a value is known."""

    values: Sequence[Any]
    delay: int = 0


class Known(Generic[X]):
    """The part of a recorded series that is known; `len` is the number of its days.

    >>> past = Past(2, {"news": Recorded(["a", "b", "c", "d"]), "outcomes": Recorded([1.0, -1.0, 0.5], 1)})
    >>> past["news"][2], list(past["outcomes"])
    ('c', [1.0, -1.0])
    >>> past["outcomes"][2]
    Traceback (most recent call last):
    ...
    weft.evaluate.prequential.LookAheadError: on day 2, the value of outcomes for day 2 is not known yet
    """

    def __init__(self, name: str, recorded: Recorded, day: int) -> None:
        self._name, self._values, self._day = name, recorded.values, day
        self._known = max(min(day + 1 - recorded.delay, len(recorded.values)), 0)

    def __len__(self) -> int:
        return self._known

    def __getitem__(self, day: int) -> X:
        if not 0 <= day < self._known:
            if day < 0:
                raise LookAheadError(f"days are counted from 0, and {self._name} was asked for day {day}")
            raise LookAheadError(f"on day {self._day}, the value of {self._name} for day {day} is not known yet")
        value: X = self._values[day]
        return value

    def __iter__(self) -> Iterator[X]:
        return (self[day] for day in range(self._known))


class Past:
    """What is known in the morning of a day: the series by name."""

    def __init__(self, day: int, series: Mapping[str, Recorded]) -> None:
        self.day = day
        self._series = series

    def __getitem__(self, name: str) -> Known[Any]:
        if name not in self._series:
            raise WeftError(f"there is no series {name!r}; the series are: {', '.join(self._series)}")
        return Known(name, self._series[name], self.day)


class Predictor(Protocol):
    """Forecasts the outcome of a day; it is asked for all days in order, once each."""

    def forecast(self, past: Past) -> float: ...


def forecast_days(
    predictors: Mapping[str, Predictor], series: Mapping[str, Recorded], outcomes: Sequence[float], start: int = 0,
    days: int | None = None, description: str = "days",
) -> dict[str, Floats]:  # fmt: skip
    """The forecasts of every predictor for days `start` to `days`, one more than there are outcomes if asked for.

    Days before the start have the forecast 0.

    >>> class Repeat:
    ...     def forecast(self, past):
    ...         return past["outcomes"][past.day - 1] if past.day else 0.0
    >>> forecast_days({"repeat": Repeat()}, {}, [1.0, -1.0, 0.5], days=4)["repeat"].tolist()
    [0.0, 1.0, -1.0, 0.5]
    """
    known = dict(series) | {OUTCOMES: Recorded(outcomes, 1)}
    end = len(outcomes) if days is None else days
    if end > len(outcomes) + 1:
        raise WeftError(f"outcomes of {len(outcomes)} days allow forecasts for one more day, not for {end}")
    found = {name: np.zeros(end) for name in predictors}
    with progress(description, end - start, "days") as bar:
        for day in range(start, end):
            past = Past(day, known)
            for name, predictor in predictors.items():
                found[name][day] = predictor.forecast(past)
            bar.advance()
    return found


def peeks(
    make: Callable[[], Predictor], series: Mapping[str, Recorded], outcomes: Sequence[float], days: Sequence[int],
    start: int = 0,
) -> list[int]:  # fmt: skip
    """The days whose forecast changes if nothing is recorded that is not known that morning; none may.

    The guard sees what is read through a `Past`; this also notices a predictor that was built with later data.

    >>> class Oracle:
    ...     def forecast(self, past):
    ...         return [1.0, -1.0, 0.5][past.day] if len(series["news"].values) == 3 else 0.0
    >>> series = {"news": Recorded(["a", "b", "c"])}
    >>> peeks(Oracle, series, [1.0, -1.0, 0.5], [1, 2])
    []
    """
    everything = forecast_days({"": make()}, series, outcomes, start)[""]
    changed = []
    for day in days:
        cut = {name: Recorded(values[: day + 1 - delay], delay) for name, (values, delay) in series.items()}
        alone = forecast_days({"": make()}, cut, outcomes[:day], start, day + 1)[""]
        if alone[day] != everything[day]:
            changed.append(day)
    return changed


def earnings(forecasts: ArrayLike, outcomes: ArrayLike) -> Floats:
    """What every forecast earns: the outcome if its direction was forecast, else its opposite; 0 for abstention.

    >>> earnings([2.0, -0.1, 0.0], [1.0, 1.0, 1.0]).tolist()
    [1.0, -1.0, 0.0]
    """
    said, came = np.asarray(forecasts, dtype=np.float64), np.asarray(outcomes, dtype=np.float64)
    if said.shape != came.shape:
        raise WeftError(f"every forecast needs its outcome, but there are {said.size} forecasts, {came.size} outcomes")
    return np.asarray(np.sign(said) * came)


def profit(forecasts: ArrayLike, outcomes: ArrayLike) -> float:
    """Earnings as a percentage of those of an omniscient predictor; 0 if nothing ever changes.

    >>> profit([1, 1, -1], [3.0, -1.0, -1.0])
    60.0
    """
    most = float(np.abs(np.asarray(outcomes, dtype=np.float64)).sum())
    return 100 * float(earnings(forecasts, outcomes).sum()) / most if most else 0.0


def random_error(outcomes: ArrayLike) -> float:
    """The standard error of the profit of a random predictor, in points.

    >>> random_error([1.0, -1.0, 1.0, -1.0])
    50.0
    """
    came = np.asarray(outcomes, dtype=np.float64)
    most = float(np.abs(came).sum())
    return 100 * float(np.sqrt((came**2).sum())) / most if most else 0.0


@dataclass(frozen=True)
class Folds:
    """Which fold every day is in when days are drawn at random, as cross-validation does."""

    of_day: Ints

    @classmethod
    def random(cls, days: int, folds: int, seed: int = 0) -> Folds:
        return cls(np.asarray(np.random.default_rng(seed).permutation(days) % folds, dtype=np.int64))

    def __iter__(self) -> Iterator[tuple[Ints, Ints]]:
        for fold in range(int(self.of_day.max()) + 1):
            yield np.flatnonzero(self.of_day != fold), np.flatnonzero(self.of_day == fold)


def cross_validated(fit: Callable[[Ints, Ints], Floats], folds: Folds) -> Floats:
    """Forecasts of a cross-validation, which trains on days after those that it forecasts: no way to evaluate them.

    It is here to be compared with the order of days. `fit` gets the numbers of the days to train on and of those to
    forecast.

    >>> values = np.array([1.0, 1.0, -1.0, -1.0])
    >>> cross_validated(lambda train, test: np.full(len(test), values[train].sum()), Folds(np.array([0, 0, 1, 1])))
    array([-2., -2.,  2.,  2.])
    """
    found = np.zeros(len(folds.of_day))
    for train, test in folds:
        found[test] = fit(train, test)
    return found

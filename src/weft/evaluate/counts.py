"""The basis of every score: numbers of gold, system and correct items.

    precision P = correct / system     recall R = correct / gold     F1 = 2 P R / (P + R) = 2 correct / (gold + system)

`Score` contains the totals. `Counts` keeps them per unit (a sentence, or a document if there are no sentences), so that
significance tests can resample units and scores can be split by genre. A ratio with denominator 0 is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.errors import WeftError

#: A measure maps sums of counts, `gold, system, correct` along the last axis, to one number each.
Measure = Callable[[NDArray[Any]], Floats]


class Score(NamedTuple):
    """Totals and their ratios, all between 0 and 1.

    >>> score = Score(gold=4, system=5, correct=3)
    >>> score.precision, score.recall, round(score.f1, 4)
    (0.6, 0.75, 0.6667)
    """

    gold: int
    system: int
    correct: int
    aligned: int | None = None  # items that gold and system share, if they were aligned

    @property
    def precision(self) -> float:
        return self.correct / self.system if self.system else 0.0

    @property
    def recall(self) -> float:
        return self.correct / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.correct / (self.gold + self.system) if self.gold + self.system else 0.0

    @property
    def accuracy(self) -> float:
        """The fraction of gold items that are correct: recall by another name."""
        return self.recall

    @property
    def aligned_accuracy(self) -> float | None:
        """The fraction of aligned items that are correct; `None` if nothing was aligned."""
        if self.aligned is None:
            return None
        return self.correct / self.aligned if self.aligned else 0.0

    def as_dict(self) -> dict[str, float | int]:
        """Totals and ratios by name, for JSON."""
        values: dict[str, float | int] = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        if self.aligned_accuracy is not None:
            values["aligned_accuracy"] = self.aligned_accuracy
        return {**values, "gold": self.gold, "system": self.system, "correct": self.correct}


@dataclass(frozen=True)
class Counts:
    """Gold, system and correct items per unit, in the order of the gold units.

    >>> counts = Counts.of([2, 2], [2, 3], [2, 1])
    >>> counts.total()
    Score(gold=4, system=5, correct=3, aligned=None)
    >>> counts.select([1]).total().precision
    0.3333333333333333
    """

    gold: Ints
    system: Ints
    correct: Ints
    aligned: Ints | None = None

    @classmethod
    def of(cls, gold: Any, system: Any, correct: Any, aligned: Any = None) -> Counts:
        """Build counts from anything that NumPy accepts as integers."""
        given = (gold, system, correct) if aligned is None else (gold, system, correct, aligned)
        columns = [np.asarray(column, dtype=np.int64) for column in given]
        if len({column.shape for column in columns}) != 1 or columns[0].ndim != 1:
            raise WeftError("gold, system and correct counts must each have one number per unit")
        return cls(*columns)

    @classmethod
    def sum(cls, several: Sequence[Counts]) -> Counts:
        """Add up counts of the same units by several systems or runs: a unit remains one unit of a bootstrap.

        >>> Counts.sum([Counts.of([2, 2], [2, 3], [2, 1]), Counts.of([2, 2], [1, 2], [1, 2])]).correct.tolist()
        [3, 3]
        """
        return cls.of(*np.sum([counts.rows for counts in several], axis=0).T)

    def __len__(self) -> int:
        """Number of units."""
        return len(self.gold)

    def total(self) -> Score:
        aligned = None if self.aligned is None else int(self.aligned.sum())
        return Score(int(self.gold.sum()), int(self.system.sum()), int(self.correct.sum()), aligned)

    def select(self, units: Sequence[int] | Sequence[bool] | NDArray[Any]) -> Counts:
        """The counts of some units, selected by index or mask."""
        chosen = np.asarray(units)
        chosen = chosen.astype(np.int64) if chosen.dtype != np.bool_ else chosen
        aligned = None if self.aligned is None else self.aligned[chosen]
        return Counts(self.gold[chosen], self.system[chosen], self.correct[chosen], aligned)

    @property
    def rows(self) -> Ints:
        """One row `gold, system, correct` per unit."""
        return np.stack([self.gold, self.system, self.correct], axis=1)

    @property
    def measure(self) -> Measure:
        """F1 as a function of sums of rows, for significance tests."""
        return f1


class RatioScore(Score):
    """A score whose ratios are given; the totals beside them say how large the data are."""

    ratios: tuple[float, float, float]

    @classmethod
    def of(cls, gold: int, system: int, correct: int, ratios: tuple[float, float, float]) -> RatioScore:
        score = cls(gold, system, correct)
        score.ratios = ratios
        return score

    @property
    def precision(self) -> float:
        return self.ratios[0]

    @property
    def recall(self) -> float:
        return self.ratios[1]

    @property
    def f1(self) -> float:
        return self.ratios[2]


@dataclass(frozen=True)
class Ratios(Counts):
    """Counts of a measure that is no ratio of three totals: it takes precision, recall and F1 from sums of `table`.

    `table` has one row per unit; `ratios` maps sums of rows to the three. Gold, system and correct are shown only.

    >>> both = Ratios.from_table(np.array([[1.0, 2.0]]), lambda sums: (sums[..., 0] / sums[..., 1],) * 3, [[2, 2, 1]])
    >>> both.total().f1, both.measure(both.rows.sum(axis=0)).tolist()
    (0.5, 0.5)
    """

    table: Floats | None = None
    ratios: Callable[[NDArray[Any]], tuple[Floats, Floats, Floats]] | None = None

    @classmethod
    def from_table(
        cls, table: Floats, ratios: Callable[[NDArray[Any]], tuple[Floats, Floats, Floats]], sizes: Any
    ) -> Ratios:
        """Counts from a table, a function of its sums, and `gold, system, correct` per unit."""
        gold, system, correct = np.asarray(sizes, dtype=np.int64).reshape(-1, 3).T
        return cls(gold, system, correct, None, table, ratios)

    def total(self) -> Score:
        assert self.ratios is not None
        values = tuple(float(value) for value in self.ratios(self.rows.sum(axis=0)))
        plain = super().total()
        return RatioScore.of(plain.gold, plain.system, plain.correct, (values[0], values[1], values[2]))

    def select(self, units: Sequence[int] | Sequence[bool] | NDArray[Any]) -> Ratios:
        plain = super().select(units)
        chosen = np.asarray(units)
        chosen = chosen.astype(np.int64) if chosen.dtype != np.bool_ else chosen
        assert self.table is not None
        return Ratios(plain.gold, plain.system, plain.correct, None, self.table[chosen], self.ratios)

    @property
    def rows(self) -> NDArray[Any]:
        """The table: sums of its rows are what `measure` takes."""
        assert self.table is not None
        return self.table

    @property
    def measure(self) -> Measure:
        """F1 as a function of sums of rows, for significance tests."""
        assert self.ratios is not None
        ratios = self.ratios
        return lambda sums: ratios(sums)[2]


def f1(rows: NDArray[Any]) -> Floats:
    """F1 of sums of counts.

    >>> f1(np.array([[4, 5, 3], [0, 0, 0]])).round(4).tolist()
    [0.6667, 0.0]
    """
    return _ratio(2 * rows[..., 2], rows[..., 0] + rows[..., 1])


def precision(rows: NDArray[Any]) -> Floats:
    """Precision of sums of counts.

    >>> precision(np.array([4, 5, 3])).tolist()
    0.6
    """
    return _ratio(rows[..., 2], rows[..., 1])


def recall(rows: NDArray[Any]) -> Floats:
    """Recall of sums of counts; with as many system items as gold items, the accuracy.

    >>> recall(np.array([4, 5, 3])).tolist()
    0.75
    """
    return _ratio(rows[..., 2], rows[..., 0])


def macro_f1(rows: NDArray[Any]) -> Floats:
    """The mean F1 of labels, for sums of shape `(..., labels, 3)`.

    >>> macro_f1(np.array([[2, 2, 2], [2, 3, 1]])).tolist()
    0.7
    """
    return np.asarray(f1(rows).mean(axis=-1))


MEASURES: dict[str, Measure] = {"f1": f1, "precision": precision, "recall": recall, "accuracy": recall}


def measure_of(name: str | Measure) -> Measure:
    """A measure by name, or the function itself.

    >>> measure_of("f1") is f1
    True
    """
    if callable(name):
        return name
    if name not in MEASURES:
        raise WeftError(f"there is no measure {name!r}; choose from {', '.join(MEASURES)}, or pass a function")
    return MEASURES[name]


def sum_by_unit(units: NDArray[Any], n_units: int) -> Ints:
    """How often every unit occurs in a list of unit indices."""
    return np.bincount(units, minlength=n_units).astype(np.int64)


def _ratio(above: NDArray[Any], below: NDArray[Any]) -> Floats:
    zero = below == 0
    return np.where(zero, 0.0, above / np.where(zero, 1, below))

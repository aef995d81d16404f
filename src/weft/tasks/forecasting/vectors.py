"""Days as vectors that grow with the stream: vocabulary, scaling and inner products from past days only.

On day t the vocabulary holds the features that occur at least `least` times on days before t. A feature that enters it
gets its values on past days from the stored counts, and the matrix K of inner products of days is patched; so training
from scratch each day costs one row of K. With c the counts, smoothed by adding `smoothing`, and |C_t| their total over
the vocabulary of that morning,

    unit     c_t / ||c_t||
    focus    log f_t / mean(f_t-1, f_t-2, f_t-3),  f_t = c_t / |C_t|;  the first three days have no value
    counts   c_t

All but unit vectors are scaled so that the mean squared length of past days is 1.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints, Singles
from weft.errors import ConfigError, WeftError
from weft.kernel import kernel

SCALINGS = ("unit", "focus", "counts")
WINDOW = 3


class OnlineVectors:
    """Vectors of days; `add` takes the counts of the next day, by the numbers of their features.

    >>> vectors = OnlineVectors("unit", least=2)
    >>> for ids, counts in [([0, 1], [2, 1]), ([1, 0], [1, 2]), ([1], [4])]:
    ...     vectors.add(np.array(ids), np.array(counts))
    >>> vectors.features.tolist(), vectors.gram().round(3).tolist()[2]
    ([0, 1], [0.447, 0.447, 1.0])
    """

    def __init__(
        self, scaling: str = "focus", least: int = 20, smoothing: float = 10.0, allowed: Ints | None = None
    ) -> None:
        """`allowed` is a vocabulary that is given, such as that of a whole corpus, in place of the online one."""
        if scaling not in SCALINGS:
            raise ConfigError(f"scaling must be one of {', '.join(SCALINGS)}, got {scaling!r}")
        if least < 0 or smoothing < 0 or (scaling == "focus" and smoothing == 0):
            raise ConfigError(f"least must be at least 0 and smoothing above 0, got {least} and {smoothing}")
        self.scaling, self.least, self.smoothing = scaling, least, smoothing
        self.days = 0
        self._allowed = None if allowed is None else np.asarray(allowed, dtype=np.int64)
        self._size = 0  # of the vocabulary
        self._features = np.zeros(0, dtype=np.int64)  # the feature of every column
        self._column = np.zeros(0, dtype=np.int32)  # the column of every feature, or -1
        self._sum = np.zeros(0)  # how often every feature occurred
        self._counts: Singles = np.zeros((0, 0), dtype=np.float32)
        self._focus: Singles = np.zeros((0, 0), dtype=np.float32)
        self._filled = np.zeros((0, 1), dtype=np.bool_)  # which days have any feature
        self._totals = np.zeros(
            (0, WINDOW + 1)
        )  # |C| of each day and those before it, in the vocabulary of its morning
        self._gram = np.zeros((0, 0))
        self._stored_days: Ids = np.zeros(0, dtype=np.int32)
        self._stored_ids: Ids = np.zeros(0, dtype=np.int32)
        self._stored_counts: Singles = np.zeros(0, dtype=np.float32)
        self._stored = 0

    def add(self, ids: Ints, counts: Ints) -> None:
        """Add the counts of a day; the vocabulary is made of the days before it."""
        day = self.days
        self._reserve(day + 1, int(ids.max(initial=-1)) + 1)
        self._enter(day)
        self._store(day, ids, counts)
        self._filled[day] = len(ids) > 0
        columns = self._column[ids]
        kept = columns >= 0
        self._counts[day, columns[kept]] = counts[kept]
        if self.scaling == "focus" and self._size and day >= WINDOW:
            self._totals[day] = self._totals_of(self._counts[day - WINDOW : day + 1, : self._size])
            self._focus[day, : self._size] = self._focus_of(day, day + 1, 0)
        self.days += 1
        values = self._values[: day + 1, : self._size]
        self._gram[day, : day + 1] = self._gram[: day + 1, day] = values @ values[day]
        self._sum[ids] += counts

    @property
    def features(self) -> Ints:
        """The numbers of the features in the vocabulary, in the order of columns."""
        return self._features[: self._size]

    @property
    def rows(self) -> Singles:
        """The values of all days, before they are scaled."""
        return self._values[: self.days, : self._size]

    @property
    def valued(self) -> Bools:
        """Which days have a value; those without any feature, known or not, have none."""
        filled = self._filled[: self.days, 0]
        return np.asarray(filled & (self._totals[: self.days, 0] > 0)) if self.scaling == "focus" else filled

    @property
    def divisors(self) -> Floats:
        """What the vector of every day is divided by."""
        squares = np.diagonal(self._gram)[: self.days]
        if self.scaling == "unit":
            return np.asarray(np.sqrt(np.where(squares > 0, squares, 1.0)))
        past = squares[:-1][self.valued[:-1]]
        mean = float(past.mean()) if past.size else 0.0
        return np.full(self.days, np.sqrt(mean) if mean > 0 else 1.0)

    def gram(self, rows: Ints | None = None, columns: Ints | None = None) -> Floats:
        """Inner products of the scaled vectors of some days with some others, by default of all."""
        every = np.arange(self.days)
        one, other = every if rows is None else rows, every if columns is None else columns
        divisors = self.divisors
        return np.asarray(self._gram[np.ix_(one, other)] / divisors[one][:, None] / divisors[other])

    def recent(self, window: int = WINDOW) -> Singles:
        """The counts of the last days, the oldest first; days before the first have none."""
        found = np.zeros((window, self._size), dtype=np.float32)
        last = self._counts[max(self.days - window, 0) : self.days, : self._size]
        found[window - len(last) :] = last
        return found

    @property
    def _values(self) -> Singles:
        return self._focus if self.scaling == "focus" else self._counts

    def _enter(self, day: int) -> None:
        """Take into the vocabulary what occurred often enough before the day."""
        if self._allowed is not None:
            new = self._allowed if day == 0 else np.zeros(0, dtype=np.int64)
        else:
            touched = self._last_ids()
            new = touched[(self._sum[touched] >= self.least) & (self._column[touched] < 0)].astype(np.int64)
        if not len(new):
            return
        first, end = self._size, self._size + len(new)
        self._reserve(0, int(new.max()) + 1)
        self._widen(end)
        self._column[new] = np.arange(first, end, dtype=np.int32)
        self._features[first:end] = new
        self._size = end
        _fill(
            self._stored_days[: self._stored], self._stored_ids[: self._stored], self._stored_counts[: self._stored],
            self._column, first, self._counts,
        )  # fmt: skip
        if not day:
            return
        if self.scaling == "focus":
            if day > WINDOW:
                self._focus[WINDOW:day, first:end] = self._focus_of(WINDOW, day, first)
            values = self._focus[:day, first:end]
        else:
            values = self._counts[:day, first:end]
        self._gram[:day, :day] += values @ values.T

    def _focus_of(self, start: int, end: int, first: int) -> Floats:
        """The change in focus of days `start` to `end` for the columns from `first`; 0 for days without a value."""
        counts = self._counts[start - WINDOW : end, first : self._size].astype(np.float64)
        return focus_change(counts, self._totals[start:end], self.smoothing)

    def _totals_of(self, counts: Singles) -> Floats:
        """The totals of a day and the days before it, newest first."""
        return np.asarray(counts.sum(axis=1, dtype=np.float64)[::-1] + self.smoothing * self._size)

    def _last_ids(self) -> Ids:
        start = int(np.searchsorted(self._stored_days[: self._stored], self.days - 1))
        return self._stored_ids[start : self._stored]

    def _store(self, day: int, ids: Ints, counts: Ints) -> None:
        if len(ids) != len(counts):
            raise WeftError(f"a day has {len(ids)} features and {len(counts)} counts")
        end = self._stored + len(ids)
        if end > len(self._stored_ids):
            room = max(2 * end, 1024)
            self._stored_days = np.resize(self._stored_days, room)
            self._stored_ids = np.resize(self._stored_ids, room)
            self._stored_counts = np.resize(self._stored_counts, room)
        self._stored_days[self._stored : end] = day
        self._stored_ids[self._stored : end] = ids
        self._stored_counts[self._stored : end] = counts
        self._stored = end

    def _reserve(self, days: int, features: int) -> None:
        """Make room for days and for numbers of features."""
        if days > len(self._counts):
            room = max(2 * days, 64)
            self._counts = _grown(self._counts, room, self._counts.shape[1])
            self._gram = _grown(self._gram, room, room)
            self._totals = _grown(self._totals, room, WINDOW + 1)
            self._filled = _grown(self._filled, room, 1)
            if self.scaling == "focus":
                self._focus = _grown(self._focus, room, self._focus.shape[1])
        if features > len(self._column):
            room = max(2 * features, 64)
            self._column = np.concatenate([self._column, np.full(room - len(self._column), -1, dtype=np.int32)])
            self._sum = np.concatenate([self._sum, np.zeros(room - len(self._sum))])

    def _widen(self, columns: int) -> None:
        if columns > self._counts.shape[1]:
            room = max(2 * columns, 64)
            self._counts = _grown(self._counts, len(self._counts), room)
            self._features = np.concatenate([self._features, np.zeros(room - len(self._features), dtype=np.int64)])
            if self.scaling == "focus":
                self._focus = _grown(self._focus, len(self._focus), room)


def focus_change(counts: Floats, totals: Floats, smoothing: float = 10.0) -> Floats:
    """The change in focus of the days after the first three of counts [days, features].

    `totals` holds for each of these days the total of smoothed counts on that day and on the three before it, newest
    first; a day without totals has no value, and changes of 0.

    >>> counts = np.array([[0.0], [0.0], [0.0], [20.0]])
    >>> focus_change(counts, np.array([[120.0, 100.0, 100.0, 100.0]])).round(4).tolist()
    [[0.9163]]
    """
    days = len(counts) - WINDOW
    safe = np.where(totals > 0, totals, 1.0)
    smoothed = counts + smoothing
    now = smoothed[WINDOW:] / safe[:, :1]
    before = sum(smoothed[WINDOW - k : WINDOW - k + days] / safe[:, k : k + 1] for k in range(1, WINDOW + 1))
    change = np.log(now / (before / WINDOW))
    change[totals[:, 0] <= 0] = 0.0
    return np.asarray(change)


def _grown(array: np.ndarray, rows: int, columns: int) -> np.ndarray:
    found = np.zeros((rows, columns), dtype=array.dtype)
    found[: array.shape[0], : array.shape[1]] = array
    return found


@kernel
def _fill(days: Ids, ids: Ids, counts: Singles, column: Ids, first: int, into: Singles) -> None:
    """Write the stored counts of new columns."""
    for k in range(len(ids)):
        place = column[ids[k]]
        if place >= first:
            into[days[k], place] = counts[k]

"""A market's days: prices, changes, and the news that is known in the morning of each day.

A text belongs to the first day that opens after it: one dated with a day alone is known that morning, one with a time
belongs to that day if it is earlier than the opening, else to the next day of the series. Days without a price, such as
weekends, so roll on. Texts after the last opening belong to the day after the series, which is to be forecast.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.text.doc import Doc

_DAY = re.compile(r"(?<!\d)(\d{4}-\d{2}-\d{2})(?!\d)(?:T([\d:.]+(?:Z|[+-]\d\d:?\d\d)?))?")
#: Texts that are older than the first opening by more are left out.
_BEFORE_FIRST = timedelta(days=1)


@dataclass
class Market:
    """Prices by day; `volumes` is empty if there are none.

    >>> Market("ACME", ["2024-01-02", "2024-01-03"], np.array([10.0, 10.5])).changes.tolist()
    [0.0, 0.5]
    """

    name: str
    dates: list[str]
    prices: Floats
    volumes: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if len(self.dates) != len(self.prices) or len(self.volumes) not in (0, len(self.dates)):
            raise DataError(f"{self.name}: every day needs a price, and a volume if any day has one")
        if any(one >= two for one, two in zip(self.dates, self.dates[1:], strict=False)):
            raise DataError(f"{self.name}: the days of a series must be in order, each once")

    @property
    def changes(self) -> Floats:
        """The change of every day; 0 for the first one, which has none."""
        return np.concatenate([[0.0], np.diff(self.prices)])[: len(self.prices)]


def moment_of(doc: Doc) -> tuple[str, str]:
    """The day of a document and the time, if it has one: from `doc.meta["date"]`, else from its name.

    >>> moment_of(Doc("", meta={"date": "2024-01-06T09:30:00Z"})), moment_of(Doc("", meta={"id": "news-2024-01-06"}))
    (('2024-01-06', '09:30:00Z'), ('2024-01-06', ''))
    """
    given = str(doc.meta.get("date") or doc.id or "")
    match = _DAY.search(given.replace(" ", "T"))
    if match is None:
        raise DataError(
            f"the text {doc.id or doc.text[:30]!r} has no date: give a column or key `date` such as 2024-01-06, or "
            "name files by their dates, 2024-01-06.txt"
        )
    try:
        date.fromisoformat(match[1])
    except ValueError:
        raise DataError(f"the text {doc.id or doc.text[:30]!r} has a date that is none: {match[1]}") from None
    return match[1], match[2] or ""


class Openings:
    """When the days of a series open, and which day a text belongs to.

    >>> openings = Openings(["2024-01-05", "2024-01-08"], "13:30")
    >>> openings.day_of("2024-01-06"), openings.day_of("2024-01-08", "13:29"), openings.day_of("2024-01-08", "13:30")
    (1, 1, 2)
    """

    def __init__(self, dates: Sequence[str], opening: str = "00:00") -> None:
        self.dates = list(dates)
        try:
            at = time.fromisoformat(opening)
        except ValueError:
            raise ConfigError(f"the opening must be a time of day such as 13:30, got {opening!r}") from None
        self.opening = at
        self._moments = [self._moment(day, at) for day in self.dates]

    def day_of(self, day: str, moment: str = "") -> int | None:
        """The number of the day; None for texts long before the first one."""
        if not moment:
            number = bisect_left(self.dates, day)
            early = number == 0 and day < self.dates[0] if self.dates else False
            return None if early else number
        try:
            at = time.fromisoformat(moment.replace("Z", "+00:00"))
        except ValueError:
            raise DataError(f"a text has a time that is none: {moment!r}; expected one such as 09:30:00") from None
        said = datetime.combine(date.fromisoformat(day), at)
        said = said.replace(tzinfo=UTC) if said.tzinfo is None else said.astimezone(UTC)
        if self._moments and said < self._moments[0] - _BEFORE_FIRST:
            return None
        # A text of the very moment of the opening is not known before it.
        return bisect_left(self._moments, said + timedelta(microseconds=1))

    @staticmethod
    def _moment(day: str, at: time) -> datetime:
        return datetime.combine(date.fromisoformat(day), at, tzinfo=UTC)


def by_day(docs: Iterable[Doc], market: Market, opening: str = "00:00") -> tuple[list[list[Doc]], int]:
    """The documents of every day of a market and of the day after the last, and how many were before the first.

    >>> market = Market("", ["2024-01-05", "2024-01-08"], np.array([1.0, 2.0]))
    >>> docs = [Doc(day, meta={"date": day}) for day in ("2023-12-01", "2024-01-05", "2024-01-06", "2024-01-09")]
    >>> days, early = by_day(docs, market)
    >>> [[doc.text for doc in day] for day in days], early
    ([['2024-01-05'], ['2024-01-06'], ['2024-01-09']], 1)
    """
    openings, early = Openings(market.dates, opening), 0
    found: list[list[Doc]] = [[] for _ in range(len(market.dates) + 1)]
    for doc in docs:
        day = openings.day_of(*moment_of(doc))
        if day is None:
            early += 1
        else:
            found[day].append(doc)
    return found, early

"""What time phrases denote: ranges, repeating sequences given by calendar fields, and durations.

    Range       [begin, end) at the granularity of a unit
    Sequence    a partial assignment of calendar fields; finer fields are spanned whole. Its period is one unit of the
                field just coarser than its coarsest one (Friday: week; November 27: year). `offset` says how far it
                was moved (next: +1, last: -1), and `inside` which other sequence it was placed in
    Duration    an amount of calendar units, exact or approximate

Values are immutable and know nothing of words or of a reference time; `weft.tasks.time.ground` places a sequence on
the time line.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

from weft.tasks.time.calendar import MONTHS, RANK, SECONDS, NoTime

#: Fields from coarse to fine, the unit that each spans, and the unit within which it repeats.
FIELDS = {
    "century": ("century", ""), "decade": ("decade", "century"), "year": ("year", ""),
    "short_year": ("year", "century"), "half": ("half", "year"), "quarter": ("quarter", "year"),
    "season": ("season", "year"), "month": ("month", "year"), "week": ("week", "year"), "weekend": ("weekend", "week"),
    "nth": ("day", "month"), "day": ("day", "month"), "weekday": ("day", "week"), "part": ("part", "day"),
    "hour": ("hour", "day"), "minute": ("minute", "hour"), "second": ("second", "minute"),
}  # fmt: skip
_ORDER = {field: place for place, field in enumerate(FIELDS)}
_WITHIN_YEAR = {"half", "quarter", "season", "month", "week"}
#: Fields that give the day of a date by month, and by week.
_MONTH_MODE, _WEEK_MODE = {"day", "nth", "month", "season", "quarter", "half"}, {"weekday", "week", "weekend"}

Field = tuple[str, int | str | tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Range:
    """[begin, end) at the granularity of a unit; `code` names a part of day or a season."""

    begin: datetime
    end: datetime
    unit: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class Duration:
    """Amounts of units from coarse to fine; an approximate one is known by its unit only.

    >>> Duration.of("week").times(3)
    Duration(amounts=(('week', 3),), approximate=False)
    """

    amounts: tuple[tuple[str, int], ...]
    approximate: bool = False

    @classmethod
    def of(cls, unit: str, count: int = 1) -> Duration:
        """A number of units."""
        return cls(((unit, count),))

    @property
    def unit(self) -> str:
        """The finest unit."""
        return self.amounts[-1][0]

    @property
    def fixed(self) -> bool:
        """Whether it has the same length everywhere in the calendar: no months or years."""
        return all(unit in SECONDS for unit, _ in self.amounts)

    def times(self, number: int) -> Duration:
        """A multiple of it."""
        if self.approximate or not 0 < number < 100_000 or len(self.amounts) > 1 or self.amounts[0][1] != 1:
            raise NoTime("only one exact unit is multiplied")
        return Duration(((self.amounts[0][0], number),))

    def plus(self, other: Duration) -> Duration:
        """The sum of two durations; they share no unit."""
        units = {unit for unit, _ in self.amounts} & {unit for unit, _ in other.amounts}
        if units or self.approximate or other.approximate:
            raise NoTime("a duration names a unit twice")
        return Duration(tuple(sorted(self.amounts + other.amounts, key=lambda amount: RANK[amount[0]])))

    def vague(self) -> Duration:
        """The same unit, of an unknown number."""
        if len(self.amounts) > 1:
            raise NoTime("an approximate duration has one unit")
        return Duration(((self.unit, 1),), True)

    def seconds(self) -> float:
        """Its length, with months of 30.44 days."""
        return sum(
            count * (SECONDS[unit] if unit in SECONDS else MONTHS[unit] * 2629746.0) for unit, count in self.amounts
        )


@dataclass(frozen=True, slots=True)
class Sequence:
    """Ranges that repeat: fields from coarse to fine, or a bare unit (every week).

    >>> friday = Sequence.of(weekday=5)
    >>> friday.period, Sequence.of(month=11, day=27).period, Sequence(unit="week").period
    ('week', 'year', 'week')
    >>> friday.move(1).move(-1) == friday
    True
    """

    fields: tuple[Field, ...] = ()
    unit: str = ""
    offset: int = 0
    inside: Sequence | Relative | None = None

    @classmethod
    def of(cls, **values: int | str | tuple[int, int]) -> Sequence:
        """A sequence of the given fields."""
        fields = tuple(sorted(values.items(), key=lambda field: _ORDER[field[0]]))
        return cls(fields, FIELDS[fields[-1][0]][0])

    @property
    def period(self) -> str:
        """The unit in which it repeats; empty if it is a single range."""
        return FIELDS[self.fields[0][0]][1] if self.fields else self.unit

    @property
    def bare(self) -> bool:
        """Whether only fields are given: neither moved, nor placed in another sequence, nor a plain unit."""
        return bool(self.fields) and not self.offset and self.inside is None

    def get(self, field: str) -> int | str | tuple[int, int] | None:
        """The value of a field."""
        return next((value for name, value in self.fields if name == field), None)

    def move(self, count: int) -> Sequence:
        """Moved by a number of periods."""
        if not self.period or self.inside is not None:
            raise NoTime("what does not repeat cannot be moved")
        return replace(self, offset=self.offset + count)


@dataclass(frozen=True, slots=True)
class Relative:
    """A range made from another one and a duration; without a base, from the reference time.

    shift_left, shift_right    the base moved by the duration
    shrink_begin, shrink_end   the first or last duration of it
    cat_left, cat_right        the duration that ends at its begin, or starts at its end
    """

    how: str
    duration: Duration
    base: Sequence | Relative | None = None

    @property
    def unit(self) -> str:
        """The granularity of the result."""
        if self.base is None or not self.how.startswith("shift"):
            return self.duration.unit
        return self.base.unit


@dataclass(frozen=True, slots=True)
class Named:
    """A time without borders: PAST_REF, PRESENT_REF or FUTURE_REF."""

    name: str
    unit: str = ""


#: Everything that a phrase may denote.
Value = Sequence | Relative | Named | Duration


def inside(one: Sequence | Relative, other: Sequence | Relative) -> Sequence:
    """The intersection of two times, one of which may be a range."""
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return intersect(one, other)
    fine, coarse = (one, other) if isinstance(one, Sequence) else (other, one)
    if not isinstance(fine, Sequence) or not fine.bare or fine.period != coarse.unit:
        raise NoTime("it does not repeat once inside the other")
    return replace(fine, inside=coarse)


def intersect(one: Sequence, other: Sequence) -> Sequence:
    """The finer sequence inside the coarser one; the order of arguments does not matter.

    >>> intersect(Sequence.of(day=12), Sequence.of(month=8)) == Sequence.of(month=8, day=12)
    True
    >>> intersect(Sequence.of(weekday=5), Sequence(unit="week", offset=1)).inside
    Sequence(fields=(), unit='week', offset=1, inside=None)
    """
    if RANK[one.unit] == RANK[other.unit] or "" in (one.unit, other.unit):
        raise NoTime("neither is finer than the other")
    coarse, fine = (one, other) if RANK[one.unit] < RANK[other.unit] else (other, one)
    if fine.offset and coarse.bare and fine.bare is False and fine.get("weekday") and coarse.unit == "month":
        return replace(fine, inside=coarse)  # the next Monday in August
    if not fine.bare or fine.period == "":
        raise NoTime("what was moved is not placed inside another time")
    if coarse.bare:
        return _merged(coarse, fine)
    if fine.period != coarse.unit:
        raise NoTime("it does not repeat once inside the other")
    return replace(fine, inside=coarse)


def _merged(coarse: Sequence, fine: Sequence) -> Sequence:
    names = [name for name, _ in coarse.fields] + [name for name, _ in fine.fields]
    chosen = set(names)
    if len(chosen) < len(names) or {"year", "short_year"} <= chosen or len(chosen & _WITHIN_YEAR) > 1:
        raise NoTime("a field has two values")
    if chosen & _MONTH_MODE and chosen & _WEEK_MODE:
        raise NoTime("days of months and days of weeks do not mix")
    fields = dict(coarse.fields) | dict(fine.fields)
    if "part" in fields and "hour" in fields:
        fields["hour"] = hour_in_part(fields["hour"], str(fields.pop("part")))
    merged = Sequence.of(**fields)
    if any(FIELDS[b][1] != FIELDS[a][0] for (a, _), (b, _) in pairwise(merged.fields)):
        raise NoTime("a field between the two is missing")
    return merged


def hour_in_part(hour: object, part: str) -> int:
    """The hour that a clock of twelve hours means in a part of the day.

    >>> hour_in_part(2, "AF"), hour_in_part(12, "MO"), hour_in_part(9, "NI")
    (14, 0, 21)
    """
    if not isinstance(hour, int) or not 0 <= hour <= 23:
        raise NoTime("there is no such hour")
    if part in ("AF", "EV", "NI", "MI"):
        return hour + 12 if hour < 12 and not (part == "NI" and hour < 5) else hour
    return 0 if hour == 12 else hour

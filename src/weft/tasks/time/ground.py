"""Placing a value on the time line, given a reference time t.

    a bare sequence     the element whose begin b minimizes |(b - t) / period - mu|
    moved by n > 0      the n-th element that begins after t; by n < 0, the n-th that ended before t
    inside another      the element in the period that the other's range begins

What "next Tuesday" means is a convention. `following` is the above; `calendar` counts periods from the one that
contains t (Tuesday of the next week); `nearest` counts from the element that the bare name means.

Everything takes constant time: there is no search. What denotes no time (February 30) raises `NoTime`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from weft.tasks.time.calendar import (
    MONTHS,
    PARTS,
    SEASONS,
    SECONDS,
    NoTime,
    add,
    date,
    floor,
    moved,
    week_begin,
)  # fmt: skip
from weft.tasks.time.values import Duration, Named, Range, Relative, Sequence

#: What "next" and "last" may mean.
CONVENTIONS = ("following", "calendar", "nearest")
#: Mean distances from the reference time, in periods.
MU = {"century": -0.4, "year": -0.15, "month": -0.15, "week": -0.35, "day": -0.15, "hour": -0.15, "minute": 0.0}


@dataclass(frozen=True, slots=True)
class Convention:
    """How sequences are placed: the meaning of next and last, and how far off what is named is on average.

    That mean distance mu is counted in periods and stands for each period; what happens less often than daily is
    mostly spoken of after it happened, so it is negative. In a period without one, the fields of now are copied.
    """

    next: str = "following"
    mu: Mapping[str, float] = field(default_factory=lambda: dict(MU))

    @classmethod
    def of(cls, next: str, mu: float) -> Convention:
        """One mean distance for all periods."""
        return cls(next, dict.fromkeys(MU, mu))


DEFAULT = Convention()


def ground(value: Sequence | Relative | Named, now: datetime, convention: Convention = DEFAULT) -> Range | Named:
    """The range that a value denotes, said at `now`.

    >>> said = datetime(2013, 8, 6, 3, 25)
    >>> str(ground(Sequence.of(month=11, day=27), said).begin.date())
    '2013-11-27'
    >>> next_friday = Sequence.of(weekday=5).move(1)
    >>> [str(ground(next_friday, said, Convention(name)).begin.date()) for name in ("following", "calendar")]
    ['2013-08-09', '2013-08-16']
    """
    if isinstance(value, Named):
        return value
    if isinstance(value, Relative):
        return _relative(value, now, convention)
    if value.inside is not None:
        return _inside(value, now, convention)
    if not value.fields:
        begin = add(floor(now, value.unit), value.unit, value.offset)
        return _unit(floor(begin, value.unit), value.unit)
    if not value.period:
        return element(value, now)
    if value.offset:
        return _moved(value, now, convention)
    if value.period not in convention.mu:
        return element(value, now)
    return _nearest(value, now, convention.mu[value.period])


def element(sequence: Sequence, place: datetime) -> Range:
    """The element of a sequence in the period that contains a moment: its fields, and the moment's for coarser ones."""
    fields: dict[str, object] = dict(sequence.fields)
    year, month, day = place.year, place.month, place.day
    get = fields.get
    if "century" in fields or "decade" in fields or "short_year" in fields:
        century = _int(get("century", year // 100))
        if "decade" in fields:
            begin = date(max(century * 100 + _int(fields["decade"]) * 10, 1), 1, 1)
            return _unit(begin, "decade")
        if "short_year" not in fields:
            return _unit(date(max(century * 100, 1), 1, 1), "century")
        year = century * 100 + _int(fields["short_year"])
    year = _int(get("year", year))
    begin = _day(fields, year, month, day, place)
    if sequence.unit == "part":
        first, last = PARTS[str(fields["part"])]
        return Range(begin + timedelta(hours=first), begin + timedelta(hours=last), "part", str(fields["part"]))
    if sequence.unit in ("hour", "minute", "second"):
        hour, minute, second = (_int(get(name, getattr(place, name))) for name in ("hour", "minute", "second"))
        kept = {"hour": 1, "minute": 2, "second": 3}[sequence.unit]
        try:
            begin = begin.replace(hour=hour, minute=minute if kept > 1 else 0, second=second if kept > 2 else 0)
        except ValueError:
            raise NoTime("there is no such time of day") from None
    found = _unit(begin, sequence.unit)
    return Range(found.begin, found.end, "season", str(fields["season"])) if sequence.unit == "season" else found


def _day(fields: dict[str, object], year: int, month: int, day: int, place: datetime) -> datetime:
    """The begin of the day, or of a coarser unit, that fields give."""
    if "half" in fields:
        return date(year, _in(fields["half"], 2) * 6 - 5, 1)
    if "quarter" in fields:
        return date(year, _in(fields["quarter"], 4) * 3 - 2, 1)
    if "season" in fields:
        return date(year, SEASONS[str(fields["season"])], 1)
    if "week" in fields:
        monday = week_begin(year, _int(fields["week"]))
    elif "weekday" in fields or "weekend" in fields:
        monday = floor(place, "week")
    else:
        month = _int(fields.get("month", month))
        if "nth" in fields:
            return _nth_weekday(year, month, fields["nth"])
        if "day" in fields:
            return date(year, month, _int(fields["day"]))
        if "month" in fields:
            return date(year, month, 1)
        return date(year, 1, 1) if fields.keys() & {"year", "short_year"} else date(year, month, day)
    if "weekend" in fields:
        return moved(monday, 5)
    return moved(monday, _in(fields.get("weekday", 1), 7) - 1)


def _nth_weekday(year: int, month: int, nth: object) -> datetime:
    """The n-th Monday (or ...) of a month; -1 is the last."""
    count, weekday = nth if isinstance(nth, tuple) else (0, 0)
    first = date(year, month, 1)
    if count < 0:
        last = moved(add(first, "month", 1), -1)
        return moved(last, -((last.weekday() + 1 - weekday) % 7))
    found = moved(first, (weekday - 1 - first.weekday()) % 7 + 7 * (count - 1))
    if not count or found.month != month:
        raise NoTime("the month has no such day")
    return found


def _in(value: object, most: int) -> int:
    number = _int(value)
    if not 1 <= number <= most:
        raise NoTime(f"{number} is not between 1 and {most}")
    return number


def _int(value: object) -> int:
    if not isinstance(value, int):
        raise NoTime(f"{value} is not a number")
    return value


def _unit(begin: datetime, unit: str) -> Range:
    """One unit from its begin."""
    if unit == "weekend":
        return Range(begin, moved(begin, 2), unit)
    if unit in ("decade", "century") and begin.year == 1:
        return Range(begin, date(10 if unit == "decade" else 100, 1, 1), unit)
    return Range(begin, add(begin, unit, 1), unit)


def period_seconds(unit: str) -> float:
    """The mean length of a period."""
    return float(SECONDS[unit]) if unit in SECONDS else MONTHS[unit] * 2629746.0


def _at(sequence: Sequence, now: datetime, count: int) -> Range | None:
    """The element some periods away from the one that contains the moment, if there is one."""
    try:
        if not sequence.period:
            return element(sequence, now) if not count else None
        return element(sequence, add(floor(now, sequence.period), sequence.period, count))
    except NoTime:
        return None


def _nearest(sequence: Sequence, now: datetime, mu: float) -> Range:
    size = period_seconds(sequence.period)
    for reach in (1, 4, 8):  # February 29 may be eight years away
        near = [each for count in range(-reach, reach + 1) if (each := _at(sequence, now, count)) is not None]
        if near:
            return min(near, key=lambda each: abs((each.begin - now).total_seconds() / size - mu))
    raise NoTime("it has no element")


def _moved(sequence: Sequence, now: datetime, convention: Convention) -> Range:
    offset = sequence.offset
    found: Range | None = None
    if convention.next == "calendar":
        found = _at(sequence, now, offset)
    elif convention.next == "nearest":
        start = _nearest(sequence, now, convention.mu.get(sequence.period, 0.0)).begin
        found = _at(sequence, start, offset)
    else:
        steps = range(-1, offset + 2) if offset > 0 else range(1, offset - 2, -1)
        near = [each for count in steps if (each := _at(sequence, now, count)) is not None]
        passed = [each for each in near if (each.begin > now if offset > 0 else each.end <= now)]
        if len(passed) >= abs(offset):
            found = passed[abs(offset) - 1]
    if found is None:
        raise NoTime("it has no such element")
    return found


def _inside(sequence: Sequence, now: datetime, convention: Convention) -> Range:
    container = sequence.inside
    if sequence.offset and isinstance(container, Sequence):
        return _moved_inside(sequence, container, now)
    if container is None:
        raise NoTime("there is no container")
    outer = ground(container, now, convention)
    if isinstance(outer, Named):
        raise NoTime("nothing is inside a time without borders")
    found = element(sequence, outer.begin)
    if found.begin < outer.begin:
        later = _at(sequence, outer.begin, 1)
        found = later if later is not None else found
    if not outer.begin <= found.begin < outer.end:
        raise NoTime("it does not lie inside the other")
    return found


def _moved_inside(sequence: Sequence, container: Sequence, now: datetime) -> Range:
    """The next Monday in August: the first one after `now` that lies in an August, be it that of another year."""
    day = _int(sequence.get("weekday"))
    forward = sequence.offset > 0
    for count in (0, 1) if forward else (0, -1):
        month = _at(container, now, count)
        if month is None:
            continue
        if forward:
            start = max(month.begin, moved(floor(now, "day"), 1))
            found = moved(start, (day - 1 - start.weekday()) % 7)
        else:
            start = min(moved(month.end, -1), moved(floor(now, "day"), -1))
            found = moved(start, -((start.weekday() + 1 - day) % 7))
        if month.begin <= found < month.end:
            return _unit(found, "day")
    raise NoTime("it has no such element")


def shift(range_: Range, duration: Duration, sign: int) -> Range:
    """A range moved by a duration.

    >>> day = Range(datetime(2013, 8, 6), datetime(2013, 8, 7), "day")
    >>> shift(shift(day, Duration.of("week", 3), -1), Duration.of("week", 3), 1) == day
    True
    """
    begin, end = range_.begin, range_.end
    for unit, count in duration.amounts:
        begin, end = add(begin, unit, sign * count), add(end, unit, sign * count)
    return Range(begin, end, range_.unit, range_.code)


def _relative(value: Relative, now: datetime, convention: Convention) -> Range:
    duration, how = value.duration, value.how
    if duration.approximate:
        raise NoTime("an approximate duration has no place")
    if value.base is None:
        base = Range(now, now, duration.unit)
        if how.startswith("shift"):
            point = shift(base, duration, -1 if how == "shift_left" else 1).begin
            return _unit(floor(point, duration.unit), duration.unit)
        if how.startswith("shrink"):
            raise NoTime("now has no parts")
        base = Range(floor(now, "day"), floor(now, "day"), "day")
    else:
        grounded = ground(value.base, now, convention)
        if isinstance(grounded, Named):
            raise NoTime("a time without borders cannot be moved")
        base = grounded
    if how.startswith("shift"):
        return shift(base, duration, -1 if how == "shift_left" else 1)
    forward = how in ("shrink_begin", "cat_right")
    start = base.begin if how in ("shrink_begin", "cat_left") else base.end
    other = shift(Range(start, start, duration.unit), duration, 1 if forward else -1).begin
    begin, end = (start, other) if forward else (other, start)
    if how.startswith("shrink") and not (base.begin <= begin and end <= base.end):
        raise NoTime("it is longer than what it is a part of")
    return Range(begin, end, duration.unit)

"""Calendar arithmetic: the units of the calendar, where they begin, and what it means to add one.

    floor(t, u)      the begin of the unit u that contains t
    add(t, u, n)     t moved by n units; a day that its month does not have becomes the month's last

Dates are those of the proleptic Gregorian calendar, years 1 to 9999; weeks are ISO weeks, which begin on Monday and
belong to the year of their Thursday. There are no time zones. What falls outside raises `NoTime`.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, timedelta

#: Units from coarse to fine. Half years, quarters and seasons lie between year and month, parts of day above the hour.
UNITS = (
    "century", "decade", "year", "half", "quarter", "season", "month", "week", "weekend", "day", "part", "hour",
    "minute", "second",
)  # fmt: skip
RANK = {unit: rank for rank, unit in enumerate(UNITS)}
#: Months of a unit that is made of months.
MONTHS = {"century": 1200, "decade": 120, "year": 12, "half": 6, "quarter": 3, "season": 3, "month": 1}
#: Seconds of a unit of fixed length.
SECONDS = {"week": 604800, "weekend": 604800, "day": 86400, "part": 86400, "hour": 3600, "minute": 60, "second": 1}
#: Fuzzy parts of day: the hours at which they begin and end.
PARTS = {"MO": (6, 12), "AF": (12, 18), "EV": (18, 21), "NI": (21, 30), "DT": (8, 18), "MI": (12, 13)}
SEASONS = {"SP": 3, "SU": 6, "FA": 9, "WI": 12}


class NoTime(ValueError):
    """An expression that denotes no time: February 30, or a date beyond the calendar."""


def floor(moment: datetime, unit: str) -> datetime:
    """The begin of the unit that contains a moment.

    >>> t = datetime(2013, 8, 6, 3, 25)
    >>> [str(floor(t, unit).date()) for unit in ("decade", "quarter", "month", "week", "weekend")]
    ['2010-01-01', '2013-07-01', '2013-08-01', '2013-08-05', '2013-08-10']
    """
    day = datetime(moment.year, moment.month, moment.day)
    if unit in ("second", "minute", "hour"):
        return day + timedelta(seconds=int((moment - day).total_seconds()) // SECONDS[unit] * SECONDS[unit])
    if unit in ("day", "part"):
        return day
    if unit in ("week", "weekend"):
        return moved(day, 5 * (unit == "weekend") - day.weekday())
    if unit == "season":
        # Winter begins in December, so seasons begin one month before quarters do.
        return _month((moment.year * 12 + moment.month - 3) // 3 * 3 + 2)
    size = MONTHS[unit]
    month = (moment.year * 12 + moment.month - 1) // size * size
    return _month(max(month, 12))


def add(moment: datetime, unit: str, count: int) -> datetime:
    """Move a moment by a number of units; months keep the day if they have it.

    >>> str(add(datetime(2012, 1, 31), "month", 1).date()), str(add(datetime(2012, 2, 29), "year", -1).date())
    ('2012-02-29', '2011-02-28')
    """
    if unit in SECONDS:
        try:
            return moment + timedelta(seconds=SECONDS[unit] * count)
        except OverflowError:
            raise NoTime("beyond the calendar") from None
    start = _month(moment.year * 12 + moment.month - 1 + MONTHS[unit] * count)
    last = monthrange(start.year, start.month)[1]
    return start.replace(day=min(moment.day, last), hour=moment.hour, minute=moment.minute, second=moment.second)


def moved(moment: datetime, days: int) -> datetime:
    """A moment some days later."""
    return add(moment, "day", days)


def week_begin(year: int, week: int) -> datetime:
    """Monday of an ISO week; weeks that the year does not have are no times."""
    try:
        found = datetime.fromisocalendar(year, week, 1)
    except ValueError:
        raise NoTime(f"{year} has no week {week}") from None
    return found


def date(year: int, month: int, day: int) -> datetime:
    """The begin of a day, checked."""
    try:
        return datetime(year, month, day)
    except ValueError:
        raise NoTime(f"there is no day {year}-{month}-{day}") from None


def _month(number: int) -> datetime:
    year, month = divmod(number, 12)
    if not 1 <= year <= 9999:
        raise NoTime("beyond the calendar")
    return datetime(year, month + 1, 1)

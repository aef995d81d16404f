"""TIMEX3 values in and out.

    Range       1998, 1998-03, 1998-03-01, 1998-W07, 1998-Q1, 1998-SU, 199 (decade), 19 (century), ...T14:00, ...TMO
    Sequence    XXXX-WXX-5, XXXX-SU, 1998-XX-12: what is not said is X
    Duration    P3W, PT10H, P1Y6M; approximate PXY, PTXH
    Named       PAST_REF, PRESENT_REF, FUTURE_REF

A range is printed from its begin and its unit, so what is printed is a date that the calendar has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from weft.errors import DataError
from weft.tasks.time.calendar import MONTHS, SEASONS, SECONDS, NoTime, add, floor
from weft.tasks.time.ground import element
from weft.tasks.time.values import Duration, Named, Range, Sequence

TYPES = ("DATE", "TIME", "DURATION", "SET")
NAMES = ("PAST_REF", "PRESENT_REF", "FUTURE_REF")
_LETTERS = {"year": "Y", "month": "M", "week": "W", "day": "D", "hour": "H", "minute": "M", "second": "S"}
_VAGUE = _LETTERS | {"quarter": "Q", "half": "H", "decade": "E", "century": "C", "season": "M", "weekend": "WE"}
_IN_DATE = {"Y": "year", "M": "month", "W": "week", "D": "day", "Q": "quarter", "E": "decade", "C": "century"}
_IN_TIME = {"H": "hour", "M": "minute", "S": "second"}
#: Units that durations count in others.
_COUNTED = {"quarter": ("month", 3), "season": ("month", 3), "half": ("month", 6), "decade": ("year", 10),
            "century": ("year", 100), "weekend": ("day", 2), "part": ("day", 1)}  # fmt: skip


class Timex(NamedTuple):
    """A time expression: its TIMEX3 type and value, and its words [start, end)."""

    type: str
    value: str
    start: int = 0
    end: int = 0


def print_range(range_: Range) -> str:
    """The value of a range: a date at its granularity, or a duration if it is several units long.

    >>> print_range(Range(datetime(1998, 2, 9), datetime(1998, 2, 16), "week"))
    '1998-W07'
    >>> print_range(Range(datetime(1998, 2, 9), datetime(1998, 2, 11), "day"))
    'P2D'
    """
    begin, unit = range_.begin, range_.unit
    if unit not in ("part", "weekend"):
        count = _count(range_)
        if count != 1:
            return print_duration(Duration.of(unit, count)) if count > 1 else _stamp(begin, "day", "")
        if floor(begin, unit) != begin:
            unit = "day" if begin == floor(begin, "day") else "minute"
    return _stamp(begin, unit, range_.code)


def _count(range_: Range) -> int:
    """How many units a range has; 0 if they do not fill it."""
    seconds = (range_.end - range_.begin).total_seconds()
    unit = range_.unit
    if unit in SECONDS:
        return int(seconds // SECONDS[unit]) if seconds % SECONDS[unit] == 0 else 0
    months = (range_.end.year - range_.begin.year) * 12 + range_.end.month - range_.begin.month
    if unit in ("decade", "century") and range_.begin.year == 1:
        return 1
    return months // MONTHS[unit] if months % MONTHS[unit] == 0 else 0


def _stamp(begin: datetime, unit: str, code: str) -> str:
    year = begin.year
    if unit == "century":
        return f"{year // 100:02d}"
    if unit == "decade":
        return f"{year // 10:03d}"
    if unit == "year":
        return f"{year:04d}"
    if unit == "half":
        return f"{year:04d}-H{(begin.month + 5) // 6}"
    if unit == "quarter":
        return f"{year:04d}-Q{(begin.month + 2) // 3}"
    if unit == "season":
        return f"{year:04d}-{code or _season(begin)}"
    if unit in ("week", "weekend"):
        iso = begin.isocalendar()
        return f"{iso.year:04d}-W{iso.week:02d}" + "-WE" * (unit == "weekend")
    text = f"{year:04d}-{begin.month:02d}"
    if unit == "month":
        return text
    text += f"-{begin.day:02d}"
    if unit == "day":
        return text
    if unit == "part":
        return f"{text}T{code}"
    text += f"T{begin.hour:02d}:{begin.minute:02d}"
    return text + (f":{begin.second:02d}" if unit == "second" else "")


def _season(begin: datetime) -> str:
    return next(code for code, month in SEASONS.items() if month == begin.month)


def print_duration(duration: Duration) -> str:
    """The value of a duration.

    >>> print_duration(Duration.of("week", 3)), print_duration(Duration.of("hour").vague())
    ('P3W', 'PTXH')
    >>> print_duration(Duration.of("hour", 2).plus(Duration.of("minute", 30))), print_duration(Duration.of("decade"))
    ('PT2H30M', 'P10Y')
    """
    if duration.approximate:
        unit = duration.unit
        return f"PT{'X'}{_VAGUE[unit]}" if unit in ("hour", "minute", "second") else f"PX{_VAGUE.get(unit, 'D')}"
    amounts: dict[str, int] = {}
    for unit, count in duration.amounts:
        unit, size = _COUNTED.get(unit, (unit, 1))
        amounts[unit] = amounts.get(unit, 0) + count * size
    dates = "".join(f"{amounts[u]}{_LETTERS[u]}" for u in ("year", "month", "week", "day") if u in amounts)
    times = "".join(f"{amounts[u]}{_LETTERS[u]}" for u in ("hour", "minute", "second") if u in amounts)
    return f"P{dates}" + (f"T{times}" if times else "")


def print_sequence(sequence: Sequence) -> str:
    """The value of a sequence as such: what is not said is X.

    >>> [print_sequence(each) for each in (Sequence.of(weekday=5), Sequence.of(month=3), Sequence(unit="day"))]
    ['XXXX-WXX-5', 'XXXX-03', 'P1D']
    """
    if sequence.offset or sequence.inside is not None:
        raise NoTime("what was moved does not repeat")
    if not sequence.fields:
        return print_duration(Duration.of(sequence.unit))
    fields = dict(sequence.fields)
    if fields.keys() & {"short_year", "decade", "century", "nth"}:
        raise NoTime("it has no wildcard")
    return _wildcard(fields, sequence.unit)


def _wildcard(fields: Mapping[str, object], unit: str) -> str:
    year = f"{fields['year']:04d}" if "year" in fields else "XXXX"
    if unit in ("half", "quarter"):
        return f"{year}-{unit[0].upper()}{fields[unit]}"
    if unit == "season":
        return f"{year}-{fields['season']}"
    if unit == "year":
        return year
    clock = ""
    if "part" in fields:
        clock = f"T{fields['part']}"
    elif "hour" in fields:
        clock = f"T{fields['hour']:02d}:{fields.get('minute', 0):02d}"
        clock += f":{fields['second']:02d}" if "second" in fields else ""
    elif unit in ("minute", "second"):
        raise NoTime("it has no wildcard")
    if fields.keys() & {"week", "weekday", "weekend"}:
        week = f"{year}-W{fields['week']:02d}" if "week" in fields else f"{year}-WXX"
        if "weekend" in fields:
            return f"{week}-WE"
        return week + (f"-{fields['weekday']}" if "weekday" in fields else "") + clock
    if clock and not fields.keys() & {"day", "month", "year"}:
        return clock
    month = f"{fields['month']:02d}" if "month" in fields else "XX"
    if unit == "month":
        return f"{year}-{month}"
    return f"{year}-{month}-" + (f"{fields['day']:02d}" if "day" in fields else "XX") + clock


def print_open(sequence: Sequence, now: datetime) -> str:
    """A unit whose number is left open: a week of this year is 1998-WXX.

    >>> print_open(Sequence(unit="week"), datetime(1998, 3, 1))
    '1998-WXX'
    """
    if sequence.fields or sequence.inside is not None or sequence.unit not in ("week", "quarter", "month", "day"):
        raise NoTime("only plain units are left open")
    year = add(floor(now, sequence.unit), sequence.unit, sequence.offset).year
    form = {"week": "WXX", "quarter": "QX", "month": "XX", "day": "XX-XX"}[sequence.unit]
    return f"{year:04d}-{form}"


_DURATION = re.compile(
    r"P(?:(X|\d+)([CE]))?(?:(X|\d+)Y)?(?:(X|\d+)Q)?(?:(X|\d+)M)?(?:(X|\d+)W)?(?:(X|\d+)D)?"
    r"(?:T(?:(X|\d+)H)?(?:(X|\d+)M)?(?:(X|\d+)S)?)?"
)
_GROUPS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_DATE = re.compile(
    r"(\d{4}|X{4})(?:-(?:(\d{1,2}|XX)(?:-(\d{1,2}|XX))?|W(\d{1,2}|XX)(?:-(\d|WE))?|Q([1-4X])|H([12])|(SP|SU|FA|WI)))?"
)
_CLOCK = re.compile(r"T(?:(\d{1,2})(?::(\d{2})(?::(\d{2}))?)?|(MO|AF|EV|NI|DT|MI))(Z|[+-]\d{1,2}(?::?\d{2})?)?")


class Read(NamedTuple):
    """A value that was read: what it denotes, and how it was written where the calendar does not say it."""

    value: Range | Sequence | Duration | Named
    suffix: str = ""

    def __str__(self) -> str:
        value = self.value
        if isinstance(value, Named):
            text = value.name
        elif isinstance(value, Duration):
            text = print_duration(value)
        else:
            text = print_range(value) if isinstance(value, Range) else _as_written(value)
        return text + self.suffix


def _as_written(sequence: Sequence) -> str:
    fields, unit = dict(sequence.fields), sequence.unit
    if not fields:
        return {"quarter": "XXXX-QX", "week": "XXXX-WXX", "month": "XXXX-XX", "day": "XXXX-XX-XX", "year": "XXXX"}[unit]
    if fields.keys() == {"year"} and unit != "year":
        form = {"quarter": "QX", "week": "WXX", "month": "XX", "day": "XX-XX"}[unit]
        return f"{fields['year']:04d}-{form}"
    return _wildcard(fields, unit)


def read_value(text: str) -> Read:
    """What a TIMEX3 value denotes; one that is none is an error.

    >>> str(read_value("1998-W7")), str(read_value("P2W")), str(read_value("XXXX-WXX-5TNI"))
    ('1998-W07', 'P2W', 'XXXX-WXX-5TNI')
    >>> read_value("1998-02-30")
    Traceback (most recent call last):
    ...
    weft.errors.DataError: '1998-02-30' is not a TIMEX3 value; expected one like 1998-02-03, 1998-W07, P3D or PAST_REF
    """
    try:
        return _read(text.strip())
    except (NoTime, KeyError, ValueError):
        raise DataError(
            f"{text!r} is not a TIMEX3 value; expected one like 1998-02-03, 1998-W07, P3D or PAST_REF"
        ) from None


def _read(text: str) -> Read:
    if text in NAMES:
        return Read(Named(text))
    if text.startswith("P"):
        return Read(_read_duration(text))
    if re.fullmatch(r"\d{2,3}", text):
        century, decade = int(text[:2]), text[2:]
        long = {"century": century} | ({"decade": int(decade)} if decade else {})
        return Read(element(Sequence.of(**long), datetime(2000, 1, 1)))
    if not text:
        raise NoTime("no value")
    day, mark, clock = text.partition("T")
    fields, unit = _read_date(day) if day else ({}, "")
    suffix = ""
    if mark:
        match = _CLOCK.fullmatch(mark + clock)
        if match is None or unit not in ("day", ""):
            raise NoTime("no time of day")
        hour, minute, second, part, suffix = match.groups(default="")
        if part:
            fields["part"], unit = part, "part"
        else:
            fields |= {"hour": int(hour), "minute": int(minute or 0)} | ({"second": int(second)} if second else {})
            unit = "second" if second else "minute"
    if any(
        number > most
        for name, most in (("hour", 23), ("minute", 59), ("second", 59))
        if isinstance(number := fields.get(name, 0), int)
    ):
        raise NoTime("no time of day")
    sequence = Sequence(Sequence.of(**fields).fields if fields else (), unit)
    whole = {"day": {"month", "day"}, "month": {"month"}, "weekend": {"week"}}.get(
        "day" if unit in ("part", "minute", "second") else unit, set()
    )
    weekly = unit == "day" and "weekday" in fields and "week" in fields
    complete = "year" in fields and (fields.keys() >= whole or weekly) and (unit == "year" or len(fields) > 1)
    if not complete:
        _check_wildcard(fields)
        return Read(sequence, suffix)
    found = element(sequence, datetime(2000, 1, 1))
    return Read(sequence if weekly else found, suffix)


def _check_wildcard(fields: Mapping[str, int | str]) -> None:
    """A wildcard is a time if some year has it."""
    month, day = fields.get("month", 1), fields.get("day", 1)
    if isinstance(month, int) and isinstance(day, int):
        datetime(2000, month, day)
    if not 1 <= int(fields.get("week", 1)) <= 53 or not 1 <= int(fields.get("weekday", 1)) <= 7:
        raise NoTime("no such week or day")


def _read_date(text: str) -> tuple[dict[str, int | str], str]:
    match = _DATE.fullmatch(text)
    if match is None:
        raise NoTime("no date")
    year, month, day, week, weekday, quarter, half, season = match.groups()
    fields: dict[str, int | str] = {}
    unit = "year"
    for name, given, spans in (
        ("year", year, "year"), ("month", month, "month"), ("day", day, "day"), ("week", week, "week"),
        ("quarter", quarter, "quarter"), ("half", half, "half"),
    ):  # fmt: skip
        if given is not None:
            unit = spans
            if "X" not in given:
                fields[name] = int(given)
    if weekday == "WE":
        fields["weekend"], unit = 1, "weekend"
    elif weekday:
        fields["weekday"], unit = int(weekday), "day"
    if season:
        fields["season"], unit = season, "season"
    return fields, unit


def _read_duration(text: str) -> Duration:
    match = _DURATION.fullmatch(text)
    if match is None or text in ("P", "PT") or text.endswith("T"):
        raise NoTime("no duration")
    count, letter, *rest = match.groups()
    amounts = [({"E": "decade", "C": "century"}[letter], count)] if count else []
    amounts += [(unit, given) for unit, given in zip(_GROUPS, rest, strict=True) if given]
    if any(given == "X" for _, given in amounts):
        if len(amounts) > 1:
            raise NoTime("an approximate duration has one unit")
        return Duration(((amounts[0][0], 1),), True)
    return Duration(tuple((unit, int(given)) for unit, given in amounts))


def normal(text: str) -> str:
    """A value as Weft writes it; one that cannot be read stays as it is.

    >>> normal("2000-W7"), normal("T9:30"), normal("undef")
    ('2000-W07', 'T09:30', 'undef')
    """
    try:
        return str(read_value(text))
    except DataError:
        return text


def type_of(value: str) -> str:
    """The TIMEX3 type that a value has if nothing else is known.

    >>> [type_of(value) for value in ("P3D", "1998-03", "1998-03-01TMO", "XXXX-WXX-5", "PRESENT_REF")]
    ['DURATION', 'DATE', 'TIME', 'SET', 'DATE']
    """
    if value in NAMES:
        return "DATE"
    if value.startswith("P"):
        return "DURATION"
    if "T" in value:
        return "TIME"
    return "SET" if value.startswith("XXXX") else "DATE"

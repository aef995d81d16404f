"""Days as numbers, and the windows of time in which facts hold.

1970-01-01 is day 0      a year or a month begins on its first day and ends on its last one
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, timedelta
from typing import NamedTuple

from weft.errors import DataError

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T.*)?)?)?$")
_FIRST = date(1970, 1, 1)


class Window(NamedTuple):
    """The first and the last day of a time."""

    first: int
    last: int


#: What nothing says when it begins or ends.
ALWAYS = Window(-(2**31), 2**31 - 1)


def day(text: str, last: bool = False) -> int:
    """The day of a date, such as 2014-05-17, 2014-05 or 2014; of a month or year the first one, or the `last`.

    >>> day("1970-01-02"), day("1971"), day("1971", last=True)
    (1, 365, 729)
    """
    match = _DATE.match(text.strip())
    try:
        if match is None:
            raise ValueError
        year, month, number = (int(part) if part else 0 for part in match.groups())
        if not month:
            month, number = (12, 31) if last else (1, 1)
        if not number:
            number = monthrange(year, month)[1] if last else 1
        return (date(year, month, number) - _FIRST).days
    except (ValueError, OverflowError):
        raise DataError(f"{text!r} is not a date; write it as 2014-05-17, 2014-05 or 2014") from None


def date_of(number: int) -> str:
    """The date of a day; "" for a beginning or an end that is open.

    >>> date_of(day("2014-05-17")), date_of(ALWAYS.first)
    ('2014-05-17', '')
    """
    if number in ALWAYS:
        return ""
    try:
        return (_FIRST + timedelta(days=number)).isoformat()
    except OverflowError:
        return ""


def window_of(begin: str, end: str) -> Window:
    """The window between two dates, of which either may be empty.

    >>> window_of("2001", "2001-03"), window_of("", "") == ALWAYS
    (Window(first=11323, last=11412), True)
    """
    first = day(begin) if begin.strip() else ALWAYS.first
    final = day(end, last=True) if end.strip() else ALWAYS.last
    if first > final:
        raise DataError(f"a time that begins with {begin} cannot end with {end}")
    return Window(first, final)

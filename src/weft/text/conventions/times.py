"""Time expressions as a span layer: the label is the TIMEX3 type, the attribute `value` its value.

    spans/times      DATE, TIME, DURATION or SET; value 1998-03-01, P3W, ...; anchor: the reference time of the document

Alternatives and probabilities are attributes too, if they were asked for. A document's own date is `doc.meta["date"]`;
a reference date given by a user is `doc.meta["reference_date"]` and takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from weft.errors import ConfigError
from weft.text.views import Span

if TYPE_CHECKING:
    from weft.text.doc import Doc

LAYER = "times"
TYPES = ("DATE", "TIME", "DURATION", "SET")
DATE, REFERENCE = "date", "reference_date"
#: Where a reference time came from.
GIVEN, DOCUMENT, TODAY = "given", "document", "today"
_ISO = re.compile(r"(\d{4})(?:-(\d{1,2})-(\d{1,2})|(\d{2})(\d{2}))(?:[T ](\d{1,2}):?(\d{2})(?::?(\d{2}))?)?")


class Timex(Span):
    """A time expression of a document.

    >>> from weft.text import Doc, SpanLayer
    >>> doc = Doc.from_words([["See", "you", "on", "Friday"]])
    >>> doc.spans["times"] = SpanLayer(doc.strings)
    >>> doc.spans["times"].add([(3, 4)], "DATE", value="2013-08-09")
    0
    >>> doc.times
    [Timex('Friday', 'DATE', '2013-08-09')]
    """

    __slots__ = ()

    @property
    def type(self) -> str:
        """DATE, TIME, DURATION or SET."""
        return self.label

    @property
    def value(self) -> str:
        """The TIMEX3 value; empty if it has none."""
        return str(self.attributes.get("value", ""))

    @property
    def alternatives(self) -> list[dict[str, Any]]:
        """Other values and their probabilities, if the model was asked for the k best."""
        return list(self.attributes.get("alternatives", []))

    def __repr__(self) -> str:
        return f"Timex({self.text!r}, {self.label!r}, {self.value!r})"


def timexes(doc: Doc, layer: str = LAYER) -> Iterator[Timex]:
    """The time expressions of a document."""
    for index in range(len(doc.spans[layer]) if layer in doc.spans else 0):
        yield Timex(doc, layer, index)


def read_moment(text: str) -> datetime:
    """A date, with or without a time of day; a day without one means noon.

    >>> read_moment("2026-05-01"), read_moment("19980301 08:30")
    (datetime.datetime(2026, 5, 1, 12, 0), datetime.datetime(1998, 3, 1, 8, 30))
    >>> read_moment("2003-5-30 00:00:00")
    datetime.datetime(2003, 5, 30, 0, 0)
    >>> read_moment("May 1")
    Traceback (most recent call last):
    ...
    weft.errors.ConfigError: 'May 1' is not a date; give it as 2026-05-01 or 2026-05-01T08:30
    """
    match = _ISO.match(str(text).strip())
    try:
        if match is None:
            raise ValueError
        year, *days, hour, minute, second = match.groups()
        month, day = [each for each in days if each is not None]
        return datetime(int(year), int(month), int(day), int(hour or 12), int(minute or 0), int(second or 0))
    except ValueError:
        raise ConfigError(f"{str(text)!r} is not a date; give it as 2026-05-01 or 2026-05-01T08:30") from None


def reference_of(doc: Doc, today: datetime | None = None) -> tuple[datetime, str]:
    """The reference time of a document and where it comes from: the user, the document, or today's date.

    >>> from weft.text import Doc
    >>> reference_of(Doc("Today.", meta={"date": "2013-08-06"}))
    (datetime.datetime(2013, 8, 6, 12, 0), 'document')
    """
    for key, origin in ((REFERENCE, GIVEN), (DATE, DOCUMENT)):
        if doc.meta.get(key):
            return read_moment(str(doc.meta[key])), origin
    if today is None:
        today = datetime.now().replace(hour=12, minute=0, second=0, microsecond=0)
    return today, TODAY

"""The notes of one patient on one timeline: the timelines of all notes, joined by the dates that they mention.

Every note has a DOCTIME of its own. With `rules`, what is known to last or to end is carried from note to note:

    PERMANENT, going on in a note     goes on in the last note as well, and so in all between
    FINITE, going on in a note        is over before the note that follows the last one that mentions it again

An event goes on if its DocTimeRel is OVERLAP or BEFORE/OVERLAP. A mention of the same words that is not negated
mentions it again. Permanence is an attribute of events that annotators leave to an ontology of disorders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.errors import DataError, WeftError
from weft.infer.orders.intervals import Link
from weft.tasks.timelines.rules import calendar_links
from weft.tasks.timelines.timeline import MOST, Interval, Timeline
from weft.text.conventions.timeline import DOCTIME, EVENT, LAYER, document_date, thyme_value
from weft.text.doc import Doc

_GOING_ON = ("OVERLAP", "BEFORE/OVERLAP")


class Course(Timeline):
    """The closed timeline of several notes, which must have dates; names are those of notes and intervals: May/E1.

    >>> from weft.text.conventions.timeline import new_layers
    >>> def note(name, date, word, **attributes):
    ...     doc = Doc.from_words([[word]])
    ...     doc.meta.update(id=name, date=date)
    ...     _ = new_layers(doc)[0].add([(0, 1)], "EVENT", DocTimeRel="OVERLAP", **attributes)
    ...     return doc
    >>> notes = [note("May", "2014-05-02", "fever", Permanence="FINITE"), note("June", "2014-06-10", "scan")]
    >>> Course(notes).holds("fever", "BEFORE", "scan"), Course(notes, rules=True).holds("fever", "BEFORE", "scan")
    (False, False)
    >>> Course(notes, rules=True).holds("fever", "BEFORE", "June/DOCTIME")
    True
    """

    def __init__(self, docs: Sequence[Doc], rules: bool = False, layer: str = LAYER) -> None:
        if not docs:
            raise WeftError("there are no notes to put on a timeline")
        for number, doc in enumerate(docs, 1):
            if not document_date(doc):
                raise DataError(f"note {number} ({doc.id or 'without a name'}) has no date; set doc.meta['date']")
        ordered = sorted(docs, key=document_date)
        self.notes = [Timeline(doc, rules, layer) for doc in ordered]
        self.doc, self.layer = ordered[-1], layer
        self._starts: list[int] = []
        self.intervals = []
        links: dict[Link, str] = {}
        for number, (doc, note) in enumerate(zip(ordered, self.notes, strict=True), 1):
            start = len(self.intervals)
            self._starts.append(start)
            name = doc.id or str(number)
            self.intervals += [each._replace(name=f"{name}/{each.name}") for each in note.intervals]
            for link, source in zip(note._given, note._sources, strict=True):
                links[Link(link.first + start, link.relation, link.second + start)] = source
        if len(self.intervals) > MOST:
            raise WeftError(f"the notes have {len(self.intervals):,} events and times, but a timeline at most {MOST:,}")
        for link in calendar_links([self._date(interval) for interval in self.intervals]):
            links.setdefault(link, "value")
        if rules:
            for link in self._lasting():
                links.setdefault(link, "rule")
        self._given, self._sources = list(links), list(links.values())

    @staticmethod
    def _date(interval: Interval) -> str:
        if interval.kind == DOCTIME:
            return interval.text
        return str(interval.span.attributes.get("value") or "") if interval.span is not None else ""

    def _lasting(self) -> Iterator[Link]:
        """What goes on from note to note, and what has ended."""
        nows = [start + len(note.intervals) - 1 for start, note in zip(self._starts, self.notes, strict=True)]
        dates = [self.intervals[now].text for now in nows]
        last: dict[str, int] = {}  # the last note that mentions an event, by its words
        for number, note in enumerate(self.notes):
            last |= {each.text.lower(): number for each in note.intervals if _value(each, "Polarity") != "NEG"}
        for number, (start, note) in enumerate(zip(self._starts, self.notes, strict=True)):
            for place, interval in enumerate(note.intervals):
                lasting = _value(interval, "DocTimeRel") in _GOING_ON and _value(interval, "Polarity") != "NEG"
                if interval.kind != EVENT or not lasting:
                    continue
                if _value(interval, "Permanence") == "PERMANENT" and dates[-1] > dates[number]:
                    yield Link(start + place, "BEFORE/OVERLAP", nows[-1])
                if _value(interval, "Permanence") == "FINITE":
                    again = dates[last[interval.text.lower()]]
                    yield from (Link(start + place, "BEFORE", now) for now, day in zip(nows, dates, strict=True)
                                if day == min((each for each in dates if each > again), default=""))  # fmt: skip


def _value(interval: Interval, name: str) -> str:
    """An attribute in the terms of THYME."""
    return thyme_value(name, str(interval.span.attributes.get(name) or "")) if interval.span is not None else ""

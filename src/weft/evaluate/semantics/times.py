"""Scores of time expressions, as in TempEval: extents, types and values.

    extents   spans with the same characters        type, value   those whose type or value is the same too

With given extents, precision and recall of type and value are both the accuracy. Values are compared as strings;
`normalized` fills in zeros that an annotator left out (1998-W7 is 1998-W07) and reads T9:30 as T09:30.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from weft.errors import WeftError
from weft.evaluate.counts import Counts
from weft.text.conventions.times import LAYER, timexes
from weft.text.doc import Doc

_LONE = re.compile(r"(?<=[-WT:])(\d)(?=$|[-:T])")


def padded(value: str) -> str:
    """A value with the zeros of its months, days, weeks and hours.

    >>> padded("2003-5-9T3:15"), padded("2000-W7"), padded("XXXX-WXX-5"), padded("P3D")
    ('2003-05-09T03:15', '2000-W07', 'XXXX-WXX-5', 'P3D')
    """
    if value.startswith("P") or re.search(r"-W(\d\d|XX)-\d", value):
        return value
    return _LONE.sub(r"0\1", value)


@dataclass(frozen=True)
class TimeReport:
    """Counts per document of extents, types and values."""

    extents: Counts
    type: Counts
    value: Counts

    def as_dict(self) -> dict[str, float]:
        """F of extents, and accuracy of type and value among the gold expressions."""
        return {
            "extents F": self.extents.total().f1,
            "type": self.type.total().recall,
            "value": self.value.total().recall,
        }

    def counts(self) -> dict[str, Counts]:
        """The counts by the names that `weft evaluate` shows."""
        return {"extents": self.extents, "type": self.type, "value": self.value}


def score_times(gold: Sequence[Doc], system: Sequence[Doc], layer: str = LAYER, normalized: bool = True) -> TimeReport:
    """Compare the time expressions of the same documents.

    >>> from weft.text.layers import SpanLayer
    >>> def said(kind, value):
    ...     doc = Doc.from_words([["next", "Friday"]])
    ...     doc.spans["times"] = SpanLayer(doc.strings)
    ...     _ = doc.spans["times"].add([(0, 2)], kind, value=value)
    ...     return doc
    >>> score_times([said("DATE", "1998-03-06")], [said("DATE", "1998-03-13")]).as_dict()
    {'extents F': 1.0, 'type': 1.0, 'value': 0.0}
    """
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} documents, system has {len(system)}; both must have the same")
    rows = [_compared(one, other, layer, normalized) for one, other in zip(gold, system, strict=True)]
    sizes = [row[0] for row in rows], [row[1] for row in rows]
    return TimeReport(*(Counts.of(*sizes, [row[place] for row in rows]) for place in (2, 3, 4)))


def evaluate_times(gold: Sequence[Doc], system: Sequence[Doc], layer: str = LAYER) -> dict[str, Counts]:
    """Counts of documents with the same text, by the names of measures."""
    return score_times(gold, system, layer).counts()


def _compared(gold: Doc, system: Doc, layer: str, normalized: bool) -> tuple[int, int, int, int, int]:
    ours = {timex.characters: timex for timex in timexes(gold, layer)}
    theirs = {timex.characters: timex for timex in timexes(system, layer)}
    both = [(ours[place], theirs[place]) for place in ours if place in theirs]
    same = sum(a.value == b.value or (normalized and padded(a.value) == padded(b.value)) for a, b in both if a.value)
    return len(ours), len(theirs), len(both), sum(a.type == b.type for a, b in both), same

"""Links that need knowledge: the order of dates, and rules of the clinical domain, which are off by default.

Rules of care (Styler et al. 2014), each for events in the same container:

    colonoscopy CONTAINS biopsy          colonoscopy BEFORE pathology BEFORE diagnosis BEFORE resection
    a staging code (T4N1) comes from the pathology after the resection: resection BEFORE code

An event that is PERMANENT and was before the note goes on: BEFORE/OVERLAP. An event without DocTimeRel gets that of its
section (`weft.tasks.timelines.sections`). What lasts or ends from note to note is in `weft.tasks.timelines.course`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import pairwise

from weft.infer.orders.intervals import Link
from weft.tasks.timelines.sections import PRIORS, section_titles
from weft.text.conventions.timeline import DOC_TIME_REL, LAYER, Mention, spans_of
from weft.text.doc import Doc
from weft.text.layers import chars_of_words

_DATE = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$")
_STAGING = re.compile(r"p?T[0-4][a-d]?N[0-3][a-c]?(M[01])?$", re.I)
#: Stages of care in their order; a word belongs to the first stage that it begins with.
CARE = (
    ("colonoscop", "endoscop", "sigmoidoscop"),
    ("patholog", "histolog"),
    ("diagnos",),
    ("resection", "resect", "colectom", "hemicolectom", "excision"),
)
_BIOPSY = ("biops",)


def calendar_links(values: Sequence[str]) -> Iterator[Link]:
    """Links between the dates among TIMEX3 values: days, months and years that do not overlap, or strictly contain.

    >>> [tuple(link) for link in calendar_links(["2014-12-19", "P6M", "2015", "2014-12"])]
    [(3, 'BEFORE', 2), (0, 'BEFORE', 2), (3, 'CONTAINS', 0)]
    """
    dates = [(range_, i) for i, value in enumerate(values) if (range_ := _range(value)) is not None]
    # A date is before all that begin after its end; of these, a link to each that does not end after another one is
    # enough, since the rest follows. There are few dates, so that all pairs are affordable, but links are not.
    dates.sort()
    for place, ((_, end), i) in enumerate(dates):
        later = [(span, j) for span, j in dates[place + 1 :] if span[0] >= end]
        soonest = min((span[1] for span, _ in later), default=0)
        for span, j in later:
            if span[0] < soonest:
                yield Link(i, "BEFORE", j)
    for (one, i), (other, j) in ((a, b) for a in dates for b in dates if a is not b):
        if one[0] < other[0] and other[1] < one[1]:
            yield Link(i, "CONTAINS", j)


def _range(value: str) -> tuple[int, int] | None:
    """First day and the day after the last one of a year, month or day."""
    match = _DATE.match(value)
    if not match:
        return None
    year, month, day = (int(each) if each else 0 for each in match.groups())
    try:
        start = date(year, month or 1, day or 1).toordinal()
        if day:
            return start, start + 1
        end = date(year + (month in (0, 12)), month % 12 + 1 if month else 1, 1).toordinal()
    except ValueError:
        return None
    return start, end


def care_links(
    doc: Doc,
    mentions: Sequence[Mention],
    texts: Sequence[str],
    links: Sequence[Link],
    now: int,
    layer: str = LAYER,
) -> Iterator[Link]:
    """The links of all rules of the domain."""
    inside: dict[int, list[int]] = {}
    for first, relation, second in links:
        if relation == "CONTAINS" and second != now:
            inside.setdefault(first, []).append(second)
    for members in inside.values():
        yield from _progression(members, texts)
    titles = section_titles(doc, [row.pieces[0][0] for row in chars_of_words(doc, spans_of(doc, layer))])
    for i, mention in enumerate(mentions):
        if mention.is_time:
            continue
        known = mention.get("DocTimeRel")
        if known not in DOC_TIME_REL and titles[mention.number] in PRIORS:
            yield Link(i, PRIORS[titles[mention.number]], now)
        if known == "OVERLAP" and mention.get("Permanence") == "PERMANENT":
            yield Link(i, "BEFORE/OVERLAP", now)


def _progression(members: Sequence[int], texts: Sequence[str]) -> Iterator[Link]:
    stages = [[i for i in members if texts[i].lower().startswith(words)] for words in CARE]
    biopsies = [i for i in members if texts[i].lower().startswith(_BIOPSY)]
    codes = [i for i in members if _STAGING.match(texts[i])]
    for scope in stages[0]:
        yield from (Link(scope, "CONTAINS", biopsy) for biopsy in biopsies)
    filled = [stage for stage in stages if stage]
    for earlier, later in pairwise(filled):
        yield from (Link(a, "BEFORE", b) for a in earlier for b in later)
    for resection in stages[3]:
        yield from (Link(resection, "BEFORE", code) for code in codes)

"""The timeline of a document: what its layer says, and what follows from that.

    intervals   every event and time of the layer, and DOCTIME, the time of the document
    links       those of the layer, DocTimeRel as links to DOCTIME, the order of dates whose values are known
    inferred    everything else that holds in all orders of the end points that agree with the links

Links that contradict each other are reported as a minimal cycle. The timeline then rests on the links that can be kept
if each in turn, those of the layer first, is added unless it contradicts those before it; the rest is `left_out`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from weft.errors import WeftError
from weft.infer.orders.intervals import RELATIONS, THYME, IntervalGraph, Link
from weft.tasks.timelines.rules import calendar_links, care_links
from weft.text.conventions.timeline import (
    DOC_TIME_REL,
    DOCTIME,
    LAYER,
    Mention,
    document_date,
    mentions_of,
    temporal_links,
)
from weft.text.doc import Doc
from weft.text.views import Span

#: The closure takes time with the cube of the number of intervals.
MOST = 3000


class Interval(NamedTuple):
    """An event or a time: its name on the timeline, its kind, its text, and its span (None for DOCTIME)."""

    name: str
    kind: str
    text: str
    span: Span | None

    def __str__(self) -> str:
        return self.text if self.text and self.kind != DOCTIME else self.name

    def __repr__(self) -> str:
        return f"Interval({self.name!r}, {self.text!r})"


class TimelineLink(NamedTuple):
    """`first` stands in a relation to `second`; `source` is link, DocTimeRel, value, rule or inferred."""

    first: Interval
    relation: str
    second: Interval
    source: str

    @property
    def inferred(self) -> bool:
        """Whether nobody said so, but it follows from what was said."""
        return self.source == "inferred"

    def __str__(self) -> str:
        return f"{self.first} {self.relation} {self.second}" + (f" ({self.source})" if self.source != "link" else "")

    def __repr__(self) -> str:
        return f"TimelineLink({str(self)!r})"


class Timeline:
    """The closed timeline of a document; see `Doc.timeline`.

    >>> doc = Doc.from_words([["Monday", ":", "surgery", "in", "which", "she", "bled"]])
    >>> from weft.text.conventions.timeline import new_layers
    >>> spans, links = new_layers(doc)
    >>> for word, kind in ((0, "TIMEX3"), (2, "EVENT"), (6, "EVENT")):
    ...     _ = spans.add([(word, word + 1)], kind)
    >>> _ = links.add(0, 1, "CONTAINS"), links.add(1, 2, "CONTAINS")
    >>> timeline = doc.timeline()
    >>> print(timeline)
    Monday
      surgery
        bled
    >>> [str(link) for link in timeline.inferred("CONTAINS")]
    ['Monday CONTAINS bled (inferred)']
    >>> timeline.holds("Monday", "CONTAINS", "bled"), timeline.cycle
    (True, [])
    """

    def __init__(self, doc: Doc, rules: bool = False, layer: str = LAYER) -> None:
        self.doc, self.layer = doc, layer
        mentions = mentions_of(doc, layer)
        if len(mentions) > MOST:
            raise WeftError(
                f"{doc.id or 'the document'} has {len(mentions):,} events and times, but a timeline has at most "
                f"{MOST:,}: cut the document into parts"
            )
        kept = [mention for mention in mentions if mention.kind != DOCTIME]
        self._number = {mention.number: i for i, mention in enumerate(kept)}
        # All spans of the document's own time are one interval, the last one.
        self._number |= {mention.number: len(kept) for mention in mentions if mention.kind == DOCTIME}
        self.intervals = [*_named(doc, layer, kept), Interval(DOCTIME, DOCTIME, _doc_time(doc, layer, mentions), None)]
        self._given, self._sources = self._links(kept, rules)

    def _links(self, mentions: list[Mention], rules: bool) -> tuple[list[Link], list[str]]:
        """All links that are said, by their sources: those of the layer first."""
        now = len(self.intervals) - 1
        links: dict[Link, str] = {}
        for first, relation, second, _ in temporal_links(self.doc, self.layer):
            if relation in RELATIONS:
                links.setdefault(Link(self._number[first], relation, self._number[second]), "link")
        for i, mention in enumerate(mentions):
            if mention.get("DocTimeRel") in DOC_TIME_REL:
                links.setdefault(Link(i, mention.get("DocTimeRel"), now), "DocTimeRel")
        values = [str(mention.attributes.get("value") or "") for mention in mentions]
        for first, relation, second in calendar_links([*values, document_date(self.doc)]):
            links.setdefault(Link(first, relation, second), "value")
        if rules:
            texts = [interval.text for interval in self.intervals[:-1]]
            for link in care_links(self.doc, mentions, texts, list(links), now, self.layer):
                links.setdefault(link, "rule")
        return list(links), list(links.values())

    @cached_property
    def _said(self) -> IntervalGraph:
        return IntervalGraph(len(self.intervals), self._given)

    @cached_property
    def _kept(self) -> list[int]:
        return list(range(len(self._given))) if self._said.consistent else self._said.chosen()

    @cached_property
    def _graph(self) -> IntervalGraph:
        return IntervalGraph(len(self.intervals), [self._given[i] for i in self._kept])

    def _view(self, link: Link, source: str) -> TimelineLink:
        return TimelineLink(self.intervals[link.first], link.relation, self.intervals[link.second], source)

    @property
    def consistent(self) -> bool:
        """Whether all that is said can be true at once."""
        return self._said.consistent

    @cached_property
    def cycle(self) -> list[TimelineLink]:
        """Links that contradict each other, none of which can be spared; empty if there is no contradiction."""
        return [self._view(self._given[i], self._sources[i]) for i in self._said.cycle()]

    @property
    def links(self) -> list[TimelineLink]:
        """The links that are said and that the timeline rests on."""
        return [self._view(self._given[i], self._sources[i]) for i in self._kept]

    @property
    def left_out(self) -> list[TimelineLink]:
        """Links that contradict those before them."""
        kept = set(self._kept)
        return [self._view(self._given[i], self._sources[i]) for i in range(len(self._given)) if i not in kept]

    def inferred(self, *relations: str) -> Iterator[TimelineLink]:
        """The links that follow, of some relations or of all of THYME; none of them is said."""
        for link in self._graph.inferred(relations or THYME):
            yield self._view(link, "inferred")

    def find(self, name: str) -> list[Interval]:
        """The intervals with a name (E3, T1, DOCTIME) or a text."""
        return [each for each in self.intervals if name in (each.name, each.text)]

    def holds(self, first: str | Interval, relation: str, second: str | Interval) -> bool:
        """Whether a relation is said or follows, of intervals given by their name or text."""
        pair = []
        for each in (first, second):
            found = [each] if isinstance(each, Interval) else self.find(each)
            if len(found) != 1:
                known = ", ".join(f"{i.name} {i.text}".strip() for i in (found or self.intervals)[:10])
                what = f"there are {len(found)} intervals {each!r}" if found else f"there is no interval {each!r}"
                raise WeftError(f"{what}; name one of: {known}")
            pair.append(self.intervals.index(found[0]))
        if relation not in RELATIONS:
            raise WeftError(f"unknown relation {relation!r}; the relations are: {', '.join(RELATIONS)}")
        return self._graph.holds(Link(pair[0], relation, pair[1]))

    @cached_property
    def ranks(self) -> list[tuple[int, int]]:
        """The places of the start and the end of every interval in an order of all points that agrees with the links.

        Points whose order is not known may share a place. Starts stand as late and ends as early as they can.
        """
        places = self._graph.points.ranks(late=range(0, 2 * len(self.intervals), 2))
        return [(int(a), int(b)) for a, b in places.reshape(-1, 2)]

    @cached_property
    def containers(self) -> list[int]:
        """For every interval, the number of the innermost one that contains it, -1 if there is none."""
        inside = self._graph.matrix("CONTAINS")
        sizes = inside.sum(axis=0)
        said = set(self._graph.links)
        found = []
        for i in range(len(self.intervals)):
            around = np.flatnonzero(inside[:, i]).tolist()
            # Of containers at the same depth, one that is said goes before one that follows.
            ranked = [(int(sizes[j]), Link(j, "CONTAINS", i) in said, -j) for j in around]
            found.append(-max(ranked)[2] if ranked else -1)
        return found

    def is_inferred_container(self, i: int) -> bool:
        """Whether that interval i is in its container follows, but is not said."""
        return self.containers[i] >= 0 and Link(self.containers[i], "CONTAINS", i) not in set(self._graph.links)

    def rows(self) -> list[tuple[int, int]]:
        """All intervals in the order of their starts, each container followed by its contents: depth and number.

        DOCTIME is left out where nothing is said about it.
        """
        children: dict[int, list[int]] = {}
        linked = {i for link in self._graph.links for i in (link.first, link.second)}
        for i, container in enumerate(self.containers):
            if self.intervals[i].kind != DOCTIME or i in linked:
                children.setdefault(container, []).append(i)
        found: list[tuple[int, int]] = []
        stack = [(0, i) for i in sorted(children.get(-1, []), key=self._place, reverse=True)]
        while stack:
            depth, i = stack.pop()
            found.append((depth, i))
            stack += [(depth + 1, j) for j in sorted(children.get(i, []), key=self._place, reverse=True)]
        return found

    def _place(self, i: int) -> tuple[int, int, int]:
        start, end = self.ranks[i]
        return start, -end, i

    def __len__(self) -> int:
        """The number of events and times, without DOCTIME."""
        return sum(interval.kind != DOCTIME for interval in self.intervals)

    def __str__(self) -> str:
        return "\n".join("  " * depth + str(self.intervals[i]) for depth, i in self.rows())

    def __repr__(self) -> str:
        said = "" if self.consistent else ", contradictory"
        return f"Timeline({len(self)} events and times, {len(self._given)} links{said})"


def _named(doc: Doc, layer: str, mentions: list[Mention]) -> list[Interval]:
    """Names in the order of the text: E1, E2 for events, T1, T2 for times."""
    found = []
    counts = {"E": 0, "T": 0}
    ordered = sorted(range(len(mentions)), key=lambda i: (doc.spans[layer][mentions[i].number].pieces, i))
    names = {}
    for i in ordered:
        letter = "T" if mentions[i].is_time else "E"
        counts[letter] += 1
        names[i] = f"{letter}{counts[letter]}"
    for i, mention in enumerate(mentions):
        span = Span(doc, layer, mention.number)
        found.append(Interval(names[i], mention.kind, " ".join(span.text.split()), span))
    return found


def _doc_time(doc: Doc, layer: str, mentions: list[Mention]) -> str:
    """The date of the document: that of its metadata, or what its spans of DOCTIME say."""
    if document_date(doc):
        return document_date(doc)
    spans = [Span(doc, layer, mention.number).text.strip() for mention in mentions if mention.kind == DOCTIME]
    return spans[0] if spans else ""

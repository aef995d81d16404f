"""Scores of events, times and temporal links that respect what follows from links.

    plain       P = |S and G| / |S|              R = |S and G| / |G|
    closure     P = |S and G+| / |S|             R = |G and S+| / |G|
    awareness   P = |S- and G+| / |S-|           R = |G- and S+| / |G-|       (TempEval-3)

S and G are the links of system and gold, + is the closure and - the reduction (`weft.infer.orders.intervals`). Links
are identified by the characters of their mentions, so that mentions of the same characters are one interval; links
that say the same of the same points (x OVERLAP y, y OVERLAP x) count once. The counts of the first two are those of
`anaforatools` with `-i TLINK:Type` (and `--temporal-closure`), contradictory links included.

Agreement (`agreement`) is symmetric. An explicit link of one annotator is matched if it follows from those of the
other; a link that follows from the other links of its own annotator counts neither as matched nor as unmatched. That
holds for CONTAINS alone too: which of these links count and which are matched follows from links of all relations.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from weft.errors import WeftError
from weft.evaluate.agreement import NONE, Agreement, AgreementTable, Unit
from weft.evaluate.counts import Counts, Score
from weft.infer.orders.intervals import RELATIONS, IntervalGraph, Link, conditions_of
from weft.text.conventions.timeline import (
    ATTRIBUTES,
    EVENT,
    LAYER,
    TIMEX3,
    mentions_of,
    spans_of,
    temporal_links,
)
from weft.text.doc import Doc
from weft.text.layers import Pieces, chars_of_words


class PlacedLink(NamedTuple):
    """A link of two mentions given by their characters, or by any other names."""

    first: Hashable
    relation: str
    second: Hashable


@dataclass(frozen=True)
class LinkScore:
    """Precision and recall of links, which count different matches."""

    gold: int
    system: int
    gold_matched: int
    system_matched: int

    @property
    def precision(self) -> float:
        return self.system_matched / self.system if self.system else 1.0

    @property
    def recall(self) -> float:
        return self.gold_matched / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both else 0.0

    def __add__(self, other: LinkScore) -> LinkScore:
        return LinkScore(
            self.gold + other.gold,
            self.system + other.system,
            self.gold_matched + other.gold_matched,
            self.system_matched + other.system_matched,
        )

    def counts(self, side: str) -> Score:
        """The matched links of one side as a score."""
        if side == "precision":
            return Score(self.system, self.system, self.system_matched)
        return Score(self.gold, self.gold, self.gold_matched)


class PlacedGraph:
    """Links between places as a graph of intervals.

    >>> graph = PlacedGraph([PlacedLink("Dec19", "CONTAINS", "surgery"), PlacedLink("surgery", "CONTAINS", "bled")])
    >>> graph.holds(PlacedLink("Dec19", "CONTAINS", "bled"))
    True
    """

    def __init__(self, links: Iterable[PlacedLink]) -> None:
        self.links = _distinct(links)
        self.numbers: dict[Hashable, int] = {}
        for first, _, second in self.links:
            self.numbers.setdefault(first, len(self.numbers))
            self.numbers.setdefault(second, len(self.numbers))
        self.graph = IntervalGraph(len(self.numbers), [self._link(link) for link in self.links])
        rows, _ = self.graph.constraints
        # A point is said to equal itself only where something is said to equal it.
        self._equated = set(rows[rows[:, 2] == 0, :2].ravel().tolist())

    def _link(self, link: PlacedLink) -> Link:
        return Link(self.numbers[link.first], link.relation, self.numbers[link.second])

    def holds(self, link: PlacedLink) -> bool:
        """Whether a link follows from the links."""
        if link.first not in self.numbers or link.second not in self.numbers:
            return False
        own = self._link(link)
        if link.first == link.second and not all(strict or p in self._equated for p, _, strict in conditions_of(own)):
            return False
        return self.graph.holds(own)

    def reduced(self) -> list[PlacedLink]:
        """The links that do not follow from the others."""
        return [self.links[number] for number in self.graph.reduction()]


def score_plain(gold: Iterable[PlacedLink], system: Iterable[PlacedLink]) -> LinkScore:
    """Links that both sides have, with their relation and direction."""
    ours, theirs = set(gold), set(system)
    both = len(ours & theirs)
    return LinkScore(len(ours), len(theirs), both, both)


def score_closure(gold: Iterable[PlacedLink], system: Iterable[PlacedLink]) -> LinkScore:
    """Links of each side that follow from those of the other.

    >>> gold = [PlacedLink("a", "BEFORE", "b"), PlacedLink("b", "BEFORE", "c")]
    >>> score = score_closure(gold, [PlacedLink("a", "BEFORE", "c")])
    >>> score.precision, score.recall
    (1.0, 0.0)
    """
    return _compared(PlacedGraph(gold), PlacedGraph(system), reduce=False)


def score_awareness(gold: Iterable[PlacedLink], system: Iterable[PlacedLink]) -> LinkScore:
    """The same, of links that do not follow from others: temporal awareness of TempEval-3."""
    return _compared(PlacedGraph(gold), PlacedGraph(system), reduce=True)


def _compared(gold: PlacedGraph, system: PlacedGraph, reduce: bool) -> LinkScore:
    ours, theirs = (graph.reduced() if reduce else graph.links for graph in (gold, system))
    return LinkScore(
        len(ours), len(theirs), sum(system.holds(link) for link in ours), sum(gold.holds(link) for link in theirs)
    )


def _distinct(links: Iterable[PlacedLink]) -> list[PlacedLink]:
    """Links of known relations, those that say the same of the same points once."""
    found: dict[frozenset[tuple[Hashable, ...]], PlacedLink] = {}
    for link in links:
        if link.relation in RELATIONS:
            ends = (link.first, link.second)
            said: set[tuple[Hashable, ...]] = {("<", end) for end in ends}
            for which, side, sign, other, other_side in RELATIONS[link.relation]:
                points = ((ends[which], side), (ends[other], other_side))
                said.add((sign, *points) if sign == "<" else (sign, frozenset(points)))
            found.setdefault(frozenset(said), link)
    return list(found.values())


def placed_links(doc: Doc, layer: str = LAYER) -> list[PlacedLink]:
    """The temporal links of a document by the characters of their mentions."""
    if layer not in doc.spans:
        return []
    places = [row.pieces for row in chars_of_words(doc, doc.spans[layer])]
    return [PlacedLink(places[x], relation, places[y]) for x, relation, y, _ in temporal_links(doc, layer)]


def evaluate_timelines(gold: Sequence[Doc], system: Sequence[Doc], layer: str = LAYER) -> dict[str, Counts]:
    """Counts per document: spans of events and times, their attributes, and links by every measure."""
    _check(gold, system)
    rows: dict[str, list[Score]] = {}
    for ours, theirs in zip(gold, system, strict=True):
        for name, score in _scores(ours, theirs, layer):
            rows.setdefault(name, []).append(score)
    return {
        name: Counts.of([s.gold for s in scores], [s.system for s in scores], [s.correct for s in scores])
        for name, scores in rows.items()
    }


def _scores(gold: Doc, system: Doc, layer: str) -> Iterable[tuple[str, Score]]:
    ours, theirs = (_placed_mentions(doc, layer) for doc in (gold, system))
    for kind in (EVENT, TIMEX3):
        yield kind, _score(_keys(ours, kind), _keys(theirs, kind))
    times = [[pieces for k, pieces, _ in each if k == TIMEX3] for each in (ours, theirs)]
    matched = len(_overlapping(times[0], times[1]))
    yield f"{TIMEX3} (overlap)", Score(len(times[0]), len(times[1]), matched)
    for name in ATTRIBUTES:
        if any(kind == EVENT and attributes.get(name) for kind, _, attributes in ours) or name == "DocTimeRel":
            yield name, _score(_keys(ours, EVENT, name), _keys(theirs, EVENT, name))
    yield "Class", _score(_keys(ours, TIMEX3, "Class"), _keys(theirs, TIMEX3, "Class"))
    links = placed_links(gold, layer), placed_links(system, layer)
    for kind, sides in (("links", links), ("CONTAINS", tuple(_only(each, "CONTAINS") for each in links))):
        plain = score_plain(*sides)
        yield kind, Score(plain.gold, plain.system, plain.gold_matched)
        for name, measure in (("closure", score_closure), ("awareness", score_awareness)):
            score = measure(*sides)
            for side in ("precision", "recall"):
                yield f"{kind} ({name} {side})", score.counts(side)


def _only(links: Iterable[PlacedLink], relation: str) -> list[PlacedLink]:
    return [link for link in links if link.relation == relation]


def _placed_mentions(doc: Doc, layer: str) -> list[tuple[str, Pieces, dict[str, str]]]:
    """Kind, characters and attributes of all mentions."""
    if layer not in doc.spans:
        return []
    rows = chars_of_words(doc, spans_of(doc, layer))
    return [
        (mention.kind, rows[mention.number].pieces, {name: mention.get(name) for name in mention.attributes})
        for mention in mentions_of(doc, layer)
    ]


def _keys(rows: Sequence[tuple[str, Pieces, dict[str, str]]], kind: str, name: str = "") -> set[Hashable]:
    found = [(pieces, attributes.get(name, "")) for own, pieces, attributes in rows if own == kind]
    return {(pieces, value) for pieces, value in found if value or not name}


def _score(gold: set[Hashable], system: set[Hashable]) -> Score:
    return Score(len(gold), len(system), len(gold & system))


def _overlapping(ours: Sequence[Pieces], theirs: Sequence[Pieces]) -> list[tuple[int, int]]:
    """Pairs of spans that share a character, each span in one pair at most, from the left."""
    pairs: list[tuple[int, int]] = []
    free = sorted(range(len(theirs)), key=lambda j: theirs[j])
    for i in sorted(range(len(ours)), key=lambda i: ours[i]):
        for j in free:
            if any(a < d and c < b for a, b in ours[i] for c, d in theirs[j]):
                pairs.append((i, j))
                free.remove(j)
                break
    return pairs


def agreement(first: Sequence[Doc], second: Sequence[Doc], layer: str = LAYER) -> dict[str, Agreement]:
    """Agreement of two annotators on events, times, links and attributes.

    EVENTs match by their exact span, TIMEX3s if they overlap; attributes are compared on matched events.

    >>> from weft.text.conventions.timeline import new_layers
    >>> def note(*links):
    ...     doc = Doc.from_words([["fever", "cough", "rash"]])
    ...     spans, relations = new_layers(doc)
    ...     for word in range(3):
    ...         _ = spans.add([(word, word + 1)], "EVENT", DocTimeRel="BEFORE")
    ...     for x, y in links:
    ...         _ = relations.add(x, y, "BEFORE")
    ...     return doc
    >>> agreement([note((0, 1), (1, 2))], [note((0, 1), (1, 2), (0, 2))])["links"][:2]
    (1.0, 1.0)
    """
    _check(first, second)
    table = AgreementTable()
    for a, b in zip(first, second, strict=True):
        ours, theirs = (_placed_mentions(doc, layer) for doc in (a, b))
        words = max(a.n_words, b.n_words)
        events = [{pieces: attributes for kind, pieces, attributes in each if kind == EVENT} for each in (ours, theirs)]
        table.add_matches(EVENT, len(set(events[0]) & set(events[1])), len(events[0]), len(events[1]), words)
        times = [[(p, t) for k, p, t in each if k == TIMEX3] for each in (ours, theirs)]
        pairs = _overlapping([p for p, _ in times[0]], [p for p, _ in times[1]])
        table.add_matches(TIMEX3, len(pairs), len(times[0]), len(times[1]), words)
        for name in ATTRIBUTES:
            values = [(events[0][p].get(name, ""), events[1][p].get(name, "")) for p in events[0] if p in events[1]]
            table.add_values(name, [pair for pair in values if any(pair)])
        table.add_values(
            "Class", [(times[0][i][1].get("Class", ""), times[1][j][1].get("Class", "")) for i, j in pairs]
        )
        n = max(len(ours), len(theirs))
        _add_links(table, (PlacedGraph(placed_links(a, layer)), PlacedGraph(placed_links(b, layer))), n * (n - 1) // 2)
    return table.results()


def _add_links(table: AgreementTable, graphs: tuple[PlacedGraph, PlacedGraph], everything: int) -> None:
    """Links of each side that do not follow from its others; a link is matched by the closure of the other side."""
    kept = [graph.reduced() for graph in graphs]
    linked = [{frozenset((link.first, link.second)) for link in graph.links} for graph in graphs]
    for name, typed, relation in (
        ("link participants", False, ""),
        ("links", True, ""),
        ("CONTAINS", True, "CONTAINS"),
    ):
        chosen = [[link for link in each if relation in ("", link.relation)] for each in kept]
        said = [{frozenset((link.first, link.second)): link for link in reversed(each)} for each in chosen]
        units: dict[Hashable, Unit] = {}
        matched = [0, 0]
        for side, other in ((0, 1), (1, 0)):
            for link in chosen[side]:
                pair = frozenset((link.first, link.second))
                fits = graphs[other].holds(link) or (not typed and pair in linked[other])
                matched[side] += fits
                ours: Hashable = link.relation if typed else "linked"
                theirs: Hashable = ours if fits else NONE
                against = said[other].get(pair)
                if typed and not fits and against is not None:
                    # x BEFORE y and y BEFORE x differ as much as two relations do.
                    theirs = against.relation if against.first == link.first else ("inverse", against.relation)
                units.setdefault(pair, (ours, theirs) if side == 0 else (theirs, ours))
        table.add(name, list(units.values()), (len(chosen[0]), len(chosen[1])), (matched[0], matched[1]), everything)


def _check(gold: Sequence[Doc], system: Sequence[Doc]) -> None:
    if len(gold) != len(system):
        raise WeftError(
            f"there are {len(gold)} documents on one side and {len(system)} on the other; expected the same"
        )
    for number, (one, other) in enumerate(zip(gold, system, strict=True), 1):
        if one.text != other.text and one.text.strip() and other.text.strip():
            raise WeftError(
                f"document {number} ({one.id or other.id or 'without a name'}) has another text on either side"
            )

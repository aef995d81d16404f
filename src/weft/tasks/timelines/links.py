"""Temporal links of events and times: pairs in a window, their relation by a classifier, and what of it is consistent.

    candidates   pairs of mentions in one sentence, and in one sentence and the one before
    labels       none, >R for first R second, <R for second R first
    assembly     links by falling margin over none, each added unless it contradicts those before (point algebra)

Narrative containers are the links CONTAINS: of several proposed containers, an event gets those that the classifier
is surest of, and the rest follows from their nesting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.infer.orders.intervals import RELATIONS, IntervalGraph, Link
from weft.tasks.timelines.features import Context, pair_features
from weft.tasks.timelines.model import FeatureClassifier
from weft.tasks.timelines.rules import calendar_links
from weft.text.conventions.timeline import DOC_TIME_REL, Mention, TemporalLink

NONE = "none"
#: Mentions whose links are assembled together: the closure of their points is kept up to date with every link.
TOGETHER = 200
#: Relations of TimeML that THYME writes the other way round.
_INVERSES = {"AFTER": "BEFORE", "IS_INCLUDED": "CONTAINS"}
#: Pairs with more mentions between them in their sentences are no candidates.
FARTHEST = 12


class Scored(NamedTuple):
    """A proposed link between two mentions, given by their places in a list, and its margin over no link."""

    link: Link
    margin: float


def candidates(context: Context, mentions: Sequence[Mention], window: int = 1) -> list[tuple[int, int]]:
    """Pairs of places in a list of mentions, first and second in the order of the text.

    Mentions must be in that order; `window` sentences before that of the second are looked at.
    """
    sentences = [context.sentence(mention.start) for mention in mentions]
    pairs = []
    for j in range(len(mentions)):
        for i in range(j - 1, max(-1, j - 2 - FARTHEST), -1):
            if sentences[i] < sentences[j] - window:
                break
            if mentions[i].end <= mentions[j].start:
                pairs.append((i, j))
    return pairs


def labels_of(pairs: Sequence[tuple[int, int]], links: Sequence[Link], kinds: Sequence[str]) -> list[str]:
    """The label of every pair: the first link of one of some kinds, in either direction."""
    known: dict[tuple[int, int], str] = {}
    for first, relation, second in links:
        if relation in kinds:
            known.setdefault((first, second), f">{relation}")
            known.setdefault((second, first), f"<{relation}")
    return [known.get(pair, NONE) for pair in pairs]


def closed(links: Sequence[Link], n: int, kinds: Sequence[str]) -> list[Link]:
    """The links, and those that follow from as many of them as are consistent."""
    graph = IntervalGraph(n, links)
    if not graph.consistent:
        graph = IntervalGraph(n, [links[i] for i in graph.chosen()])
    return [*links, *graph.inferred(kinds)]


def local_links(mentions: Sequence[Mention], links: Sequence[TemporalLink]) -> list[Link]:
    """Links of known relations by the places of their mentions in a list; those of others are left out."""
    place = {mention.number: i for i, mention in enumerate(mentions)}
    found = []
    for first, relation, second, _ in links:
        if first in place and second in place and relation in RELATIONS:
            if relation in _INVERSES:
                first, relation, second = second, _INVERSES[relation], first
            found.append(Link(place[first], relation, place[second]))
    return found


def rows_of(context: Context, mentions: Sequence[Mention], pairs: Sequence[tuple[int, int]]) -> list[list[str]]:
    """The features of pairs."""
    return [pair_features(context, mentions[i], mentions[j], j - i - 1) for i, j in pairs]


def sampled(labels: Sequence[str], share: float, seed: int) -> list[int]:
    """The places of all linked pairs and of a share of the others.

    >>> sampled(["none", ">CONTAINS", "none", "none"], 0.0, 1)
    [1]
    """
    drawn = np.random.default_rng(seed).random(len(labels))
    return [i for i, label in enumerate(labels) if label != NONE or drawn[i] < share]


def propose(model: FeatureClassifier, rows: Sequence[Sequence[str]], pairs: Sequence[tuple[int, int]]) -> list[Scored]:
    """The links that the classifier prefers to none, the surest first."""
    if not rows or NONE not in model.labels:
        return []
    scores = model.scores(rows)
    none = model.labels.index(NONE)
    best = scores.argmax(axis=1)
    margins = scores[np.arange(len(rows)), best] - scores[:, none]
    found = []
    for k in np.argsort(-margins, kind="stable").tolist():
        if best[k] != none:
            label, (i, j) = model.labels[best[k]], pairs[k]
            first, second = (i, j) if label[0] == ">" else (j, i)
            found.append(Scored(Link(first, label[1:], second), float(margins[k])))
    return found


def assemble(
    mentions: Sequence[Mention], proposed: Sequence[Scored], anchored: bool = True, date: str = ""
) -> list[Scored]:
    """The proposed links that are consistent, each in turn with those before it.

    If `anchored`, DocTimeRel goes before all links, and so does the order of times whose values are dates, and of the
    `date` of the document. Long documents are assembled in pieces; a link between two pieces is given up.
    """
    kept: list[Scored] = []
    for start in range(0, len(mentions), TOGETHER):
        piece = range(start, min(len(mentions), start + TOGETHER))
        own = [each for each in proposed if each.link.first in piece and each.link.second in piece]
        fixed = []
        if anchored:
            relations = [(i, mentions[i].get("DocTimeRel")) for i in piece]
            fixed = [Link(i - start, value, len(piece)) for i, value in relations if value in DOC_TIME_REL]
            fixed += calendar_links([*(str(mentions[i].attributes.get("value") or "") for i in piece), date])
        moved = [Link(each.link.first - start, each.link.relation, each.link.second - start) for each in own]
        chosen = IntervalGraph(len(piece) + 1, [*fixed, *moved]).chosen()
        kept += [own[number - len(fixed)] for number in chosen if number >= len(fixed)]
    return kept

"""Scores of opinions: right if the label and all mentions are, whatever words they rest on.

`better` and `worse` are one relation, `preferred`: which of two entities stands first does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import DataError
from weft.evaluate.counts import Counts
from weft.text.conventions.opinions import MENTIONS, opinion_rows
from weft.text.doc import Doc
from weft.text.layers import chars_of_words

Place = tuple[int, int] | None
#: An opinion as its relation and the characters of its mentions: the entity, the one it is preferred to, the aspect.
Said = tuple[str, Place, Place, Place]


def said_in(doc: Doc) -> set[Said]:
    """The opinions of a document.

    >>> from weft.text.conventions.opinions import OpinionRow, set_opinions
    >>> from weft.text.layers import SpanLayer
    >>> doc = Doc.from_words([["A", "beats", "B"]])
    >>> doc.spans["mentions"] = SpanLayer.of(doc.strings, [(0, 1, "entity"), (2, 3, "entity")])
    >>> set_opinions(doc, [OpinionRow("worse", 1, other=0)])
    >>> said_in(doc)
    {('preferred', (0, 1), (8, 9), None)}
    """
    if MENTIONS not in doc.spans:
        return set()
    spans = [(row.pieces[0][0], row.pieces[-1][1]) for row in chars_of_words(doc, doc.spans[MENTIONS])]
    found: set[Said] = set()
    for row in opinion_rows(doc):
        entity, aspect, other = (spans[n] if n >= 0 else None for n in (row.entity, row.aspect, row.other))
        if row.other < 0:
            found.add((row.label, entity, None, aspect))
        else:
            first, second = (other, entity) if row.label == "worse" else (entity, other)
            found.add(("preferred", first, second, aspect))
    return found


def evaluate_opinions(gold: Sequence[Doc], system: Sequence[Doc]) -> dict[str, Counts]:
    """Counts per document: all opinions, and those of every label."""
    if len(gold) != len(system):
        raise DataError(f"there are {len(gold)} gold documents and {len(system)} of the system; give the same ones")
    ours, theirs = ([said_in(doc) for doc in docs] for docs in (gold, system))
    counts = {"opinions": _counted(ours, theirs, "")}
    labels = sorted({each[0] for own in ours for each in own})
    return counts | {label: _counted(ours, theirs, label) for label in labels}


def _counted(gold: Sequence[set[Said]], system: Sequence[set[Said]], label: str) -> Counts:
    rows = []
    for one, other in zip(gold, system, strict=True):
        own, found = ({each for each in side if not label or each[0] == label} for side in (one, other))
        rows.append((len(own), len(found), len(own & found)))
    return Counts.of(*zip(*rows, strict=True)) if rows else Counts.of([], [], [])

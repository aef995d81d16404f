"""Events as stars over the text: a point above the trigger, and a ray to everything that takes part.

           Start-Org o
                   / | \\
                  o  .  o
              Agent     Org
               Ada founded Quill Press
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.pictures.over_text import WordLine, dot, ray
from weft.pictures.style import clean, hue, text_width
from weft.text.conventions.events import EventRow, event_rows, events_of
from weft.text.doc import Doc
from weft.text.views import Sentence

_RAYS = 34.0


class DrawnEvent(NamedTuple):
    """An event of a sentence: its row, what it says in words, and triggers and types of the events that fill roles."""

    row: EventRow
    told: str
    inner: dict[int, EventRow]


def events_by_sentence(doc: Doc) -> dict[int, list[DrawnEvent]]:
    """The events of every sentence that has some, each in the sentence of its trigger."""
    found: dict[int, list[DrawnEvent]] = {}
    if not doc.n_words:
        return found
    rows, views = event_rows(doc), events_of(doc)
    for row, view in zip(rows, views, strict=True):
        sentence = view.sentence
        if sentence is not None:
            inner = {filler.event: rows[filler.event] for filler in row.arguments if filler.event >= 0}
            found.setdefault(sentence.index, []).append(DrawnEvent(row, view.told, inner))
    return found


def draw_events(sentence: Sentence, events: Sequence[DrawnEvent], styled: bool = True) -> str:
    """The events of a sentence as SVG; a role that is filled in another sentence is named beside the type.

    >>> from weft.text.conventions.events import Filler, set_events
    >>> doc = Doc.from_words([["Ada", "founded", "Quill", "Press"]])
    >>> fillers = (Filler("Agent", pieces=((0, 1),), label="person"), Filler("Org", pieces=((2, 4),), label="company"))
    >>> set_events(doc, [EventRow("Start-Org", ((1, 2),), fillers)])
    >>> picture = draw_events(doc.sentences[0], events_by_sentence(doc)[0])
    >>> picture.count("<circle"), "<desc>Start-Org(founded, Agent: Ada, Org: Quill Press)</desc>" in picture
    (3, True)
    """
    line = WordLine(sentence, wide=_needed(sentence, events))
    for each in events:
        row = each.row
        at, top = line.middle(row.trigger), line.height + 14
        low = top + _RAYS
        parts: list[str] = []
        named: list[tuple[float, str]] = []
        outside = []
        for filler in row.arguments:
            inner = each.inner.get(filler.event)
            pieces = inner.trigger if inner is not None else filler.pieces
            told = f"{filler.role}: {inner.type}" if inner is not None else filler.role
            if not _inside(sentence, pieces):
                outside.append(f"{told} (other sentence)")
                continue
            x = line.middle(pieces)
            parts += [ray(at, top, x, low), dot(x, low, hue(inner.type if inner is not None else filler.label), 4)]
            named.append((x, told))
        said = "; ".join([row.type, *outside])
        parts += [ray(at, top, at, low + 8, gap=True), dot(at, top, hue(row.type), 6)]
        parts.append(
            f'<text class="kind start {hue(row.type)}" x="{at + 10:.1f}" y="{top - 3:.1f}" font-size="11" '
            f'text-anchor="start">{clean(said)}</text>'
        )
        line.width = max(line.width, at + text_width(said, 12) + 36)
        captions, taken = line.captions(low + 3, named)
        line.band(14 + _RAYS + 10 + taken, "".join(parts) + captions)
    return line.picture(f"Events of: {sentence.text}", "; ".join(each.told for each in events), "events", styled)


def _needed(sentence: Sentence, events: Sequence[DrawnEvent]) -> dict[int, float]:
    """The room that the names of roles need below the points of single words."""
    wide: dict[int, float] = {}
    for each in events:
        for filler in each.row.arguments:
            inner = each.inner.get(filler.event)
            pieces = inner.trigger if inner is not None else filler.pieces
            if _inside(sentence, pieces) and pieces[0][1] - pieces[0][0] == 1:
                word = pieces[0][0] - sentence.first
                wide[word] = max(wide.get(word, 0.0), text_width(filler.role, 11))
    return wide


def _inside(sentence: Sentence, pieces: Sequence[tuple[int, int]]) -> bool:
    return bool(pieces) and sentence.first <= pieces[0][0] < sentence.first + len(sentence)

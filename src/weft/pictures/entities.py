"""An entity across documents: its names, the order in which they joined, and what each joining rests on.

    Nora Vance (2) --+
    Vance (1) -------+  0.33  library, harbour, architect
    N. Vance (1) ----+  0.27  architect, roof, glass

The first name is that with most mentions. Every other one joins those above it; the number is their mean similarity,
the words are those that both contexts share.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from weft.pictures.display import Picture, page_of
from weft.pictures.style import clean, svg, text_width

_MARGIN, _ROW, _SIZE = 18.0, 26.0, 13
#: More names than these are left out, and counted.
MOST = 100


class Joined(NamedTuple):
    """A part of an entity that joins the parts before it."""

    name: str
    mentions: int
    similarity: float
    words: Sequence[str] = ()


class DrawnEntity(NamedTuple):
    """An entity: its id, its number of mentions, its first name with that name's mentions, and what joined it."""

    id: str
    mentions: int
    name: str
    first_mentions: int
    joined: Sequence[Joined] = ()


def draw_entity(entity: DrawnEntity, styled: bool = True) -> str:
    """The names of an entity and their evidence as SVG.

    >>> picture = draw_entity(DrawnEntity("n01", 3, "Nora Vance", 2, [Joined("Vance", 1, 0.328, ["library"])]))
    >>> picture.startswith("<svg "), "Vance (1)" in picture, "0.33" in picture
    (True, True, True)
    """
    shown = entity.joined[:MOST]
    labels = [f"{entity.name} ({entity.first_mentions:,})", *(f"{each.name} ({each.mentions:,})" for each in shown)]
    evidence = ["", *(f"{each.similarity:.2f}  {', '.join(each.words)}" for each in shown)]
    rest = len(entity.joined) - len(shown)
    spine = _MARGIN + max(text_width(label, _SIZE) for label in labels) + 30
    width = spine + 14 + max(text_width(text, 12) for text in evidence) + _MARGIN
    parts = []
    for number, (label, text) in enumerate(zip(labels, evidence, strict=True)):
        y = _MARGIN + number * _ROW + 14
        parts.append(
            f'<text class="entry" font-size="{_SIZE}" text-anchor="start" x="{_MARGIN:.1f}" y="{y:.1f}">'
            f"{clean(label)}</text>"
        )
        if shown:
            start = _MARGIN + text_width(label, _SIZE) + 8
            up = f"V{y - 4 - _ROW:.1f}" if number else ""
            parts.append(
                f'<path class="line" fill="none" stroke="#8793a0" d="M{start:.1f} {y - 4:.1f}H{spine:.1f}{up}"/>'
            )
        if text:
            parts.append(
                f'<text class="caption" font-size="12" fill="#57626d" text-anchor="start" x="{spine + 10:.1f}" '
                f'y="{y:.1f}">{clean(text)}</text>'
            )
    height = 2 * _MARGIN + len(labels) * _ROW
    if rest:
        parts.append(
            f'<text class="caption" font-size="12" fill="#57626d" text-anchor="start" x="{_MARGIN:.1f}" '
            f'y="{height - 4:.1f}">{rest:,} more</text>'
        )
        height += 16
    described = "; ".join(f"{each.name} joins by {each.similarity:.2f}: {', '.join(each.words)}" for each in shown[:50])
    return svg("".join(parts), width, height, f"Entity {entity.id}", described or entity.name, "entity", styled)


def show_entities(entities: Iterable[DrawnEntity], limit: int = 1000) -> Picture:
    """A page of entities, with a search box; those after `limit` are counted.

    >>> show_entities([DrawnEntity("a", 1, "Ann", 1), DrawnEntity("b", 1, "Bo", 1)]).figures
    2
    """
    every = list(entities)
    parts = [
        f'<section id="{clean(each.id)}"><h2><code>{clean(each.id)}</code> {clean(each.name)}, {each.mentions:,} '
        f"mention{'s' if each.mentions != 1 else ''}</h2><figure>{draw_entity(each, styled=False)}</figure></section>"
        for each in every[:limit]
    ]
    if len(every) > limit:
        parts.append(f"<p>{len(every) - limit:,} more entities</p>")
    return page_of(parts, "Entities", min(limit, len(every)))

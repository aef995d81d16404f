"""The sentence graph: sentences below each other, links as arcs beside them, and the weakest joints marked.

       +-- 1  The ferry leaves the island.
     +-|-- 2  Its captain knows every passenger.
     | | ....................................... a weak joint
     | +-- 3  The ferry is full.

An arc is the wider the more a link weighs; what is shared stands in its title. Entities are named at the arcs of
neighbouring sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from weft.pictures.display import Picture, page_of
from weft.pictures.style import clean, svg, text_width

_MARGIN, _ROW, _SIZE, _LETTERS = 18.0, 30.0, 13, 90
#: More sentences and links than these are left out, and counted.
MOST, MOST_LINKS = 200, 600


class DrawnLink(NamedTuple):
    """A link between two sentences, counted from 0, what it weighs and what it says."""

    first: int
    second: int
    weight: float
    label: str


class DrawnText(NamedTuple):
    """A document to draw: name, sentences, links, the sentences after which it hangs together least, its score."""

    name: str
    sentences: Sequence[str]
    links: Sequence[DrawnLink]
    weak: Sequence[int] = ()
    score: float | None = None


class Linked(Protocol):
    """A sentence graph, as `weft.tasks.coherence` makes it."""

    name: str
    texts: list[str]

    def strongest(self) -> Sequence[Any]: ...

    def joints(self) -> Sequence[Any]: ...

    def score(self) -> float: ...


def drawn_text(graph: Linked) -> DrawnText:
    """What is drawn of a sentence graph: links by their weight over distance, and the three weakest joints."""
    links = [
        DrawnLink(
            link.first, link.second, link.weight / (link.second - link.first),
            ", ".join(f"{name} ({a}-{b})" for name, (a, b) in link.entities.items()),
        )
        for link in graph.strongest()
    ]  # fmt: skip
    return DrawnText(graph.name, graph.texts, links, [joint.after for joint in graph.joints()[:3]], graph.score())


def draw_sentences(text: DrawnText, styled: bool = True) -> str:
    """The sentence graph as SVG.

    >>> picture = draw_sentences(DrawnText("ash", ["An ash.", "The ash."], [DrawnLink(0, 1, 9.0, "ash (S-S)")]))
    >>> picture.startswith("<svg "), picture.count("<path"), "ash (S-S)" in picture
    (True, 1, True)
    """
    shown = list(text.sentences[:MOST])
    links = sorted((link for link in text.links if link.second < len(shown)), key=lambda link: -link.weight)
    drawn = links[:MOST_LINKS]
    longest = max((link.second - link.first for link in drawn), default=1)
    reach = min(200.0, 24 + 14.0 * longest)
    left = _MARGIN + reach
    heaviest = max((link.weight for link in drawn), default=1.0)
    parts: list[str] = []
    for link in sorted(drawn, key=lambda link: link.weight):
        top, bottom = (_MARGIN + (place + 0.5) * _ROW for place in (link.first, link.second))
        bend = left - 12 - (reach - 20) * ((link.second - link.first) / longest) ** 0.5
        width = 0.6 + 3.4 * link.weight / heaviest
        said = f"{link.first + 1} - {link.second + 1}: {link.label}"
        parts.append(
            f'<path class="tie" fill="none" stroke="#8793a0" stroke-opacity="0.8" stroke-width="{width:.1f}" '
            f'd="M{left - 8:.1f} {top:.1f}C{bend:.1f} {top:.1f} {bend:.1f} {bottom:.1f} {left - 8:.1f} {bottom:.1f}">'
            f"<title>{clean(said)}</title></path>"
        )
    width = left
    neighbours = {link.first: link.label for link in drawn if link.second == link.first + 1}
    for number, sentence in enumerate(shown):
        y = _MARGIN + (number + 0.5) * _ROW
        said = f"{number + 1}  {sentence if len(sentence) <= _LETTERS else sentence[: _LETTERS - 3] + '...'}"
        parts.append(
            f'<text class="entry" x="{left:.1f}" y="{y + 4:.1f}" font-size="{_SIZE}" text-anchor="start">'
            f"{clean(said)}</text>"
        )
        width = max(width, left + text_width(said, _SIZE))
        note, weak = neighbours.get(number, ""), number in text.weak and number + 1 < len(shown)
        if weak:
            note = note or "weak joint"
            begin = left + 20 + text_width(note, 12)
            parts.append(
                f'<path class="line gap" fill="none" stroke="#8793a0" stroke-dasharray="2 3" '
                f'd="M{begin:.1f} {y + _ROW / 2:.1f}H{max(begin, left + 320):.1f}"/>'
            )
            width = max(width, left + 320)
        if note:
            parts.append(
                f'<text class="caption" font-size="10" fill="#57626d" text-anchor="start" x="{left + 14:.1f}" '
                f'y="{y + _ROW / 2 + 3:.1f}">{clean(note)}</text>'
            )
            width = max(width, left + 14 + text_width(note, 12))
    height = 2 * _MARGIN + len(shown) * _ROW
    notes = [f"score {text.score:.3f}"] if text.score is not None else []
    notes += [f"{len(text.sentences) - len(shown):,} more sentences"] if len(text.sentences) > len(shown) else []
    notes += [f"{len(links) - len(drawn):,} more links"] if len(links) > len(drawn) else []
    if notes:
        parts.append(
            f'<text class="caption" font-size="11" fill="#57626d" text-anchor="start" x="{_MARGIN:.1f}" '
            f'y="{height:.1f}">{clean("; ".join(notes))}</text>'
        )
        height += 16
        width = max(width, _MARGIN + text_width("; ".join(notes), 12))
    title = f"Sentences of {text.name}" if text.name else "Sentences"
    described = "; ".join(f"{link.first + 1} - {link.second + 1}: {link.label}" for link in drawn[:50])
    return svg("".join(parts), width + _MARGIN, height, title, described, "sentences", styled)


def show_sentences(texts: Iterable[DrawnText]) -> Picture:
    """A page of the sentence graphs of documents.

    >>> show_sentences([DrawnText("ash", ["An ash.", "The ash."], [DrawnLink(0, 1, 9.0, "ash")])]).figures
    1
    """
    parts, names = [], []
    for text in texts:
        names.append(text.name or "text")
        parts.append(
            f"<section><h2>{clean(names[-1])}</h2><figure>{draw_sentences(text, styled=False)}</figure></section>"
        )
    return page_of(parts, names[0] if len(names) == 1 else "Sentence graphs", len(names))

"""Two texts one above the other, with lines between the words that correspond; words without a line stand out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from weft.pictures.display import Picture, page_of
from weft.pictures.style import backing, clean, is_right_to_left, svg, text_width

_MARGIN, _GAP, _APART, _HEIGHT, _SIZE = 18.0, 12.0, 90.0, 24.0, 15
#: What a page shows at most.
MOST = 1000


class DrawnPair(NamedTuple):
    """A pair to draw: words of both texts, links with what made them, and the similarity."""

    source: Sequence[str]
    target: Sequence[str]
    links: Sequence[tuple[int, int, str]]
    similarity: float | None = None


def draw_pair(pair: DrawnPair, styled: bool = True) -> str:
    """A pair of texts as SVG.

    >>> picture = draw_pair(DrawnPair(["He", "left"], ["He", "went"], [(0, 0, "sequences")], 0.5))
    >>> picture.startswith("<svg "), picture.count('class="line"'), picture.count('class="back"')
    (True, 1, 2)
    """
    above, right = _places(pair.source)
    below, other = _places(pair.target)
    width = max(right, other) + _MARGIN
    text = " ".join([*pair.source, *pair.target])
    mirrored = is_right_to_left(text)
    if mirrored:
        above, below = [width - x for x in above], [width - x for x in below]
    top, bottom = _MARGIN + _HEIGHT, _MARGIN + _HEIGHT + _APART
    parts = []
    for i, j, why in pair.links:
        same = pair.source[i].lower() == pair.target[j].lower()
        dashed = "" if same else ' stroke-dasharray="4 3"'
        parts.append(
            f'<path class="line" fill="none" stroke="#8793a0"{dashed} '
            f'd="M{above[i]:.1f},{top + 4:.0f} L{below[j]:.1f},{bottom - _HEIGHT + 4:.0f}">'
            f"<title>{clean(f'{pair.source[i]} - {pair.target[j]}: {why}')}</title></path>"
        )
    left, taken = {i for i, _, _ in pair.links}, {j for _, j, _ in pair.links}
    parts += _words(pair.source, above, top, left)
    parts += _words(pair.target, below, bottom, taken)
    height = bottom + _MARGIN
    if pair.similarity is not None:
        height += 16
        parts.append(
            f'<text class="caption" font-size="11" fill="#57626d" text-anchor="start" x="{_MARGIN:.0f}" '
            f'y="{height - 8:.0f}">similarity {pair.similarity:.2f}</text>'
        )
        width = max(width, text_width("similarity 0.00", 11) + 2 * _MARGIN)
    told = "; ".join(f"{pair.source[i]} is {pair.target[j]}" for i, j, _ in pair.links[:50])
    return svg("".join(parts), width, height, f"Links of: {' '.join(pair.source)}", told, "pair", styled, mirrored)


def show_pairs(pairs: Sequence[DrawnPair]) -> Picture:
    """A page of pairs.

    >>> show_pairs([DrawnPair(["yes"], ["no"], [])]).figures
    1
    """
    parts = [f"<section><figure>{draw_pair(pair, styled=False)}</figure></section>" for pair in pairs[:MOST]]
    if len(pairs) > MOST:
        parts.append(f"<p>{len(pairs) - MOST:,} more pairs</p>")
    title = " ".join(pairs[0].source) if len(pairs) == 1 else "Pairs of texts"
    return page_of(parts, title, min(len(pairs), MOST))


def _places(words: Sequence[str]) -> tuple[list[float], float]:
    """The centres of words in a row, and where the last one ends."""
    centres, at = [], _MARGIN
    for word in words:
        size = text_width(word, _SIZE)
        centres.append(at + size / 2)
        at += size + _GAP
    return centres, at - (_GAP if words else 0)


def _words(words: Sequence[str], centres: Sequence[float], y: float, linked: set[int]) -> list[str]:
    """Words; those without a link are bold and have a background."""
    parts = []
    for i, (word, x) in enumerate(zip(words, centres, strict=True)):
        if i in linked:
            parts.append(f'<text x="{x:.1f}" y="{y - 4:.0f}">{clean(word)}</text>')
            continue
        shade = backing(x, y - 20, text_width(word, _SIZE) / 2, 22).replace(
            'fill="none"', 'fill="#c98a1b" opacity=".25"'
        )
        parts.append(f'{shade}<text font-weight="600" x="{x:.1f}" y="{y - 4:.0f}">{clean(word)}</text>')
    return parts

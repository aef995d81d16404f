"""A sentence in one line with bands above it: what events and opinions join is drawn over the words that say it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weft.pictures.style import clean, is_right_to_left, svg, text_width
from weft.text.views import Sentence, Word

_MARGIN, _SPACE, _LINE = 18.0, 10.0, 30.0
#: Captions of a band that would touch stand in so many lines.
_LINES = 3


@dataclass
class WordLine:
    """Where the words of a sentence stand, and the bands over them that are full so far.

    >>> from weft.text.doc import Doc
    >>> line = WordLine(Doc.from_words([["Ada", "left"]]).sentences[0])
    >>> line.middle([(0, 1)]) < line.middle([(0, 2)]) < line.middle([(1, 2)])
    True
    """

    sentence: Sentence
    left: float = _MARGIN
    height: float = 10.0
    parts: list[str] = field(default_factory=list)
    wide: dict[int, float] = field(default_factory=dict)  # words that need more room than their letters

    def __post_init__(self) -> None:
        self._ends: list[tuple[float, float]] = []
        at = self.left
        for word in self.sentence:
            width = max(text_width(word.form, 15), self.wide.get(word.index - self.sentence.first, 0.0))
            self._ends.append((at, at + width))
            at += width + _SPACE
        self.width = at - _SPACE + _MARGIN

    def ends(self, pieces: Sequence[tuple[int, int]]) -> tuple[float, float]:
        """Where the words of pieces, counted in the document, begin and end; those of other sentences do not count."""
        own = [k for low, high in pieces for k in range(low, high)]
        first = self.sentence.first
        places = [self._ends[k - first] for k in own if 0 <= k - first < len(self._ends)]
        return (min(low for low, _ in places), max(high for _, high in places)) if places else (0.0, 0.0)

    def middle(self, pieces: Sequence[tuple[int, int]]) -> float:
        low, high = self.ends(pieces)
        return (low + high) / 2

    def band(self, height: float, markup: str) -> None:
        """Add a band below those there are; its markup begins at the present height."""
        self.parts.append(markup)
        self.height += height

    def captions(self, y: float, named: Sequence[tuple[float, str]]) -> tuple[str, float]:
        """Short texts below points at a height, in several lines where they would touch; and the height they take."""
        reached = [-1e9] * _LINES
        parts, used = [], 0
        for x, text in sorted(named):
            half = text_width(text, 11) / 2 + 3
            free = next((k for k in range(_LINES) if reached[k] <= x - half), _LINES - 1)
            reached[free], used = x + half, max(used, free + 1)
            parts.append(
                f'<text class="label" x="{x:.1f}" y="{y + 13 * (free + 1):.1f}" font-size="11" '
                f'text-anchor="middle">{clean(text)}</text>'
            )
            self.width = max(self.width, x + half + _MARGIN)
        return "".join(parts), 13.0 * used + 4

    def picture(self, title: str, said: str, kind: str, styled: bool) -> str:
        """The bands over the line of words, as SVG."""
        y = self.height + _LINE - 8
        words = "".join(_word(word, *ends, y) for word, ends in zip(self.sentence, self._ends, strict=True))
        return svg(
            "".join(self.parts) + words, self.width, self.height + _LINE + 8, title, said, kind, styled,
            mirrored=is_right_to_left(self.sentence.text),
        )  # fmt: skip


def _word(word: Word, low: float, high: float, y: float) -> str:
    return (
        f'<g class="word" data-word="{word.index}"><text x="{(low + high) / 2:.1f}" y="{y:.1f}" font-size="15" '
        f'text-anchor="middle">{clean(word.form)}</text></g>'
    )


def ray(x1: float, y1: float, x2: float, y2: float, gap: bool = False) -> str:
    """A straight line."""
    return (
        f'<line class="line{" gap" if gap else ""}" stroke="#8793a0" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" '
        f'y2="{y2:.1f}"/>'
    )


def dot(x: float, y: float, kind: str, radius: float = 5) -> str:
    """A point in the colour of a class."""
    return f'<circle class="bar {kind}" stroke="#8793a0" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'

"""Offsets that count UTF-16 code units, as JavaScript does, beside offsets that count characters, as Python does.

They differ after every character beyond the Basic Multilingual Plane, such as an emoji, which is two units.
"""

from __future__ import annotations

from bisect import bisect_left

_BMP = "\uffff"


class Units:
    """Places in a text by UTF-16 code units.

    >>> units = Units("a\U0001f642b")
    >>> units.of_char(2), units.to_char(3), units.to_char(2)
    (3, 2, None)
    """

    def __init__(self, text: str) -> None:
        #: The characters that are two units.
        self.wide = [] if text.isascii() else [place for place, letter in enumerate(text) if letter > _BMP]
        self.length = len(text) + len(self.wide)
        # The unit at which the k-th wide character begins: k units were added before it.
        self._starts = [place + number for number, place in enumerate(self.wide)]

    def of_char(self, place: int) -> int:
        """The units before a character."""
        return place + bisect_left(self.wide, place)

    def to_char(self, unit: int) -> int | None:
        """The characters before a unit, None in the middle of one."""
        before = bisect_left(self._starts, unit)
        if before and self._starts[before - 1] + 1 == unit:
            return None
        return unit - before


def chars_of(text: str, start: int, end: int, covered: str | None, units: Units) -> tuple[int, int] | None:
    """Which characters a tool means by two offsets, if the text that they cover tells it; None if nothing fits.

    Without wide characters, or without the text, offsets are characters. Tools changed from units to characters, so
    only what stands there can tell; if both fit, they are characters.

    >>> text = "\U0001f642 Ada"
    >>> units = Units(text)
    >>> chars_of(text, 3, 6, "Ada", units), chars_of(text, 2, 5, "Ada", units), chars_of(text, 2, 5, "Bob", units)
    ((2, 5), (2, 5), None)
    """
    if covered is None or text[start:end] == covered:
        return start, end
    if units.wide:
        first, last = units.to_char(start), units.to_char(end)
        if first is not None and last is not None and text[first:last] == covered:
            return first, last
    return None

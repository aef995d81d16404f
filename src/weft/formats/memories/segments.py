"""Segments of TMX and XLIFF as they are parsed: text, and inline elements as codes."""

from __future__ import annotations

from weft.formats.memories.units import attribute, escaped
from weft.formats.xml.reader import Attributes, XmlReader

#: Inline elements whose content is text of the segment; all others hold codes of the original file, or nothing.
_AROUND_TEXT = ("g", "pc", "mrk", "hi", "sub")


class Codes:
    """The inline elements of a unit and their placeholders, the same for source and target.

    >>> codes = Codes()
    >>> codes.placeholder('<x id="1"/>'), codes.placeholder('<x id="2"/>'), codes.placeholder('<x id="1"/>')
    ('⟦1⟧', '⟦2⟧', '⟦1⟧')
    """

    def __init__(self) -> None:
        self.of_placeholder: dict[str, str] = {}
        self._of_element: dict[str, str] = {}

    def placeholder(self, element: str) -> str:
        """The placeholder of an element that stands alone."""
        if element not in self._of_element:
            self._of_element[element] = f"⟦{len(self._of_element) + 1}⟧"
            self.of_placeholder[self._of_element[element]] = element
        return self._of_element[element]

    def pair(self, opening: str, tag: str) -> tuple[str, str]:
        """The two placeholders of an element around text."""
        first = self.placeholder(opening)
        last = f"⟦/{first[1:]}"
        self.of_placeholder[last] = f"</{tag}>"
        return first, last


class SegmentReader(XmlReader):
    """A reader of XML that collects the text of a segment between `open_segment` and `close_segment`."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.codes = Codes()
        self._text: list[str] | None = None
        self._closing: list[str | None] = []  # per open inline element, its placeholder; None inside a code
        self._code: list[str] = []
        self._inside = 0  # elements open within a code

    @property
    def in_segment(self) -> bool:
        """Whether a segment is open."""
        return self._text is not None

    def open_segment(self) -> None:
        """A segment begins."""
        self._text, self._closing, self._code, self._inside = [], [], [], 0

    def close_segment(self) -> str:
        """The segment that ends."""
        text, self._text = "".join(self._text or ()), None
        return text

    def start_inline(self, tag: str, attributes: Attributes) -> None:
        """An element within the segment begins."""
        assert self._text is not None
        opening = f"<{tag}" + "".join(f" {name}={attribute(value)}" for name, value in attributes.items())
        if self._inside == 0 and tag in _AROUND_TEXT:
            first, last = self.codes.pair(f"{opening}>", tag)
            self._text.append(first)
            self._closing.append(last)
            return
        self._closing.append(None)
        self._code.append(f"{opening}>")
        self._inside += 1

    def end_inline(self, tag: str) -> None:
        """An element within the segment ends."""
        assert self._text is not None
        last = self._closing.pop()
        if last is not None:
            self._text.append(last)
            return
        self._inside -= 1
        empty = self._code[-1].startswith(f"<{tag}") and self._code[-1].endswith(">")
        if empty:
            self._code[-1] = self._code[-1][:-1] + "/>"
        else:
            self._code.append(f"</{tag}>")
        if self._inside == 0:
            self._text.append(self.codes.placeholder("".join(self._code)))
            self._code = []

    def characters(self, text: str) -> None:
        if self._text is None:
            return
        if self._inside:
            self._code.append(escaped(text))
        else:
            self._text.append(text)

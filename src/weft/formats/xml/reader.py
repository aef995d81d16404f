"""Reading XML: a parser without entities from elsewhere, bounded depth, faults with their line."""

from __future__ import annotations

from typing import NoReturn
from xml.parsers import expat

from weft.errors import FormatError
from weft.formats.encodings import is_auto, is_utf8

Attributes = dict[str, str]


class XmlReader:
    """Passes the elements of a file to methods, which a format overrides.

    >>> class Names(XmlReader):
    ...     def start(self, tag, attributes):
    ...         print(tag, attributes)
    >>> Names("pets.xml").feed(b"<pets><dog name='Rex'/></pets>", last=True)
    pets {}
    dog {'name': 'Rex'}
    """

    #: How deeply elements may be nested.
    deepest = 100

    def __init__(self, path: str, encoding: str = "utf-8", declared: bool = True) -> None:
        """With `declared`, a file in UTF-8 may itself declare another encoding."""
        self.path = path
        self.depth = 0
        follows = declared and (is_utf8(encoding) or is_auto(encoding))
        self.parser = expat.ParserCreate(None if follows else encoding)
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._deeper
        self.parser.EndElementHandler = self._higher
        self.parser.CharacterDataHandler = self.characters
        self.parser.EntityDeclHandler = self.entity

    def feed(self, block: bytes, last: bool = False) -> None:
        """Parse the next bytes of the file."""
        try:
            self.parser.Parse(block, last)
        except expat.ExpatError as error:
            message = expat.ErrorString(error.code)
            raise FormatError(self.path, error.lineno, "well-formed XML", f"an error: {message}") from None
        except (LookupError, ValueError) as error:  # what the file says about its encoding
            raise FormatError(self.path, 1, "XML in UTF-8", f"an error: {error}") from error

    @property
    def line(self) -> int:
        """The number of the line that the parser has reached."""
        number: int = self.parser.CurrentLineNumber
        return number

    def start(self, tag: str, attributes: Attributes) -> None:
        """An element begins."""

    def end(self, tag: str) -> None:
        """An element ends."""

    def characters(self, text: str) -> None:
        """Text between the tags."""

    def entity(self, name: str, parameter: bool, value: str | None, *_: object) -> None:
        """An entity is declared: it could expand without bound, or name a file to read."""
        self.fault("no declared entities", f"the entity {name[:40]!r}")

    def fault(self, expected: str, found: str) -> NoReturn:
        """Refuse the file at this line."""
        raise FormatError(self.path, self.line, expected, found)

    def _deeper(self, tag: str, attributes: Attributes) -> None:
        self.depth += 1
        if self.depth > self.deepest:
            self.fault(f"elements nested at most {self.deepest} deep", f"<{tag[:40]}> inside more")
        self.start(tag, attributes)

    def _higher(self, tag: str) -> None:
        self.depth -= 1
        self.end(tag)

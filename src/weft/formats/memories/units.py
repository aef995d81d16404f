"""Translation units: a source segment, its translation if there is one, and what a translator's file says of both.

Inline elements of a segment, such as `<x id="1"/>` of XLIFF or `<ph>` of TMX, are codes: the text holds a placeholder
`⟦1⟧` for each, and `codes` maps the placeholder to the element as it stands in the file. An element with text inside
it, such as `<g id="2">bold</g>`, is a pair of codes, `⟦2⟧` and `⟦/2⟧`. Placeholders are single words for all that
reads the text, so a translation keeps them whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

#: A placeholder of an inline element.
PLACEHOLDER = re.compile(r"⟦/?[^⟦⟧\s]{1,40}⟧")

TRANSLATED, FUZZY, NEW = "translated", "fuzzy", "new"


@dataclass(frozen=True)
class TranslationUnit:
    """A segment and its translation.

    >>> unit = TranslationUnit("Save the file.", "Guarde el archivo.")
    >>> unit.state, TranslationUnit("Save the file.").state
    ('translated', 'new')
    """

    source: str
    target: str = ""
    id: str = ""  #: unique within its file
    state: str = ""  #: translated, fuzzy (a suggestion that nobody has confirmed) or new
    note: str = ""
    line: int = 0  #: of the file
    codes: Mapping[str, str] = field(default_factory=dict)  #: inline elements by placeholder

    def __post_init__(self) -> None:
        if not self.state:
            object.__setattr__(self, "state", TRANSLATED if self.target else NEW)


@dataclass(frozen=True)
class Suggestion:
    """A translation for a unit of a file, where it comes from, and whether a translator must look at it."""

    target: str
    fuzzy: bool = True
    origin: str = ""  #: for a comment: "memory, 87 %"
    previous: str = ""  #: the source segment that the memory has


def with_codes(text: str, codes: Mapping[str, str], escape: bool = True) -> str:
    """The text as XML, with its codes in place of their placeholders.

    Codes that would not nest are left out: a closing one without its opening one, and the other way round.

    >>> codes = {"⟦1⟧": '<g id="1">', "⟦/1⟧": "</g>"}
    >>> with_codes("⟦1⟧a < b⟦/1⟧", codes), with_codes("a⟦/1⟧ b⟦1⟧", codes)
    ('<g id="1">a &lt; b</g>', 'a b')
    """
    pieces = re.split(f"({PLACEHOLDER.pattern})", text)
    kept = _nesting([piece for piece in pieces if piece in codes], codes)
    out: list[str] = []
    seen = 0
    for piece in pieces:
        if piece in codes:
            out.append(codes[piece] if kept[seen] else "")
            seen += 1
        else:
            out.append(escaped(piece) if escape else piece)
    return "".join(out)


def _nesting(found: list[str], codes: Mapping[str, str]) -> list[bool]:
    """Which codes can stand where they are, each once."""
    kept, used, opened = [False] * len(found), set[str](), list[int]()
    for place, code in enumerate(found):
        if code in used:
            continue
        partner = "⟦" + code[2:] if code.startswith("⟦/") else f"⟦/{code[1:]}"
        if code.startswith("⟦/") and partner in codes:
            above = [at for at in reversed(opened) if found[at] == partner]
            if above:
                kept[place] = kept[above[0]] = True
                used |= {code, partner}
                opened = opened[: opened.index(above[0])]
        elif partner in codes:
            if all(found[at] != code for at in opened):
                opened.append(place)
        else:
            kept[place] = True
            used.add(code)
    return kept


def without_codes(text: str) -> str:
    """The text without placeholders.

    >>> without_codes("⟦1⟧Save⟦/1⟧ it")
    'Save it'
    """
    return PLACEHOLDER.sub("", text)


def escaped(text: str) -> str:
    """Text for XML, without the control characters that XML cannot hold.

    >>> escaped("a < b & c\\x00")
    'a &lt; b &amp; c'
    """
    clean = "".join(each for each in text if each in "\t\n\r" or (each >= " " and each not in "\ufffe\uffff"))
    clean = clean.encode("utf-8", "replace").decode("utf-8")
    return clean.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def attribute(text: str) -> str:
    """A quoted attribute of XML.

    >>> attribute('say "no"')
    '"say &quot;no&quot;"'
    """
    return f'"{escaped(text).replace(chr(34), "&quot;").replace(chr(10), " ")}"'

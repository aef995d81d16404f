"""Shared by all pictures: one style sheet for light and dark, text widths, label colours, the outer SVG element.

Pictures are styled only by classes. A renderer that does not support CSS variables falls back to the elements'
attributes, which give the light style.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from functools import cache
from html import escape
from importlib.resources import files

#: The number of hues in the style sheet; common labels have fixed ones.
HUES = 10
_KNOWN = {
    "PER": 0, "PERSON": 0, "LOC": 1, "GPE": 1, "ORG": 2, "MISC": 3, "FAC": 4, "DATE": 5, "TIME": 5, "PROD": 6,
    "CITY": 1, "COMPANY": 2, "FIRM": 2,
    "PRODUCT": 6, "EVENT": 7, "VEH": 8, "NP": 0, "VP": 1, "PP": 2, "ADVP": 3, "ADJP": 4, "SBAR": 5,
}  # fmt: skip
_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW, _WIDE = frozenset("fijlrtI.,;:'|!()[]/ "), frozenset("mwMW@%")


@cache
def style_sheet() -> str:
    """The style sheet of all pictures, without line breaks.

    >>> style_sheet().startswith(".weft {")
    True
    """
    return " ".join((files("weft.pictures") / "pictures.css").read_text(encoding="utf-8").split())


def hue(label: str) -> str:
    """The class that colours a label, the same everywhere.

    >>> hue("PER"), hue("person"), hue("Vessel") == hue("Vessel")
    ('h0', 'h0', True)
    """
    name = label.upper()
    return f"h{_KNOWN.get(name, zlib.crc32(name.encode('utf-8', 'replace')) % HUES)}"


def text_width(text: str, size: float) -> float:
    """The approximate width of a text in a proportional font of the given size; never much too narrow.

    >>> text_width("ill", 10) < text_width("man", 10) < text_width("木木木", 10)
    True
    """
    ems = 0.0
    for letter in text:
        if letter in _NARROW:
            ems += 0.38
        elif letter in _WIDE or unicodedata.east_asian_width(letter) in "WF":
            ems += 1.0
        elif unicodedata.combining(letter):
            continue
        else:
            ems += 0.76 if letter.isupper() else 0.62
    return ems * size


def is_right_to_left(text: str) -> bool:
    """Whether most letters of a text are written from right to left.

    >>> is_right_to_left("שלום weft עולם"), is_right_to_left("weft שלום text"), is_right_to_left("1, 2.")
    (True, False, False)
    """
    kinds = [unicodedata.bidirectional(letter) for letter in text]
    return sum(kind in ("R", "AL") for kind in kinds) > kinds.count("L")


def backing(x: float, top: float, half: float, height: float) -> str:
    """The background of a word, for shading and pointing: as wide as the word, without a colour.

    >>> backing(50, 10, 20, 38)
    '<rect class="back" fill="none" x="26.0" y="10" width="48.0" height="38" rx="4"/>'
    """
    return (
        f'<rect class="back" fill="none" x="{x - half - 4:.1f}" y="{top:.0f}" width="{2 * half + 8:.1f}" '
        f'height="{height:.0f}" rx="4"/>'
    )


def svg(
    body: str,
    width: float,
    height: float,
    title: str,
    description: str,
    kind: str = "",
    styled: bool = True,
    mirrored: bool = False,
) -> str:
    """The outer element of a picture: size, title and description for accessibility, style.

    A picture that is read from right to left is `mirrored`.

    >>> svg("<path/>", 10, 5, "a <line>", "from left to right", styled=False).split("viewBox=")[1]
    '"0 0 10 5"><title>a &lt;line&gt;</title><desc>from left to right</desc><path/></svg>\\n'
    """
    direction = ' data-dir="rtl"' if mirrored else ""
    style = f"<style>{style_sheet()}</style>" if styled else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{f"weft {kind}".strip()}" role="img"{direction} '
        f'font-family="sans-serif" font-size="15" text-anchor="middle" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"><title>{clean(title)}</title>'
        f"<desc>{clean(description)}</desc>{style}{body}</svg>\n"
    )


def clean(text: str) -> str:
    """Text made safe for XML: escaped, with forbidden characters replaced.

    >>> clean("a<b\\x00")
    'a&lt;b\\ufffd'
    """
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))

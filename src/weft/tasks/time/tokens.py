"""Time phrases as the parser sees them: lower-cased pieces, with numbers in place of their words.

Words are split at hyphens, slashes, points and colons, between digits and letters, and Chinese script into characters;
of a Korean word after digits, the first character, a counter, is cut off. Case and accents are gone.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from weft.tasks.time.numbers import Number, plain, read_number

_PIECE = re.compile(
    r"\d+|[\u3400-\u9fff\uf900-\ufaff]|(?<=\d)[\uac00-\ud7af]|[\uac00-\ud7af]+"
    r"|[^\W\d_\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+|[^\w\s]|_"
)
#: Longer phrases are cut: no phrase of any corpus has as many pieces.
LONGEST = 24


class Piece(NamedTuple):
    """A piece of a phrase: its text, or the class of its number (#2 has two digits, #2o is an ordinal)."""

    text: str
    number: Number | None = None

    @property
    def name(self) -> str:
        """What features see of it."""
        number = self.number
        if number is None:
            return self.text
        size = len(str(number.value))
        return f"#{size}{'o' if number.ordinal else ''}{'z' if number.digits > size else ''}"


def pieces(phrase: str, language: str) -> list[Piece]:
    """The pieces of a phrase.

    >>> [piece.name for piece in pieces("the third-quarter of 1989", "en")]
    ['the', '#1o', '-', 'quarter', 'of', '#4']
    >>> [piece.name for piece in pieces("九七年 十二月", "zh")], [piece.name for piece in pieces("Nov. 06", "en")]
    (['#2', '年', '#2', '月'], ['nov', '.', '#1z'])
    """
    texts = [plain(text) for text in _PIECE.findall(unicodedata.normalize("NFKC", phrase))][:LONGEST]
    found: list[Piece] = []
    place = 0
    while place < len(texts):
        number = read_number(texts, place, language)
        if number is None:
            found.append(Piece(texts[place]))
            place += 1
        else:
            value, end = number
            found.append(Piece(" ".join(texts[place:end]), value))
            place = end
    return found or [Piece("")]

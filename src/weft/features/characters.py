"""Characters as numbers: code points, classes and lower case as arrays over a text.

    code_points(text)[i] = ord(text[i]),    classes(codes)[i] = a small number for the kind of character

Classes tell apart what matters where words and sentences end: every ASCII mark and the common marks of other scripts
have a class of their own; letters are classed by script and case; the rest by Unicode category.
"""

from __future__ import annotations

import unicodedata

import numpy as np
from numpy.typing import NDArray

from weft.hashing import avalanche
from weft.kernel import kernel

Codes = NDArray[np.int32]
Classes = NDArray[np.uint8]

_KINDS = (
    "space", "newline", "paragraph", "control", "format", "mark", "digit", "number", "upper", "lower", "modifier",
    "letter", "han", "hiragana", "katakana", "hangul", "thai", "emoji", "other", "Lu", "Ll",
    "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So",
)  # fmt: skip
#: Marks with a class of their own, beside those of ASCII.
_MARKS = "“”‘’«»„‚‹›…–—·¿¡。，、！？：；「」『』（）《》・°€£§•।॥،؛؟״׳־"
_OWN = "".join(chr(code) for code in range(33, 127) if not chr(code).isalnum()) + _MARKS
#: Names of the classes, in order.
CLASSES = (*_KINDS, *_OWN)
_NUMBER = {name: number for number, name in enumerate(CLASSES)}

SPACE, NEWLINE, PARAGRAPH = _NUMBER["space"], _NUMBER["newline"], _NUMBER["paragraph"]
FORMAT, EMOJI = _NUMBER["format"], _NUMBER["emoji"]
LOWER, COMMA = (_NUMBER["lower"], _NUMBER["Ll"]), _NUMBER[","]
#: Letters of scripts that part words by blanks, digits and what joins them.
_JOINED = ("format", "mark", "digit", "number", "upper", "lower", "modifier", "letter", "hangul", "Lu", "Ll")
#: Letters of scripts that do not part words.
_UNSPACED = ("han", "hiragana", "katakana", "thai")
IS_JOINED = np.array([name in _JOINED for name in CLASSES])
IS_UNSPACED = np.array([name in _UNSPACED for name in CLASSES])
IS_UPPER = np.array([name in ("upper", "Lu") for name in CLASSES])
IS_WORD = IS_JOINED | IS_UNSPACED
#: Marks that do the same work: ending sentences, introducing, parting, closing, joining.
MARK_KINDS = (".!?…。！？।॥؟", ":;：；؛", ",，、،", ")]}\"'»”’」』）》", "-–—/")
#: Class -> the number of its kind of mark from 1, 0 for all others.
MARK_KIND = np.array([next((n for n, kind in enumerate(MARK_KINDS, 1) if name in kind), 0) for name in CLASSES])

_RANGES = (
    (0x0E00, 0x0EFF, "thai"), (0x1000, 0x109F, "thai"), (0x1780, 0x17FF, "thai"), (0x1100, 0x11FF, "hangul"),
    (0x3005, 0x3007, "han"), (0x3041, 0x309F, "hiragana"), (0x30A1, 0x30FA, "katakana"),
    (0x30FC, 0x30FF, "katakana"), (0x3130, 0x318F, "hangul"), (0x3400, 0x4DBF, "han"), (0x4E00, 0x9FFF, "han"),
    (0xAC00, 0xD7FF, "hangul"), (0xF900, 0xFAFF, "han"), (0xFF66, 0xFF9F, "katakana"), (0x20000, 0x3FFFF, "han"),
    (0x1F000, 0x1FAFF, "emoji"), (0x2600, 0x27BF, "emoji"), (0x20E3, 0x20E3, "emoji"), (0xFE00, 0xFE0F, "emoji"),
)  # fmt: skip
_CATEGORIES = {
    "Cc": "control", "Cf": "format", "Mn": "mark", "Mc": "mark", "Me": "mark", "Nd": "digit", "Nl": "number",
    "No": "number", "Lm": "modifier", "Lo": "letter", "Lt": "Lu",
}  # fmt: skip
_UNKNOWN = 255
_CASED = 0x2200  # simple lower case is looked up below this code point


def code_points(text: str) -> Codes:
    """The code points of a text, lone surrogates included.

    >>> code_points("a€").tolist()
    [97, 8364]
    """
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.int32)


def types_of(codes: Codes, starts: Codes, ends: Codes) -> tuple[Codes, Codes]:
    """Stretches of a text numbered by what they spell: the number of each, and where each number is first met.

    >>> kinds, firsts = types_of(code_points("a bc a bc d"), np.array([0, 2, 5, 7, 10]), np.array([1, 4, 6, 9, 11]))
    >>> kinds.tolist(), firsts.tolist()
    ([0, 1, 0, 1, 2], [0, 1, 4])
    """
    kinds, firsts = np.empty(len(starts), dtype=np.int32), np.empty(len(starts), dtype=np.int32)
    slots = np.full(1 << max(4, (2 * len(starts)).bit_length()), -1, dtype=np.int32)
    starts, ends = np.asarray(starts, dtype=np.int32), np.asarray(ends, dtype=np.int32)
    count = _number_types(codes, starts, ends, slots, kinds, firsts)
    return kinds, firsts[:count]


@kernel
def _number_types(codes: Codes, starts: Codes, ends: Codes, slots: Codes, kinds: Codes, firsts: Codes) -> int:
    count, mask = 0, np.uint64(len(slots) - 1)
    for i in range(len(starts)):
        begin, size = np.int64(starts[i]), np.int64(ends[i]) - np.int64(starts[i])
        h = np.uint64(size)
        for k in range(begin, begin + size):
            h = (h ^ np.uint64(codes[k])) * np.uint64(0x100000001B3)
        slot = avalanche(h) & mask
        while True:
            kind = slots[slot]
            if kind < 0:
                slots[slot] = kind = count
                firsts[count] = i
                count += 1
                break
            other = np.int64(starts[firsts[kind]])
            same = np.int64(ends[firsts[kind]]) - other == size
            k = 0
            while same and k < size:
                same = codes[begin + k] == codes[other + k]
                k += 1
            if same:
                break
            slot = (slot + np.uint64(1)) & mask
        kinds[i] = kind
    return count


def class_of(character: str) -> str:
    """The name of a character's class.

    >>> [class_of(character) for character in "Añ7. 字が\\n¿"]
    ['upper', 'lower', 'digit', '.', 'space', 'han', 'hiragana', 'newline', '¿']
    """
    if character.isspace():
        if character == "\u2029":
            return "paragraph"
        return "newline" if character in "\n\r\x0b\x0c\x85\u2028" else "space"
    if character in _NUMBER and len(character) == 1:
        return character
    code = ord(character)
    for first, last, name in _RANGES:
        if first <= code <= last:
            return name
    category = unicodedata.category(character)
    if category in ("Lu", "Ll"):
        return ("upper" if category == "Lu" else "lower") if code < 0x250 else category
    return _CATEGORIES.get(category, category if category in _NUMBER else "other")


class CharacterTable:
    """Classes and lower case by code point, worked out when a character is first met.

    >>> table = CharacterTable()
    >>> [CLASSES[number] for number in table.classes(code_points("Hi!"))]
    ['upper', 'lower', '!']
    """

    def __init__(self) -> None:
        self._classes = np.full(0x110000, _UNKNOWN, dtype=np.uint8)
        self._classes[:128] = [_NUMBER[class_of(chr(code))] for code in range(128)]
        self.lower = np.arange(_CASED, dtype=np.int32)
        for code in range(_CASED):
            small = chr(code).lower()
            if len(small) == 1:
                self.lower[code] = ord(small)

    def classes(self, codes: Codes) -> Classes:
        """The class of every code point."""
        found: Classes = self._classes[codes]
        if len(found) and found.max() == _UNKNOWN:
            for code in np.unique(codes[found == _UNKNOWN]).tolist():
                self._classes[code] = _NUMBER[class_of(chr(code))]
            found = self._classes[codes]
        return found

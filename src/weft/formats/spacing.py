"""Spacing between tokens, as CoNLL-U's MISC column encodes it.

A token is followed by one space, by nothing (`SpaceAfter=No`), or by what `SpacesAfter=` gives with the escapes
`\\s \\t \\n \\r \\p \\\\ \\uXXXX`; `SpacesBefore=` gives the whitespace before it. A sentence with `# newpar` begins
after an empty line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ids
from weft.text.strings import StringTable

_ESCAPE = re.compile(r"\\(u(?![dD][89a-fA-F])[0-9a-fA-F]{4}|[stnrp\\])")  # surrogates are no characters
_MEANING = {"s": " ", "t": "\t", "n": "\n", "r": "\r", "p": "|", "\\": "\\"}
_SPELLING = {" ": "\\s", "\t": "\\t", "\n": "\\n", "\r": "\\r", "|": "\\p", "\\": "\\\\"}

#: Codes for what follows a token; higher codes are `SpacesAfter` and `SpacesBefore` values seen so far.
UNKNOWN, BLANK, NOTHING, PARAGRAPH = 0, 1, 2, 3


def unescape(value: str) -> str:
    r"""Decode whitespace from its escapes.

    >>> unescape(r"\s\n\u00A0")
    ' \n\xa0'
    """
    return _ESCAPE.sub(lambda match: _MEANING.get(match[1]) or chr(int(match[1][1:], 16)), value)


def escape(blanks: str) -> str:
    r"""Encode whitespace with escapes.

    >>> escape(" \n")
    '\\s\\n'
    """
    return "".join(
        _SPELLING.get(letter) or (f"\\u{ord(letter):04X}" if letter.isspace() else letter) for letter in blanks
    )


@lru_cache(maxsize=4096)
def parse_misc(misc: str) -> tuple[str, str | None, bool]:
    r"""The whitespace before a token, after it (None: one space by default), and whether it was given explicitly.

    >>> parse_misc("SpaceAfter=No|Gloss=dog"), parse_misc(r"SpacesAfter=\n"), parse_misc("Gloss=dog")
    (('', '', False), ('', '\n', True), ('', None, False))
    """
    before, after, spelled = "", None, False
    for item in misc.split("|"):
        if item.startswith("Space"):
            name, _, value = item.partition("=")
            if name == "SpacesAfter":
                after, spelled = unescape(value), True
            elif name == "SpacesBefore":
                before = unescape(value)
            elif item == "SpaceAfter=No" and not spelled:
                after = ""
    return before, after, spelled


@lru_cache(maxsize=4096)
def with_blanks(misc: str, before: str, after: str) -> str:
    r"""MISC with the whitespace before and after a token, its other items kept.

    >>> with_blanks("Gloss=dog|SpaceAfter=No", "", " "), with_blanks("", "", "\n")
    ('Gloss=dog', 'SpacesAfter=\\n')
    """
    items = [item for item in misc.split("|") if item and not re.match(r"Space(s?After|sBefore)=", item)]
    if before:
        items.append(f"SpacesBefore={escape(before)}")
    if after == "":
        items.append("SpaceAfter=No")
    elif after != " ":
        items.append(f"SpacesAfter={escape(after)}")
    return "|".join(items)


def begins_paragraph(comments: Sequence[str]) -> bool:
    """Whether a sentence with these comments begins a paragraph.

    >>> begins_paragraph(("# newpar id = p1",)), begins_paragraph(("# text = # newpar",))
    (True, False)
    """
    return any(line.startswith("# newpar") for line in comments)


class Layout(NamedTuple):
    """Text restored from tokens: the tokens' offsets, and the range `bounds[d]` of each document `d`."""

    text: str
    start: NDArray[np.int64]
    end: NDArray[np.int64]
    bounds: list[tuple[int, int]]


class Spacing:
    """Codes for what follows a token, computed once per MISC string of a table."""

    def __init__(self, strings: StringTable) -> None:
        self.strings = strings
        self.before: list[str] = ["", "", "", ""]
        self.after: list[str] = [" ", " ", "", "\n\n"]
        self.spelled: list[bool] = [False] * 4
        self._codes: Ids = np.zeros(1 << 12, dtype=np.int32)
        self._known: dict[tuple[str, str | None, bool], int] = {}

    def codes(self, misc: Ids) -> Ids:
        """The code of each MISC id."""
        if len(self.strings) > len(self._codes):
            grown = np.zeros(2 * len(self.strings), dtype=np.int32)
            grown[: len(self._codes)] = self._codes
            self._codes = grown
        codes = self._codes[misc]
        unknown = misc[codes == UNKNOWN]
        if len(unknown):
            for number in np.unique(unknown).tolist():
                self._codes[number] = self._code(self.strings.string(number))
            codes = self._codes[misc]
        return codes

    def _code(self, misc: str) -> int:
        if "Space" not in misc:
            return BLANK
        key = before, after, spelled = parse_misc(misc)
        if not before and not spelled:
            return BLANK if after is None else NOTHING
        if key not in self._known:
            self._known[key] = len(self.after)
            self.before.append(before)
            self.after.append(" " if after is None else after)
            self.spelled.append(spelled)
        return self._known[key]

    def layout(
        self, forms: Sequence[str], misc: Ids, lasts: Ids, new_paragraph: Sequence[bool], doc_starts: Sequence[int]
    ) -> Layout:
        """Restore the text of consecutive documents.

        `forms` and `misc` have one entry per token; `lasts[s]` is the last token of sentence `s`, `new_paragraph[s]`
        says whether the sentence begins a paragraph, and `doc_starts` are the sentences that begin a document.
        """
        token_codes = self.codes(misc)
        after = token_codes.copy()
        doc_lasts = lasts[np.array([*doc_starts[1:], len(lasts)], dtype=np.int64) - 1]
        free = np.flatnonzero(~np.array(self.spelled)[token_codes[lasts]])
        breaks = np.append(np.array(new_paragraph, dtype=np.bool_)[1:], False)[free]
        after[lasts[free[breaks]]] = PARAGRAPH
        after[doc_lasts[~np.array(self.spelled)[token_codes[doc_lasts]]]] = NOTHING

        blanks = list(map(self.after.__getitem__, after.tolist()))
        widths = np.array([len(blank) for blank in self.after], dtype=np.int64)[after]
        trailing = widths[doc_lasts]
        doc_firsts = np.concatenate([[0], doc_lasts[:-1] + 1])
        leading = np.zeros(len(doc_firsts), dtype=np.int64)
        opening = ""
        if len(self.before) > 4:
            first_of = {int(token): place for place, token in enumerate(doc_firsts)}
            for token in np.flatnonzero(token_codes > PARAGRAPH).tolist():
                lead = self.before[int(token_codes[token])]
                if token:
                    blanks[token - 1] += lead
                    widths[token - 1] += len(lead)
                else:
                    opening = lead
                if token in first_of:
                    leading[first_of[token]] = len(lead)
        lengths = np.fromiter(map(len, forms), dtype=np.int64, count=len(forms))
        end = np.cumsum(lengths + widths) - widths + len(opening)
        start = end - lengths
        text = opening + "".join(chain.from_iterable(zip(forms, blanks, strict=True)))
        bounds = zip((start[doc_firsts] - leading).tolist(), (end[doc_lasts] + trailing).tolist(), strict=True)
        return Layout(text, start, end, list(bounds))

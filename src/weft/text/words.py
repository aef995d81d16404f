"""Where the words of a text are, by rule.

Words are runs of letters, digits and marks with inner apostrophes, hyphens, points and commas kept (`don't`, `3,000.5`,
`U.S.`), web and mail addresses, or single other characters (runs of the same punctuation stay together); characters of
scripts without blanks stand alone.
"""

from __future__ import annotations

import re

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0e7f"
_WORD = re.compile(
    r"(?:https?://|www\.)\S*[^\s.,;:!?)\]}'\"»”’]"  # web addresses
    r"|[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+"  # mail addresses; without a limit, every word would search all text after it
    rf"|[{_UNSPACED}]"
    r"|(?:[A-Za-z]\.){2,}"  # U.S.
    rf"|[^\W{_UNSPACED}]+(?:[-'’.,](?=\w)[^\W{_UNSPACED}]+)*[\u0300-\u036f]*"
    r"|(?P<mark>[^\w\s])(?P=mark)*"
    r"|\S"
)


def word_spans(text: str, start: int = 0, end: int | None = None) -> list[tuple[int, int]]:
    """The words of a text, or of a part of it, as half-open ranges of characters.

    >>> text = "He didn't pay 3,000.5."
    >>> [text[start:end] for start, end in word_spans(text)]
    ['He', "didn't", 'pay', '3,000.5', '.']
    """
    return [match.span() for match in _WORD.finditer(text, start, len(text) if end is None else end)]

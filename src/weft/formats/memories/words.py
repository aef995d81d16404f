"""Words of texts with markup, such as manuals: a span of markup or a placeholder is one word, whatever is in it.

    Use :meth:`~str.join` or ``"".join(x)``.    ->    Use  :meth:`~str.join`  or  ``"".join(x)``  .

`Spelling` makes text of words again: which marks have a space before or after them, and how words are capitalized, is
learned from texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

_MARKUP = r":\w+:`[^`]*`|``[^`]*``|`[^`]*`_?|\*\*?[^*\s][^*]*\*\*?"
_PLACEHOLDERS = r"⟦/?[^⟦⟧\s]{1,40}⟧|%\(\w+\)[a-zA-Z]|\$\{\w+\}|\{\w*\}|</?[a-zA-Z][^<>]{0,200}>"
_WORDS = re.compile(rf"{_PLACEHOLDERS}|{_MARKUP}|\w+|[^\w\s]")
_REST_WORDS = re.compile(rf"{_MARKUP}|\w+|[^\w\s]")
_IS_MARKUP = re.compile(rf"(?:{_PLACEHOLDERS}|{_MARKUP})\Z")
_IS_WORD = re.compile(r"\w+")
_SPACE = re.compile(r"\s+")


def marked_words(text: str, placeholders: bool = True) -> list[str]:
    """The words of a text; spaces within markup become `_`, so that words have none.

    Without `placeholders` only markup of reStructuredText is kept whole.

    >>> marked_words("Use :ref:`the guide <guide>`, not ``a b``.")
    ['Use', ':ref:`the_guide_<guide>`', ',', 'not', '``a_b``', '.']
    >>> marked_words("%(name)s has {n} files<br/>", placeholders=True)
    ['%(name)s', 'has', '{n}', 'files', '<br/>']
    """
    return [_SPACE.sub("_", word) for word in (_WORDS if placeholders else _REST_WORDS).findall(text)]


def is_markup(word: str) -> bool:
    """Whether a word is a span of markup or a placeholder.

    >>> is_markup("``x``"), is_markup("{n}"), is_markup("x")
    (True, True, False)
    """
    return _IS_MARKUP.match(word) is not None


def _placed(text: str) -> list[tuple[str, bool]]:
    """Words, and whether a space follows each."""
    found = list(_WORDS.finditer(text))
    ends = [*(each.start() for each in found[1:]), len(text)][: len(found)]
    return [(each.group(), each.end() < end) for each, end in zip(found, ends, strict=True)]


class Spelling:
    """How words become text.

    >>> spelling = Spelling()
    >>> spelling.learn(["El archivo (nuevo) está listo.", "¿Está listo Python?", "Use Python, (o no)."])
    >>> spelling.text(["¿", "use", "python", "(", "o", "``x_y``", ")", "?"], "Use ``x y``?")
    '¿Use Python (o ``x y``)?'
    """

    def __init__(self) -> None:
        self.space_before: dict[str, bool] = {}
        self.space_after: dict[str, bool] = {}
        self.forms: dict[str, str] = {}

    def learn(self, texts: Iterable[str]) -> None:
        """Count, for every mark, how often a space is before and after it, and the most frequent form of every word."""
        before, after, forms = Counter[str](), Counter[str](), dict[str, Counter[str]]()
        for text in texts:
            placed = _placed(text)
            for (one, space), (other, _) in pairwise(placed):
                sign = 1 if space else -1
                if not _IS_WORD.fullmatch(one) and not is_markup(one):
                    after[one] += sign
                if not _IS_WORD.fullmatch(other) and not is_markup(other):
                    before[other] += sign
            for place, (word, _) in enumerate(placed):
                # The first word of a text is capitalized for its place.
                if place and _IS_WORD.fullmatch(word):
                    forms.setdefault(word.lower(), Counter())[word] += 1
        self.space_before = {mark: count > 0 for mark, count in before.items()}
        self.space_after = {mark: count > 0 for mark, count in after.items()}
        best = {low: min(counts.items(), key=lambda item: (-item[1], item[0]))[0] for low, counts in forms.items()}
        self.forms = {low: form for low, form in best.items() if form != low}

    def text(self, words: Sequence[str], source: str = "") -> str:
        """The text of words; markup and words that the source segment has, too, are spelled as there."""
        known: dict[str, str] = {}
        for word, _ in _placed(source):
            known.setdefault(_SPACE.sub("_", word).lower(), word)
        pieces: list[str] = []
        for place, word in enumerate(words):
            form = known.get(word.lower()) if not _IS_WORD.fullmatch(word) else None
            form = form or self.forms.get(word.lower()) or word
            if form == word.lower() and place and _as_name(known.get(word.lower(), ""), source):
                form = known[word.lower()]
            if pieces and self._space(words[place - 1], word):
                pieces.append(" ")
            pieces.append(form)
        return _capitalized("".join(pieces), source)

    def _space(self, one: str, other: str) -> bool:
        left = True if _IS_WORD.fullmatch(one) or is_markup(one) else self.space_after.get(one, one not in "([{¿¡-/")
        right = self.space_before.get(other, other not in ".,;:!?)]}-/") if not _plain(other) else True
        return left and right


def _plain(word: str) -> bool:
    return _IS_WORD.fullmatch(word) is not None or is_markup(word)


def _as_name(word: str, source: str) -> bool:
    """Whether the source spells a word as a name, not only as the first word of a segment."""
    return any(letter.isupper() for letter in word[1:]) or (word[:1].isupper() and not source.startswith(word))


def _capitalized(text: str, source: str) -> str:
    """The text with a capital at its beginning if the source has one, and no opening mark hides it."""
    letters = [place for place, letter in enumerate(text) if letter not in "¿¡([\"'«“ "]
    first = next((letter for letter in source if letter not in "¿¡([\"'«“ "), "")
    if letters and first.isupper():
        place = letters[0]
        return text[:place] + text[place].upper() + text[place + 1 :]
    return text

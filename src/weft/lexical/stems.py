"""Stems of English words (Porter 1980): endings are taken off in five steps, by the shape of what is left.

A word is a sequence [C](VC)^m[V] of runs of consonants and vowels; m is its measure. Most endings are only taken off
a stem of m > 0 or m > 1.
"""

from __future__ import annotations

from functools import lru_cache

_STEP2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "abli": "able", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble",
}  # fmt: skip
_STEP3 = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_STEP4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """The stem of an English word in lower case; words of two letters or with others than a to z stay as they are.

    >>> [stem(word) for word in ("caresses", "ponies", "hopping", "relational", "adjustment", "controlling", "12th")]
    ['caress', 'poni', 'hop', 'relat', 'adjust', 'control', '12th']
    """
    if len(word) <= 2 or not (word.isascii() and word.isalpha()):
        return word
    word = _plural(word.lower())
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _STEP2)
    word = _replaced(word, _STEP3)
    word = _bare(word)
    return _tidy(word)


def _consonants(word: str) -> list[bool]:
    kinds: list[bool] = []
    for i, letter in enumerate(word):
        if letter == "y":
            kinds.append(i == 0 or not kinds[i - 1])
        else:
            kinds.append(letter not in "aeiou")
    return kinds


def _measure(word: str) -> int:
    kinds = _consonants(word)
    return sum(kinds[i] and not kinds[i - 1] for i in range(1, len(kinds)))


def _has_vowel(word: str) -> bool:
    return not all(_consonants(word))


def _doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _consonants(word)[-1]


def _short(word: str) -> bool:
    """Whether a word ends in consonant, vowel, consonant, the last of which is not w, x or y."""
    return len(word) > 2 and _consonants(word)[-3:] == [True, False, True] and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest == word:
            continue
        if not _has_vowel(rest):
            return word
        if rest.endswith(("at", "bl", "iz")):
            return rest + "e"
        if _doubled(rest) and rest[-1] not in "lsz":
            return rest[:-1]
        return rest + "e" if _measure(rest) == 1 and _short(rest) else rest
    return word


def _replaced(word: str, endings: dict[str, str]) -> str:
    """The longest of the endings replaced, if its stem has a measure above 0."""
    for length in range(min(7, len(word)), 1, -1):
        new = endings.get(word[-length:])
        if new is not None:
            return word[:-length] + new if _measure(word[:-length]) > 0 else word
    return word


def _bare(word: str) -> str:
    ending = max((each for each in _STEP4 if word.endswith(each)), key=len, default="")
    rest = word.removesuffix(ending)
    if not ending or _measure(rest) <= 1 or (ending == "ion" and not rest.endswith(("s", "t"))):
        return word
    return rest


def _tidy(word: str) -> str:
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _short(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word) > 1 else word

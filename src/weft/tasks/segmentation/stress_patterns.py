"""Stress patterns of words: in a segmented text, and in the rules that a grammar has learned.

A pattern has S for a stressed syllable and W for an unstressed one. Four classes cover nearly all words of English:

    initial  S W*      unstressed  W+      second  W S W*      several  two S or more      other  stress later
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from weft.formats.phonemes import STRESS, Utterance
from weft.infer.forests.grammar import Rule

#: Classes of patterns, in the order in which they are shown.
CLASSES = ("initial", "unstressed", "second", "several", "other")
_SYLLABLE = re.compile(r"([SU])Syll(?:I|F|IF)?")


def pattern_class(pattern: str) -> str:
    """The class of a pattern.

    >>> [pattern_class(pattern) for pattern in ("S", "SWW", "W", "WSW", "SS", "WWS")]
    ['initial', 'initial', 'unstressed', 'second', 'several', 'other']
    """
    if pattern.count("S") > 1:
        return "several"
    place = pattern.find("S")
    return {-1: "unstressed", 0: "initial", 1: "second"}.get(place, "other")


def word_pattern(word: Sequence[str], vowels: Iterable[str]) -> str:
    """The pattern of a word given as sounds, one letter per vowel.

    >>> word_pattern(["d", "ao", "*", "g", "iy"], ["ao", "iy"])
    'SW'
    """
    known = set(vowels)
    after = [*word[1:], ""]
    return "".join(
        "S" if behind == STRESS else "W" for sound, behind in zip(word, after, strict=True) if sound in known
    )


def pattern_shares(utterances: Iterable[Utterance], vowels: Iterable[str]) -> dict[str, dict[str, float]]:
    """The shares of the classes among word tokens (`token`) and word types (`type`).

    >>> shares = pattern_shares([[["dh", "ah"], ["d", "ao", "*", "g", "iy"]], [["dh", "ah"]]], ["ah", "ao", "iy"])
    >>> round(shares["token"]["unstressed"], 2), shares["type"]["initial"]
    (0.67, 0.5)
    """
    words = [tuple(word) for utterance in utterances for word in utterance]
    known = frozenset(vowels)
    return {"token": _shares(words, known), "type": _shares(set(words), known)}


def _shares(words: Iterable[tuple[str, ...]], vowels: frozenset[str]) -> dict[str, float]:
    counts = Counter(pattern_class(word_pattern(word, vowels)) for word in words)
    total = max(counts.total(), 1)
    return {name: counts[name] / total for name in CLASSES}


def learnt_shares(rules: Sequence[Rule], probabilities: Sequence[float], unit: str = "Word") -> dict[str, float]:
    """The probabilities of the classes under the rules of a grammar with the syllables SSyll and USyll.

    Empty for a grammar without stress.

    >>> from weft.formats.grammar import Rule
    >>> rules = [Rule("Word", ("SSyllI", "USyllF")), Rule("Word", ("USyllIF",)), Rule("X", ("a",))]
    >>> learnt_shares(rules, [0.7, 0.3, 1.0])["initial"]
    0.7
    """
    shares = dict.fromkeys(CLASSES, 0.0)
    for rule, probability in zip(rules, probabilities, strict=True):
        marks = [_SYLLABLE.fullmatch(name) for name in rule.right]
        if rule.left == unit:
            if not all(marks):
                return {}
            pattern = "".join("S" if mark and mark[1] == "S" else "W" for mark in marks)
            shares[pattern_class(pattern)] += float(probability)
    return shares

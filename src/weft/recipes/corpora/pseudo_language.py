"""An artificial language with a bitext: real sentences with every word replaced, moved, dropped or split.

The letters of a word are replaced: all but the last two at random, separately for every type, the last two by one
permutation of the alphabet, so that words with a common ending still share one. Non-letters and capitalization are
kept. Two types never become the same word. Whatever a system learns across the two languages comes from the links.

The truth is fully known: `origin` gives the source word of every target word, whatever the links say.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

import numpy as np

from weft.text.bitext import Links

T = TypeVar("T")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_VOWELS = "aeiou"


class PseudoLanguage:
    """Words of an artificial language, the same for the same seed.

    >>> language = PseudoLanguage(seed=1)
    >>> language.word("walked"), language.word("Walked"), language.word("talked")
    ('etocak', 'Etocak', 'vshiak')
    >>> language.word("1,200"), language.word("of")
    ('1,200', 'iw')
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        random = np.random.default_rng(seed)
        # Vowels stay vowels: endings keep their sound.
        self._ending = dict(zip(_LETTERS, _LETTERS, strict=True))
        for kind in (_VOWELS, "".join(letter for letter in _LETTERS if letter not in _VOWELS)):
            self._ending.update(zip(kind, (kind[i] for i in random.permutation(len(kind))), strict=True))
        self._known: dict[str, str] = {}
        self._taken: set[str] = set()

    def word(self, word: str) -> str:
        """The replacement for a word; the same for a word in capitals."""
        plain = word.lower()
        found = self._known.get(plain)
        if found is None:
            found = self._known[plain] = self._new(plain)
        if word == plain:
            return found
        if word.isupper():
            return found.upper()
        return "".join(new.upper() if i < len(word) and word[i].isupper() else new for i, new in enumerate(found))

    def _new(self, plain: str) -> str:
        letters = [i for i, character in enumerate(plain) if character.isalpha()]
        for attempt in range(1000):
            random = np.random.default_rng([self.seed, zlib.crc32(plain.encode()), attempt])
            new = list(plain)
            for i in letters[:-2]:
                new[i] = _LETTERS[random.integers(len(_LETTERS))]
            for i in letters[-2:]:
                new[i] = self._ending.get(plain[i], plain[i])
            if attempt > 20:  # no word of this length is left
                new += [_LETTERS[i] for i in random.integers(len(_LETTERS), size=2)]
            made = "".join(new)
            if made not in self._taken:
                self._taken.add(made)
                return made
        raise AssertionError("a thousand words of two more letters are taken")


@dataclass(frozen=True)
class Noise:
    """How a pseudo-language differs from its source beyond words, as probabilities."""

    swap: float = 0.2  # of swapping two neighbours
    delete: float = 0.05  # of dropping a word
    split: float = 0.05  # of splitting a word into two
    wrong: float = 0.1  # of a link leading to another word in the sentence


@dataclass(frozen=True)
class PseudoBitext:
    """Target sentences, the links to them, and the source word of every target word."""

    words: list[list[str]]
    links: Links
    origin: list[list[int]]

    def carried(self, values: Sequence[Sequence[T]]) -> list[list[T]]:
        """Source annotation carried over to the target words: gold annotation of the target side."""
        return [[row[i] for i in origin] for row, origin in zip(values, self.origin, strict=True)]


def pseudo_bitext(
    sentences: Iterable[Sequence[str]],
    language: PseudoLanguage,
    seed: int,
    noise: Noise | None = None,
    groups: Iterable[Sequence[int]] | None = None,
) -> PseudoBitext:
    """Sentences in the pseudo-language, with noisy links.

    `groups` numbers words that stay together when words move (names): neighbours with the same number.

    >>> bitext = pseudo_bitext([["Ann", "left"], ["Ann", "stayed"]], PseudoLanguage(1), 0, Noise(0, 0, 0, 0))
    >>> bitext.words, bitext.links.pairs()
    ([['Zdd', 'mfwh'], ['Zdd', 'zksvak']], [[(0, 0), (1, 1)], [(0, 0), (1, 1)]])
    """
    noise = noise or Noise()
    random = np.random.default_rng(seed)
    made, links, origins = [], [], []
    numbers = iter(groups) if groups is not None else None
    for sentence in sentences:
        own = range(len(sentence)) if numbers is None else next(numbers)
        units = [[i for i, _ in run] for _, run in groupby(enumerate(own), key=lambda pair: pair[1])]
        _swap(units, noise.swap, random)
        words, origin = [], []
        for i in (i for unit in units for i in unit):
            if len(sentence) > 1 and random.random() < noise.delete:
                continue
            word = language.word(sentence[i])
            pieces = [word]
            if len(word) > 3 and word.isalpha() and random.random() < noise.split:
                pieces = [word[: len(word) // 2], word[len(word) // 2 :]]
            words += pieces
            origin += [i] * len(pieces)
        if not words:  # never drop a whole sentence
            words, origin = [language.word(sentence[0])], [0]
        wrong = random.random(len(words)) < noise.wrong
        ends = np.where(wrong, random.integers(len(words), size=len(words)), np.arange(len(words)))
        made.append(words)
        links.append(sorted({(i, int(j)) for i, j in zip(origin, ends, strict=True)}))
        origins.append(origin)
    return PseudoBitext(made, Links.of(links), origins)


def _swap(units: list[list[int]], chance: float, random: np.random.Generator) -> None:
    at = 0
    while at + 1 < len(units):
        if random.random() < chance:
            units[at], units[at + 1] = units[at + 1], units[at]
            at += 1  # a unit moves once
        at += 1

"""Pronunciations of words, and utterances written as sounds with stress.

A dictionary in the manner of CMUdict has a word and its sounds a line, `DOGGIE  D AO1 G IY0`; further pronunciations of
a word (`READ(1)`) and comments (`;;;`) are left out. Of the digits behind vowels only 1, primary stress, is kept, as a
mark behind the vowel. Function words of one syllable carry no stress in running speech: if their dictionary stress
stayed, nearly every word of one syllable would have one, and "one stress a word" would look like knowledge of word
boundaries.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping

from weft.errors import FormatError
from weft.formats.phonemes import ARPABET_VOWELS, STRESS, Utterance
from weft.formats.streams import numbered_lines

#: 94 determiners, pronouns, prepositions, auxiliaries, conjunctions and particles of one syllable.
FUNCTION_WORDS = frozenset((
    "a", "an", "the", "this", "that", "these", "those", "some", "each", "i", "me", "my", "you", "your", "he", "him",
    "his", "she", "her", "hers", "it", "its", "we", "us", "our", "they", "them", "their", "who", "whom", "whose",
    "which", "what", "one", "of", "in", "on", "at", "to", "for", "from", "with", "by", "as", "up", "off", "out",
    "down", "through", "near", "past", "till", "since", "like", "am", "is", "are", "was", "were", "be", "been", "do",
    "does", "did", "has", "have", "had", "can", "could", "may", "might", "must", "shall", "should", "will", "would",
    "let", "and", "but", "or", "nor", "if", "than", "though", "while", "when", "where", "not", "so", "too", "there",
    "then", "just", "no",
))  # fmt: skip
_NUMBERED = re.compile(r"\(\d+\)$")


class Pronunciations:
    """Words with their sounds.

    >>> dictionary = Pronunciations({"the": ["DH", "AH1"], "doggie": ["D", "AO1", "G", "IY0"]})
    >>> dictionary.utterance(["The", "doggie"])
    [['dh', 'ah'], ['d', 'ao', '*', 'g', 'iy']]
    >>> dictionary.utterance(["the", "cat"]) is None
    True
    """

    def __init__(self, entries: Mapping[str, Iterable[str]], unstressed: Collection[str] = FUNCTION_WORDS) -> None:
        self._sounds = {word.lower(): [sound.lower() for sound in sounds] for word, sounds in entries.items()}
        self._unstressed = frozenset(unstressed)

    def __len__(self) -> int:
        return len(self._sounds)

    def __contains__(self, word: str) -> bool:
        return word.lower() in self._sounds

    @classmethod
    def read(cls, path: str | os.PathLike[str], unstressed: Collection[str] = FUNCTION_WORDS) -> Pronunciations:
        """Read a dictionary in the manner of CMUdict; of several pronunciations the first is kept."""
        entries: dict[str, list[str]] = {}
        for number, line in numbered_lines(os.fspath(path)):
            fields = line.split(" #")[0].split()
            if not fields or line.startswith(";;;"):
                continue
            if len(fields) < 2:
                raise FormatError(os.fspath(path), number, "a word and its sounds", repr(line.strip()))
            entries.setdefault(_NUMBERED.sub("", fields[0]).lower(), fields[1:])
        return cls(entries, unstressed)

    def word(self, word: str) -> list[str] | None:
        """The sounds of a word, `*` behind its stressed vowel; None for a word that is not known."""
        sounds = self._sounds.get(word.lower())
        if sounds is None:
            return None
        plain = [sound.rstrip("012") for sound in sounds]
        one_syllable = sum(sound in ARPABET_VOWELS for sound in plain) == 1
        silent = one_syllable and word.lower() in self._unstressed
        found = []
        for sound, bare in zip(sounds, plain, strict=True):
            found.append(bare)
            if sound.endswith("1") and not silent:
                found.append(STRESS)
        return found

    def utterance(self, words: Iterable[str]) -> Utterance | None:
        """The sounds of all words, or None where one of them is not known."""
        found = [self.word(word) for word in words]
        return None if any(sounds is None for sounds in found) else [sounds for sounds in found if sounds]

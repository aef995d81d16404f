"""Pronunciations of words, and utterances as sounds with stress.

A dictionary in CMUdict format has one word and its sounds per line, `DOGGIE  D AO1 G IY0`; alternative pronunciations
(`READ(1)`) and comments (`;;;`) are skipped. Of the digits after vowels only 1, primary stress, is kept, as a mark
after the vowel. Monosyllabic function words carry no stress in running speech: if they kept their dictionary stress,
nearly every monosyllable would be stressed, and "one stress per word" would look like knowledge of word boundaries.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping

from weft.errors import FormatError
from weft.formats.phonemes import ARPABET_VOWELS, STRESS, Utterance
from weft.formats.streams import numbered_lines

#: 94 monosyllabic determiners, pronouns, prepositions, auxiliaries, conjunctions and particles.
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
        """Read a dictionary in CMUdict format; the first of several pronunciations is kept."""
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
        """The sounds of a word, `*` after its stressed vowel; None for an unknown word."""
        sounds = self._sounds.get(word.lower())
        if sounds is None:
            return None
        plain = [sound.rstrip("012") for sound in sounds]
        one_syllable = sum(sound in ARPABET_VOWELS for sound in plain) == 1
        silent = one_syllable and word.lower() in self._unstressed
        pronunciation = []
        for sound, bare in zip(sounds, plain, strict=True):
            pronunciation.append(bare)
            if sound.endswith("1") and not silent:
                pronunciation.append(STRESS)
        return pronunciation

    def utterance(self, words: Iterable[str]) -> Utterance | None:
        """The sounds of all words, or None if one of them is unknown."""
        pronounced = [self.word(word) for word in words]
        return None if any(sounds is None for sounds in pronounced) else [sounds for sounds in pronounced if sounds]

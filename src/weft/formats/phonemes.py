"""Utterances as sounds (phonemes), with or without word boundaries and stress.

There are three ways to write an utterance, one per line:

    sounds      dh ah | d ao * g iy       space-separated sounds, * after a stressed vowel, | between words if known
    syllables   DH.AH0 D.AO1|G.IY0        space-separated words, | between syllables, dots between sounds, 1 for stress
    letters     D6 dOgi                   space-separated words, one character per sound, no stress

All three are read alike: an utterance is a list of words and a word is a list of lower-case sounds (letters keep their
case); `*` is a separate sound after the vowel of a syllable with primary stress. A line without boundaries is one word.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from weft.errors import ConfigError, FormatError
from weft.formats.streams import numbered_lines

#: The stress mark, after the vowel.
STRESS = "*"
#: The separator between words in lines of sounds.
BOUNDARY = "|"
#: The ARPABET vowels, as in pronunciation dictionaries of American English.
ARPABET_VOWELS = ("aa", "ae", "ah", "ao", "aw", "ay", "eh", "er", "ey", "ih", "iy", "ow", "oy", "uh", "uw")
#: The ARPABET consonants.
ARPABET_CONSONANTS = (
    "b", "ch", "d", "dh", "f", "g", "hh", "jh", "k", "l", "m", "n", "ng", "p", "r", "s", "sh", "t", "th", "v", "w", "y",
    "z", "zh",
)  # fmt: skip

Utterance = list[list[str]]


def read_utterances(path: str | os.PathLike[str], style: str = "sounds") -> list[Utterance]:
    """The utterances in a file; empty lines are skipped."""
    if style not in STYLES:
        raise ConfigError(f"there is no style {style!r} of utterances; choose from {', '.join(STYLES)}")
    name = os.fspath(path)
    utterances = []
    for number, line in numbered_lines(name):
        if line.strip():
            utterance = STYLES[style](line)
            if not all(utterance) or any(not sound for word in utterance for sound in word):
                raise FormatError(name, number, f"an utterance written as {style}", "an empty word or sound")
            utterances.append(utterance)
    return utterances


def parse_sounds(line: str) -> Utterance:
    """Parse an utterance from a line of sounds.

    >>> parse_sounds("dh ah | d ao * g iy")
    [['dh', 'ah'], ['d', 'ao', '*', 'g', 'iy']]
    """
    return [word.split() for word in f" {line} ".split(f" {BOUNDARY} ")]


def parse_syllables(line: str) -> Utterance:
    """Parse an utterance from words with syllables, dots and digits.

    >>> parse_syllables("DH.AH0 D.AO1|G.IY0")
    [['dh', 'ah'], ['d', 'ao', '*', 'g', 'iy']]
    """
    words = []
    for written in line.split():
        sounds: list[str] = []
        for sound in written.replace("|", ".").split("."):
            sounds.append(sound.rstrip("012").lower())
            if sound.endswith("1"):
                sounds.append(STRESS)
        words.append(sounds)
    return words


def parse_letters(line: str) -> Utterance:
    """Parse an utterance from words with one character per sound; `*`, not a stress mark here, becomes `\\*`.

    >>> parse_letters("D6 dOgi"), parse_letters("D*z")
    ([['D', '6'], ['d', 'O', 'g', 'i']], [['D', '\\\\*', 'z']])
    """
    return [[rf"\{letter}" if letter == STRESS else letter for letter in word] for word in line.split()]


def format_sounds(utterance: Iterable[Sequence[str]]) -> str:
    """An utterance as a line of sounds.

    >>> format_sounds([["dh", "ah"], ["d", "ao", "*", "g", "iy"]])
    'dh ah | d ao * g iy'
    """
    return f" {BOUNDARY} ".join(" ".join(word) for word in utterance)


def sounds_of(utterance: Utterance, stress: bool = True) -> list[str]:
    """The sounds of an utterance without word boundaries, with or without stress marks.

    >>> sounds_of([["dh", "ah"], ["d", "ao", "*"]]), sounds_of([["d", "ao", "*"]], stress=False)
    (['dh', 'ah', 'd', 'ao', '*'], ['d', 'ao'])
    """
    return [sound for word in utterance for sound in word if stress or sound != STRESS]


STYLES: dict[str, Callable[[str], Utterance]] = {
    "sounds": parse_sounds,
    "syllables": parse_syllables,
    "letters": parse_letters,
}

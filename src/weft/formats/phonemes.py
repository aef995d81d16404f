"""Utterances as sounds, with or without word boundaries and stress.

Three ways to write an utterance, one a line:

    sounds      dh ah | d ao * g iy       sounds by blanks, * behind a stressed vowel, | between words where known
    syllables   DH.AH0 D.AO1|G.IY0        words by blanks, syllables by |, sounds by dots, 1 for primary stress
    letters     D6 dOgi                   words by blanks, one character a sound, no stress

Read, all are the same: an utterance is a list of words, a word a list of sounds in lower case (letters keep their
case), `*` a sound of its own behind the vowel of a syllable with primary stress. A line without boundaries is one word.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from weft.errors import ConfigError, FormatError
from weft.formats.streams import numbered_lines

#: The mark of stress, behind the vowel.
STRESS = "*"
#: What stands between words in lines of sounds.
BOUNDARY = "|"
#: Vowels of the ARPABET, as pronunciation dictionaries of American English have them.
ARPABET_VOWELS = ("aa", "ae", "ah", "ao", "aw", "ay", "eh", "er", "ey", "ih", "iy", "ow", "oy", "uh", "uw")
#: Its consonants.
ARPABET_CONSONANTS = (
    "b", "ch", "d", "dh", "f", "g", "hh", "jh", "k", "l", "m", "n", "ng", "p", "r", "s", "sh", "t", "th", "v", "w", "y",
    "z", "zh",
)  # fmt: skip

Utterance = list[list[str]]


def read_utterances(path: str | os.PathLike[str], style: str = "sounds") -> list[Utterance]:
    """The utterances of a file; empty lines are left out."""
    if style not in STYLES:
        raise ConfigError(f"utterances are written as {', '.join(STYLES)}, not as {style!r}")
    name = os.fspath(path)
    found = []
    for number, line in numbered_lines(name):
        if line.strip():
            utterance = STYLES[style](line)
            if not all(utterance) or any(not sound for word in utterance for sound in word):
                raise FormatError(name, number, f"an utterance written as {style}", "a word or a sound that is empty")
            found.append(utterance)
    return found


def parse_sounds(line: str) -> Utterance:
    """An utterance from a line of sounds.

    >>> parse_sounds("dh ah | d ao * g iy")
    [['dh', 'ah'], ['d', 'ao', '*', 'g', 'iy']]
    """
    return [word.split() for word in f" {line} ".split(f" {BOUNDARY} ")]


def parse_syllables(line: str) -> Utterance:
    """An utterance from words with syllables, dots and digits.

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
    """An utterance from words with one character a sound; a `*`, which is no mark of stress here, becomes `\\*`.

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
    """The sounds of an utterance without word boundaries, with or without marks of stress.

    >>> sounds_of([["dh", "ah"], ["d", "ao", "*"]]), sounds_of([["d", "ao", "*"]], stress=False)
    (['dh', 'ah', 'd', 'ao', '*'], ['d', 'ao'])
    """
    return [sound for word in utterance for sound in word if stress or sound != STRESS]


STYLES: dict[str, Callable[[str], Utterance]] = {
    "sounds": parse_sounds,
    "syllables": parse_syllables,
    "letters": parse_letters,
}

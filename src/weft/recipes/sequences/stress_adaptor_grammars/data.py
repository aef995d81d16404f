"""Child-directed speech for word segmentation: utterances of sounds with gold boundaries.

Only utterances that the grammars can parse are kept: every word has one to four vowels, at most 40 sounds in all.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from weft.formats.phonemes import ARPABET_VOWELS, STRESS, Utterance, read_utterances, sounds_of
from weft.recipes.framework import RecipeOptions

STRESSED = "word-segmentation/lignos-stress-syllables/sample_syll_test.txt.gz"
BRENT = "word-segmentation/brent-bernstein-ratner/br-phono.txt"
#: Vowels of the Brent corpus; a syllabic consonant and a vowel with r are also syllable nuclei.
BRENT_VOWELS = (*"&679AEIOQUaeiou#%()3RLM~", "\\*")
LONGEST, SYLLABLES = 40, 4


@dataclass(frozen=True)
class Speech:
    """Training utterances and test utterances."""

    train: list[Utterance]
    test: list[Utterance]
    vowels: tuple[str, ...]
    consonants: tuple[str, ...]

    def first(self, n: int) -> Speech:
        """The first `n` training utterances, and all test utterances."""
        return Speech(self.train[:n], self.test, self.vowels, self.consonants)


def speech(options: RecipeOptions, relative: str = STRESSED, train: int = 10_000, test: int = 1000) -> Speech:
    """The first utterances of a corpus for training, the last ones for testing."""
    vowels = ARPABET_VOWELS if relative == STRESSED else BRENT_VOWELS
    found = read_utterances(options.find(relative), "syllables" if relative == STRESSED else "letters")
    kept = [utterance for utterance in found if _fits(utterance, vowels)]
    sounds = {sound for utterance in kept for sound in sounds_of(utterance, stress=False)}
    consonants = tuple(sorted(sounds - set(vowels)))
    return Speech(kept[: min(train, len(kept) - test)], kept[len(kept) - test :], vowels, consonants)


def _fits(utterance: Utterance, vowels: Collection[str]) -> bool:
    short = len(sounds_of(utterance, stress=False)) <= LONGEST
    return short and all(1 <= sum(sound in vowels for sound in word) <= SYLLABLES for word in utterance)


def without_stress(utterances: Sequence[Utterance]) -> list[Utterance]:
    """The utterances without stress marks.

    >>> without_stress([[["d", "ao", "*", "g", "iy"]]])
    [[['d', 'ao', 'g', 'iy']]]
    """
    return [[[sound for sound in word if sound != STRESS] for word in utterance] for utterance in utterances]

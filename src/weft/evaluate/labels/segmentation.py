"""Scores for word segmentation.

    token F:    words with both ends correct          boundary F: boundaries inside utterances
    lexicon F:  distinct words of the whole text

A word is correct if its first and last sounds are those of a gold word. The ends of an utterance are given and
therefore not counted as boundaries. The lexicon counts each distinct word once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from weft.errors import WeftError
from weft.evaluate.counts import Counts, Score

Words = Sequence[Sequence[str]]


@dataclass(frozen=True)
class SegmentationReport:
    """Tokens and boundaries per utterance, and the lexicon."""

    tokens: Counts
    boundaries: Counts
    lexicon: Score

    def as_dict(self) -> dict[str, dict[str, float | int]]:
        """All scores by name, for JSON."""
        scores = {"token": self.tokens.total(), "boundary": self.boundaries.total(), "lexicon": self.lexicon}
        return {name: score.as_dict() for name, score in scores.items()}


def score_segmentation(gold: Sequence[Words], system: Sequence[Words]) -> SegmentationReport:
    """Score utterances segmented into words, each word a sequence of sounds.

    >>> report = score_segmentation([["the", "dog"]], [["th", "e", "dog"]])
    >>> token = report.tokens.total()
    >>> round(token.precision, 3), token.recall, token.f1
    (0.333, 0.5, 0.4)
    >>> report.boundaries.total().precision, report.lexicon.correct
    (0.5, 1)
    """
    if len(gold) != len(system):
        raise WeftError(
            f"gold has {len(gold)} utterancesand the system has {len(system)}; both must have the same utterances"
        )
    tokens, cuts = [], []
    for u, (ours, theirs) in enumerate(zip(gold, system, strict=True), 1):
        if [sound for word in ours for sound in word] != [sound for word in theirs for sound in word]:
            raise WeftError(f"utterance {u} has different sounds in gold and system")
        one, two = set(_spans(ours)), set(_spans(theirs))
        tokens.append((len(one), len(two), len(one & two)))
        ends, predicted = ({end for _, end in spans if end < sum(map(len, ours))} for spans in (one, two))
        cuts.append((len(ends), len(predicted), len(ends & predicted)))
    known, guessed = ({tuple(word) for words in text for word in words} for text in (gold, system))
    lexicon = Score(len(known), len(guessed), len(known & guessed))
    return SegmentationReport(Counts.of(*zip(*tokens, strict=True)), Counts.of(*zip(*cuts, strict=True)), lexicon)


def _spans(words: Words) -> Iterator[tuple[int, int]]:
    ends = list(accumulate(map(len, words)))
    return zip([0, *ends], ends, strict=False)

"""Scores for hedges as in the CoNLL-2010 shared task: uncertain sentences, cues, and cues with their scopes.

Only the uncertain class of sentences is scored; a cue is correct if all its words are, and a scope if its cue and both
ends are. Counts are kept per sentence, so that significance tests can resample sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.errors import WeftError
from weft.evaluate.counts import Counts
from weft.text.conventions.hedges import Hedge, scope_labels


@dataclass(frozen=True)
class HedgeReport:
    """Counts per sentence of uncertain sentences, cues, and cues with scopes."""

    sentences: Counts
    cues: Counts
    scopes: Counts

    def as_dict(self) -> dict[str, float]:
        """F1 of the three."""
        parts = {"sentences": self.sentences, "cues": self.cues, "scopes": self.scopes}
        return {f"{name} f1": counts.total().f1 for name, counts in parts.items()}


def score_hedges(
    gold: Sequence[Sequence[Hedge]],
    system: Sequence[Sequence[Hedge]],
    gold_uncertain: Sequence[bool] | None = None,
    system_uncertain: Sequence[bool] | None = None,
) -> HedgeReport:
    """Compare hedges sentence by sentence; a sentence is uncertain if it has a cue, unless given separately.

    >>> gold = [[Hedge((1,), (1, 4))], [Hedge((0,), (0, 2)), Hedge((3,), (3, 6))]]
    >>> system = [[Hedge((1,), (1, 4))], [Hedge((0,), (0, 3))]]
    >>> {name: round(score, 3) for name, score in score_hedges(gold, system).as_dict().items()}
    {'sentences f1': 1.0, 'cues f1': 0.8, 'scopes f1': 0.4}
    """
    if len(gold) != len(system):
        raise WeftError(f"gold has {len(gold)} sentences, system has {len(system)}; both must have the same sentences")
    ours = [bool(each) for each in gold] if gold_uncertain is None else gold_uncertain
    theirs = [bool(each) for each in system] if system_uncertain is None else system_uncertain
    sentences = Counts.of(ours, theirs, [a and b for a, b in zip(ours, theirs, strict=True)])
    cues = _counts([{hedge.cue for hedge in each} for each in gold], [{hedge.cue for hedge in each} for each in system])
    scopes = _counts(
        [{hedge for hedge in each if hedge.scope is not None} for each in gold],
        [{hedge for hedge in each if hedge.scope is not None} for each in system],
    )
    return HedgeReport(sentences, cues, scopes)


def token_accuracy(gold: Sequence[Hedge], system: Sequence[Hedge], lengths: Sequence[int]) -> float:
    """The fraction of words with the correct B, I or O label in the scope sequences, one per cue.

    >>> token_accuracy([Hedge((1,), (1, 4))], [Hedge((1,), (1, 3))], [5])
    0.8
    """
    right = total = 0
    for one, other, length in zip(gold, system, lengths, strict=True):
        pairs = zip(scope_labels(one.scope, length), scope_labels(other.scope, length), strict=True)
        right += sum(a == b for a, b in pairs)
        total += length
    return right / total if total else 0.0


def _counts(gold: Sequence[set[object]], system: Sequence[set[object]]) -> Counts:
    pairs = list(zip(gold, system, strict=True))
    return Counts.of([len(a) for a, _ in pairs], [len(b) for _, b in pairs], [len(a & b) for a, b in pairs])

"""Does another answer mean the same as the gold one? Judgements of a second crowd, kept for good.

A pair is asked once, whichever way round. Tasks hold control pairs among the open ones: pairs that must be judged
synonymous, and pairs that must not. Judges who miss too many controls are rejected; the others decide by majority.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from weft.annotate.crowd.answers import normalized
from weft.errors import DataError, FormatError
from weft.line_log import LineLog

#: What a judge may say; a misspelling of a synonym counts as synonym.
YES, RELATED, NO = "yes", "related", "no"
VERDICTS = (YES, RELATED, NO)
#: A judge who is right on fewer controls than this share is rejected.
ACCEPTED = 0.75


class Pair(NamedTuple):
    """Two answers in the order of the alphabet."""

    first: str
    second: str

    @classmethod
    def of(cls, a: str, b: str) -> Pair:
        """The pair of two answers, whichever way round.

        >>> Pair.of("physician", "Doctor") == Pair.of("doctor", "physician")
        True
        """
        return cls(*sorted((normalized(a), normalized(b))))


class Vote(NamedTuple):
    """What a judge said about a pair."""

    judge: str
    pair: Pair
    verdict: str


class Judgements:
    """What was decided about pairs; with a file, decisions outlive the process.

    >>> known = Judgements()
    >>> known.decide(Pair.of("doctor", "physician"), True)
    >>> known.same("Physician", "doctor"), known.same("doctor", "nurse")
    (True, False)
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._decided: dict[Pair, bool] = {}
        if self.path is not None and self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        import json

        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                self._decided[Pair.of(row["a"], row["b"])] = bool(row["same"])
            except (ValueError, LookupError, TypeError, AttributeError):
                raise FormatError(str(path), number, 'an object with "a", "b" and "same"', line[:80]) from None

    def __len__(self) -> int:
        return len(self._decided)

    def __contains__(self, pair: Pair) -> bool:
        return pair in self._decided

    def same(self, a: str, b: str) -> bool:
        """Whether two answers were judged synonymous; equal ones always are."""
        pair = Pair.of(a, b)
        return pair.first == pair.second or self._decided.get(pair, False)

    def decide(self, pair: Pair, same: bool) -> None:
        """Keep a decision; it is on disk when the call returns."""
        self.decide_all({pair: same})

    def decide_all(self, verdicts: dict[Pair, bool]) -> None:
        """Keep decisions; they are on disk when the call returns."""
        if self.path is not None:
            with LineLog(self.path) as log:
                for pair, same in verdicts.items():
                    log.append({"a": pair.first, "b": pair.second, "same": same})
        self._decided |= verdicts

    def open_pairs(self, pairs: Iterable[tuple[str, str]]) -> list[Pair]:
        """The distinct pairs that nobody has decided yet; answers that are equal or empty need no judge.

        >>> Judgements().open_pairs([("doctor", "physician"), ("Physician", "doctor"), ("water", "Water")])
        [Pair(first='doctor', second='physician')]
        """
        asked = dict.fromkeys(Pair.of(*pair) for pair in pairs)
        return [pair for pair in asked if pair.first and pair.first != pair.second and pair not in self._decided]


def synonym_tasks(
    pairs: Sequence[Pair], synonyms: Sequence[Pair], strangers: Sequence[Pair], size: int = 10, seed: int = 0
) -> list[list[Pair]]:
    """Tasks of `size` pairs, of which one is a control that must be a synonym and one that must not, where there are.

    >>> [len(task) for task in synonym_tasks([Pair("a", str(n)) for n in range(9)], [Pair("car", "auto")], [])]
    [10]
    """
    rng = np.random.default_rng(seed)
    controls = [each for each in (synonyms, strangers) if each]
    room = size - len(controls)
    if room < 1:
        raise DataError(f"a task of {size} pairs has no room beside its controls")
    tasks = []
    for begin in range(0, len(pairs), room):
        task = [*pairs[begin : begin + room], *(each[int(rng.integers(len(each)))] for each in controls)]
        tasks.append([task[k] for k in rng.permutation(len(task))])
    return tasks


@dataclass(frozen=True)
class Judged:
    """The outcome of votes: decisions, and how every judge did on the controls."""

    same: dict[Pair, bool]
    accuracy: dict[str, float]
    rejected: list[str]


def decide(votes: Iterable[Vote], controls: dict[Pair, bool], accepted: float = ACCEPTED) -> Judged:
    """Reject judges by their controls, then take the majority of the others; a tie is not synonymous.

    >>> pair, control = Pair.of("doctor", "physician"), Pair.of("car", "auto")
    >>> votes = [Vote(judge, pair, verdict) for judge, verdict in (("a", "yes"), ("b", "no"), ("c", "no"))]
    >>> votes += [Vote(judge, control, verdict) for judge, verdict in (("a", "yes"), ("b", "no"), ("c", "no"))]
    >>> judged = decide(votes, {control: True})
    >>> judged.same, judged.rejected
    ({Pair(first='doctor', second='physician'): True}, ['b', 'c'])
    """
    by_judge: dict[str, list[bool]] = defaultdict(list)
    rows = list(votes)
    for vote in rows:
        if vote.verdict not in VERDICTS:
            raise DataError(f"a verdict is one of {', '.join(VERDICTS)}, got {vote.verdict!r} of judge {vote.judge!r}")
        if vote.pair in controls:
            by_judge[vote.judge].append((vote.verdict == YES) == controls[vote.pair])
    accuracy = {judge: float(np.mean(right)) for judge, right in by_judge.items()}
    rejected = sorted(judge for judge, share in accuracy.items() if share < accepted)
    out = set(rejected)
    counts: dict[Pair, Counter[bool]] = defaultdict(Counter)
    for vote in rows:
        if vote.pair not in controls and vote.judge not in out:
            counts[vote.pair][vote.verdict == YES] += 1
    return Judged({pair: count[True] > count[False] for pair, count in counts.items()}, accuracy, rejected)

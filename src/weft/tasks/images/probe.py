"""The role-swap probe: does an embedding know who does what to whom?

A pair of sentences has the same words with two roles exchanged: *A man bites a dog.* and *A dog bites a man.* An anchor
says which of the two is meant: an image, or a paraphrase (*A dog is bitten by a man.*). The embedding gets the pair
right if it scores the meant sentence higher; a tie, which is all that a bag of words can produce, counts one half.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats
from weft.errors import DataError, FormatError
from weft.formats.streams import read_text

#: People and animals that can be on both sides of the verbs.
NOUNS = (
    "man", "woman", "boy", "girl", "child", "baby", "dog", "cat", "horse", "bird", "cow", "player", "worker", "lady",
    "climber", "dancer", "rider", "clown", "soldier", "goat", "monkey", "singer", "teacher", "sheep",
)  # fmt: skip
#: Verbs with their participles.
VERBS = {
    "chases": "chased", "follows": "followed", "pulls": "pulled", "pushes": "pushed", "carries": "carried",
    "watches": "watched", "kisses": "kissed", "feeds": "fed", "licks": "licked", "bites": "bitten", "kicks": "kicked",
    "touches": "touched", "hugs": "hugged", "holds": "held", "lifts": "lifted", "attacks": "attacked",
    "photographs": "photographed", "splashes": "splashed", "tackles": "tackled", "approaches": "approached",
    "hits": "hit", "leads": "led", "greets": "greeted", "catches": "caught",
}  # fmt: skip


class Triple(NamedTuple):
    """Who does what to whom."""

    subject: str
    verb: str
    object: str

    @property
    def swapped(self) -> Triple:
        """The same with the roles exchanged."""
        return Triple(self.object, self.verb, self.subject)

    @property
    def active(self) -> str:
        """The triple as a sentence.

        >>> Triple("man", "bites", "dog").active, Triple("man", "bites", "dog").passive
        ('A man bites a dog.', 'A dog is bitten by a man.')
        """
        return f"A {self.subject} {self.verb} a {self.object}."

    @property
    def passive(self) -> str:
        """The same in the passive."""
        return f"A {self.object} is {VERBS[self.verb]} by a {self.subject}."


class Pair(NamedTuple):
    """An anchor (an image or a sentence), the sentence that fits, and the one with exchanged roles."""

    anchor: str
    sentence: str
    swapped: str

    @property
    def same_words(self) -> bool:
        """Whether the sentences differ in order only, so that a bag of words must tie."""
        return _bag(self.sentence) == _bag(self.swapped)


@dataclass(frozen=True)
class Outcome:
    """How many pairs an embedding gets right; ties count one half.

    >>> outcome = Outcome.of([0.9, 0.2, 0.5, 0.5], [0.1, 0.4, 0.5, 0.1])
    >>> outcome.right, outcome.ties, outcome.share
    (2, 1, 0.625)
    """

    pairs: int
    right: int
    ties: int

    @classmethod
    def of(cls, meant: Sequence[float] | Floats, swapped: Sequence[float] | Floats) -> Outcome:
        """The outcome of scores of the sentences that fit and of those with exchanged roles."""
        one, other = np.asarray(meant, dtype=np.float64), np.asarray(swapped, dtype=np.float64)
        if one.shape != other.shape or not len(one):
            raise DataError(f"the probe needs two scores per pair, got {len(one)} and {len(other)}")
        return cls(len(one), int((one > other).sum()), int((one == other).sum()))

    @property
    def share(self) -> float:
        """The share of pairs that are right, half of the ties included."""
        return (self.right + self.ties / 2) / self.pairs

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share."""
        z, n, p = 1.959964, self.pairs, self.share
        middle, spread = p + z * z / (2 * n), z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)


def triples(count: int, seed: int = 0) -> list[Triple]:
    """Different triples at random, none of them another one swapped.

    >>> [len(set(triples(50))), Triple("dog", "bites", "dog") in triples(50)]
    [50, False]
    """
    most = len(NOUNS) * (len(NOUNS) - 1) // 2 * len(VERBS)
    if not 0 < count <= most:
        raise DataError(f"there are 1 to {most:,} pairs, not {count}")
    random = np.random.default_rng(seed)
    both = [(a, b) for a in range(len(NOUNS)) for b in range(a)]
    verbs = list(VERBS)
    found = []
    for code, turn in zip(random.permutation(most)[:count].tolist(), random.random(count).tolist(), strict=True):
        (a, b), verb = both[code // len(verbs)], verbs[code % len(verbs)]
        triple = Triple(NOUNS[a], verb, NOUNS[b])
        found.append(triple if turn < 0.5 else triple.swapped)
    return found


def standard_pairs(count: int = 200, seed: int = 0) -> list[Pair]:
    """Pairs whose anchors are passives, so that any embedding of sentences can be probed.

    >>> standard_pairs(1)[0].same_words
    True
    """
    return [Pair(each.passive, each.active, each.swapped.active) for each in triples(count, seed)]


def read_pairs(path: str | os.PathLike[str]) -> list[Pair]:
    """Read pairs of one's own: anchor, sentence that fits, sentence with exchanged roles, tab-separated.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pairs.tsv").write_text("a.jpg\\tA man bites a dog.\\tA dog bites a man.\\n")
    ...     read_pairs(f"{folder}/pairs.tsv")[0].anchor
    'a.jpg'
    """
    name = os.fspath(path)
    found = []
    for number, line in enumerate(read_text(name).split("\n"), 1):
        fields = [field.strip() for field in line.split("\t")]
        if fields == [""]:
            continue
        if len(fields) != 3 or not all(fields):
            raise FormatError(name, number, "an anchor and two sentences, tab-separated", repr(line[:60]))
        found.append(Pair(*fields))
    if not found:
        raise FormatError(name, 1, "an anchor and two sentences, tab-separated", "nothing")
    return found


def _bag(sentence: str) -> list[str]:
    return sorted(sentence.lower().rstrip(".!? ").split())

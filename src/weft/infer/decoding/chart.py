"""The hypotheses of a search, stack by stack, and the expansions that made them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.infer.decoding.cubes import BITS, Groups


@dataclass
class Hypotheses:
    """Hypotheses of one stack, sorted by group and within a group by falling score."""

    score: Floats
    cover: Ints
    end: Ids
    states: Ids
    kind: Ids


@dataclass
class Expansions:
    """The expansions that made the hypotheses of one stack, sorted by these."""

    head: Ids  #: the hypothesis, numbered within the stack
    tail: Ids  #: the hypothesis before it, numbered within the chart
    option: Ids
    scores: Floats  #: of distortion and features
    total: Floats  #: with the option's own score


@dataclass
class Chart:
    """All hypotheses so far; the first one is empty."""

    first: list[int] = field(default_factory=lambda: [0])  #: the hypotheses of stack k: first[k] ... first[k + 1] - 1
    stacks: list[Hypotheses] = field(default_factory=list)
    expansions: list[Expansions] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._groups: list[Groups] = []

    def add(self, hypotheses: Hypotheses, expansions: Expansions) -> None:
        """Put a stack on top."""
        begin = self.first[-1]
        self.stacks.append(hypotheses)
        self.expansions.append(expansions)
        self._groups.append(_grouped(hypotheses, begin, len(self.first) - 1))
        self.first.append(begin + len(hypotheses.score))

    def groups(self, since: int) -> Groups:
        """The groups of all stacks from this one on."""
        parts = self._groups[since:]
        if len(parts) == 1:
            return parts[0]
        first = np.concatenate([*(part.first[:-1] for part in parts), parts[-1].first[-1:]])
        return Groups(
            first,
            np.concatenate([part.step for part in parts]),
            np.concatenate([part.kind for part in parts]),
            np.concatenate([part.end for part in parts]),
            np.concatenate([part.cover for part in parts]),
        )


def _grouped(stack: Hypotheses, begin: int, step: int) -> Groups:
    n = len(stack.score)
    starts = np.ones(n, np.bool_)
    starts[1:] = (stack.end[1:] != stack.end[:-1]) | (stack.kind[1:] != stack.kind[:-1])
    starts[1:] |= (stack.cover[1:] != stack.cover[:-1]).any(axis=1)
    rows = np.flatnonzero(starts)
    first = np.append(rows, n) + begin
    return Groups(first, np.full(len(rows), step, np.int32), stack.kind[rows], stack.end[rows], stack.cover[rows])


def cover_columns(length: int) -> int:
    """How many numbers a coverage vector takes.

    >>> cover_columns(63), cover_columns(64)
    (1, 2)
    """
    return max(1, -(-length // BITS))


def full_cover(length: int) -> Ints:
    """The coverage vector of a whole sentence.

    >>> full_cover(3).tolist()
    [7]
    """
    found = np.zeros(cover_columns(length), np.int64)
    for position in range(length):
        found[position // BITS] |= 1 << (position % BITS)
    return found

"""How much every class of words contributes to the loss between two domains.

    error(D)  = sum over classes c of  share_D(c) * error_D(c)
    loss      = error(T) - error(S) = sum over c of  [mix(c) + rate(c)]
    mix(c)    = (share_T(c) - share_S(c)) * (error_S(c) + error_T(c)) / 2      there are more hard words
    rate(c)   = (error_T(c) - error_S(c)) * (share_S(c) + share_T(c)) / 2      the same words are harder

Every word belongs to one class, so the rows of a table add up to the whole loss, whatever the classes are. A class
missing from one domain is given the error rate of the other there: it contributes only mix.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Bools
from weft.errors import WeftError


@dataclass(frozen=True)
class LossRow:
    """Words and wrong heads of one class in source and target, out of `totals` words of each.

    >>> row = LossRow("NOUN", (50, 5), (80, 16), (100, 100))
    >>> round(row.loss, 3), round(row.contribution, 3), round(row.mix, 3), round(row.rate, 3)
    (0.1, 0.11, 0.045, 0.065)
    """

    name: str
    source: tuple[int, int]
    target: tuple[int, int]
    totals: tuple[int, int]

    @property
    def shares(self) -> tuple[float, float]:
        """The fraction of all words in the class, in source and target."""
        return self.source[0] / self.totals[0], self.target[0] / self.totals[1]

    @property
    def errors(self) -> tuple[float, float]:
        """The fraction of the class's words with a wrong head."""
        source, target = (wrong / words if words else None for words, wrong in (self.source, self.target))
        return (target or 0.0) if source is None else source, (source or 0.0) if target is None else target

    @property
    def loss(self) -> float:
        """Target error minus source error of the class."""
        return self.errors[1] - self.errors[0]

    @property
    def mix(self) -> float:
        """The contribution due to more or fewer words of the class in the target."""
        return (self.shares[1] - self.shares[0]) * (self.errors[0] + self.errors[1]) / 2

    @property
    def rate(self) -> float:
        """The contribution due to a higher or lower error rate of the class."""
        return (self.errors[1] - self.errors[0]) * (self.shares[0] + self.shares[1]) / 2

    @property
    def contribution(self) -> float:
        """The class's contribution to the loss between the domains."""
        return self.target[1] / self.totals[1] - self.source[1] / self.totals[0]

    def figures(self) -> dict[str, Any]:
        """The row for JSON."""
        return {
            "class": self.name,
            "source_share": self.shares[0],
            "target_share": self.shares[1],
            "source_error": self.errors[0] if self.source[0] else None,
            "target_error": self.errors[1] if self.target[0] else None,
            "mix": self.mix,
            "rate": self.rate,
            "contribution": self.contribution,
        }


@dataclass(frozen=True)
class LossTable:
    """The loss by word class, largest contribution first."""

    title: str
    rows: list[LossRow]

    def __iter__(self) -> Iterator[LossRow]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> LossRow:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(name)

    @property
    def loss(self) -> float:
        """The loss between the domains: the sum of all contributions."""
        return sum(row.contribution for row in self.rows)

    def share(self, name: str) -> float:
        """The contribution of a class as a fraction of the whole loss."""
        return self[name].contribution / self.loss if self.loss else 0.0


def loss_table(
    title: str,
    source: tuple[Sequence[str], Bools],
    target: tuple[Sequence[str], Bools],
    order: Sequence[str] | None = None,
) -> LossTable:
    """The table for two domains, each given as the classes of its words and which of them are wrong.

    >>> source, target = (["N", "N", "V", "V"], np.array([0, 0, 0, 1]) > 0), (["N", "N"], np.array([1, 0]) > 0)
    >>> table = loss_table("tags", source, target)
    >>> [(row.name, row.contribution, row.mix, row.rate) for row in table], table.loss
    ([('N', 0.5, 0.125, 0.375), ('V', -0.25, -0.25, 0.0)], 0.25)
    """
    counts = []
    for which, (classes, wrong) in (("source", source), ("target", target)):
        if len(classes) != len(wrong) or not len(classes):
            raise WeftError(f"the {which} needs a class for every word: {len(classes)} classes, {len(wrong)} words")
        names, inverse = np.unique(np.asarray(classes, dtype=np.str_), return_inverse=True)
        words, errors = np.bincount(inverse), np.bincount(inverse, wrong).astype(np.int64)
        counts.append({str(n): (int(w), int(e)) for n, w, e in zip(names, words, errors, strict=True)})
    totals = (len(source[1]), len(target[1]))
    classes_shown = [name for name in (order or ()) if name in counts[0] or name in counts[1]]
    classes_shown += sorted({*counts[0], *counts[1]} - set(classes_shown))
    rows = [LossRow(name, counts[0].get(name, (0, 0)), counts[1].get(name, (0, 0)), totals) for name in classes_shown]
    return LossTable(title, rows if order is not None else sorted(rows, key=lambda row: -row.contribution))

"""Alignments with fertilities by definition, one number at a time: the twin of `weft.infer.alignment.fertility`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.infer.alignment.fertility import FertilityAlignments
from weft.infer.alignment.links import Alignments
from weft.infer.alignment.placement import KINDS, Placing, new_placing

NONDEFICIENT = ("ibm3-nd", "ibm4-nd", "ibm5")
MODELS = KINDS[:-1]


@dataclass
class Case:
    """A sentence pair with a model; alignments are tuples of source words from 1, 0 for none."""

    kind: str
    placing: Placing
    cells: np.ndarray  #: [target word, source word]
    null: np.ndarray
    fertility: np.ndarray
    alpha: np.ndarray
    beta: np.ndarray
    p_null: float = 0.2

    @classmethod
    def random(cls, kind: str, rng: np.random.Generator, size: int, length: int, classes: int = 2) -> Case:
        """Random tables."""
        placing = new_placing(kind, size, length, classes, classes)
        rows, columns = placing.table.shape
        return cls(
            kind, placing._replace(table=rng.dirichlet(np.full(columns, 0.7), rows) * 0.999 + 0.001 / columns),
            rng.random((length, size)) ** 3 + 1e-3, rng.random(length) * 0.3 + 1e-3,
            rng.dirichlet(np.ones(length + 1), size), rng.integers(0, classes, length).astype(np.int32),
            rng.integers(0, classes, size).astype(np.int32),
        )  # fmt: skip

    @property
    def size(self) -> int:
        return self.cells.shape[1]

    @property
    def length(self) -> int:
        return len(self.null)

    def pairs(self) -> FertilityAlignments:
        words = Alignments(self.cells, self.null, [self.size], [0, self.length])
        rows = np.arange(self.size)
        return FertilityAlignments(words, self.placing, self.fertility, rows, self.alpha, self.beta, p_null=self.p_null)

    def alignments(self) -> list[tuple[int, ...]]:
        """All that are not impossible."""
        found = itertools.product(range(self.size + 1), repeat=self.length)
        return [each for each in found if each.count(0) <= self.length // 2]

    def score(self, alignment: Sequence[int]) -> float:
        """The logarithm of the joint probability."""
        total = sum(math.log(self.null[j] if i == 0 else self.cells[j, i - 1]) for j, i in enumerate(alignment))
        for i in range(1, self.size + 1):
            n = list(alignment).count(i)
            total += math.log(self.fertility[i - 1, n]) + (math.lgamma(n + 1) if self.kind == "ibm3" else 0.0)
        none = list(alignment).count(0)
        others = self.length - none
        total += math.log(math.comb(others, none) * self.p_null**none * (1 - self.p_null) ** (others - none))
        if self.kind not in NONDEFICIENT:
            total += math.lgamma(none + 1) - none * math.log(self.length)
        return total + sum(math.log(factor) for factor in self.factors(alignment))

    def factors(self, alignment: Sequence[int]) -> list[float]:
        """The placement factors, in the order in which words are placed."""
        found: list[float] = []
        opened, before, centre = list(range(self.length)), 0, -1
        for i in range(1, self.size + 1):
            places = [j for j in range(self.length) if alignment[j] == i]
            if not places:
                continue
            at_start = list(opened)
            for k, j in enumerate(places, 1):
                admissible = range(self.length)
                if self.kind in NONDEFICIENT:
                    later = [q for q in opened if k == 1 or q > places[k - 2]]
                    admissible = later[: len(later) - (len(places) - k)]
                weights = {q: self._weight(i, k, q, places, before, centre, at_start, j) for q in admissible}
                whole = 1.0 if self.kind == "ibm4" else sum(weights.values())
                found.append(weights[j] / whole)
            opened = [q for q in opened if q not in places]
            before, centre = i, math.floor(sum(places) / len(places) + 0.5)
        return found

    def _weight(
        self, i: int, k: int, position: int, places: list[int], before: int, centre: int, opened: list[int], word: int
    ) -> float:
        table, n, m = self.placing.table, self.placing.n_alpha, self.placing.n_beta
        if self.kind.startswith("ibm3"):
            return float(table[i - 1, position])
        alpha, anchor = self.alpha[word], centre if k == 1 else places[k - 2]
        if k > 1:
            row = n * m + alpha
        elif before == 0:
            row = n * m + n
        else:
            row = alpha * m + (0 if self.kind == "ibm5" else self.beta[before - 1])
        if self.kind == "ibm5":
            vacant = [sum(q <= end for q in opened) for end in (position, anchor)]
            return float(table[row, vacant[0] - vacant[1] + self.placing.reach])
        return float(table[row, position - anchor + self.placing.reach])

    def neighbours(self, alignment: tuple[int, ...]) -> set[tuple[int, ...]]:
        """The alignment itself, all moves and all swaps."""
        found = {alignment}
        for j in range(self.length):
            for i in range(self.size + 1):
                found.add((*alignment[:j], i, *alignment[j + 1 :]))
            for k in range(j):
                other = list(alignment)
                other[j], other[k] = other[k], other[j]
                found.add(tuple(other))
        return {each for each in found if each.count(0) <= self.length // 2}


def mass_of_placements(case: Case, fertilities: Sequence[int]) -> float:
    """The sum of products of placement factors over all placements of so many words of each source word; positions
    that remain go to words from none. Deficient models may place two words at one position."""
    total = 0.0
    for alignment in itertools.product(range(case.size + 1), repeat=case.length):
        if all(alignment.count(i) == n for i, n in enumerate(fertilities, 1)):
            total += math.prod(case.factors(alignment))
    return total

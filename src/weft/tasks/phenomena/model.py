"""A model of rare phenomena: logistic regressions, alone or as a committee with rules, behind an optional split.

A *stump* splits the instances once, by their number of lines or by a category of words, and has a model of its own for
each side: most instances of one line, say, show nothing. The split is chosen by Cohen's kappa in cross-validation over
the training conversations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats
from weft.evaluate.kappa import cohen_kappa
from weft.learn.linear.softmax import Longs, fit_softmax, softmax
from weft.progress import Bar
from weft.tasks.phenomena.committee import Member, Search, fit_committee, grouped_folds, vote
from weft.tasks.phenomena.instances import Lines
from weft.tasks.phenomena.rules import all_lines, extract

#: Splits by number of lines that are tried: at most 1 to at most 10.
MOST_LINES = 10


class Split(NamedTuple):
    """Instances with at most `lines` lines, or, if `lines` is 0, with a word of a category."""

    lines: int
    category: str = ""
    words: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """How people call it.

        >>> Split(1).name, Split(0, "you").name
        ('lines <= 1', 'has you')
        """
        return f"lines <= {self.lines}" if self.lines else f"has {self.category}"

    def holds(self, lines: Lines) -> Bools:
        """Which instances are on its first side."""
        if self.lines:
            return np.asarray(lines.counts <= self.lines)
        rows = extract(lines, all_lines(lines))
        wanted = set(self.words)
        return np.array([not wanted.isdisjoint(row) for row in rows.lists()], dtype=np.bool_)


@dataclass
class PhenomenaModel:
    """Committees, one per side of the split, and how they vote."""

    n_labels: int
    majority: int
    voting: str
    sides: list[list[Member]]
    split: Split | None = None
    tried: dict[str, float] = field(default_factory=dict)  #: kappa of every split that was tried

    def opinions(self, lines: Lines) -> Floats:
        """The distributions of all members, [members, instances, labels]."""
        if self.split is None:
            return np.array([member.probabilities(lines) for member in self.sides[0]])
        first = self.split.holds(lines)
        members = max(len(side) for side in self.sides)
        found = np.empty((members, len(lines), self.n_labels))
        for side, chosen in zip(self.sides, (first, ~first), strict=True):
            numbers = np.flatnonzero(chosen)
            part = lines.subset(numbers)
            for m in range(members):
                found[m, numbers] = side[m % len(side)].probabilities(part)
        return found

    def predict(self, lines: Lines) -> tuple[NDArray[np.int64], Floats]:
        """The label of every instance, and the confidence in every label."""
        if not len(lines):
            return np.zeros(0, dtype=np.int64), np.zeros((0, self.n_labels))
        return vote(self.opinions(lines), self.majority, self.voting)


def fit_model(
    lines: Lines, labels: Longs, n_labels: int, majority: int, groups: Sequence[str], *, members: int = 3,
    rules: bool = True, splits: Sequence[Split] = (), voting: str = "minority", search: Search | None = None,
    seed: int = 0, workers: int = 1, bar: Bar | None = None,
) -> PhenomenaModel:  # fmt: skip
    """Train a model; with `splits`, the best of them comes first."""
    search = search or Search()
    split, tried = None, {}
    if splits:
        tried = {each.name: _kappa_of(each, lines, labels, n_labels, groups, search, seed) for each in splits}
        split = max(splits, key=lambda each: tried[each.name])
    sides: list[list[Member]] = []
    first = split.holds(lines) if split is not None else None
    for chosen in (np.ones(len(lines), dtype=np.bool_),) if first is None else (first, ~first):
        numbers = np.flatnonzero(chosen)
        own = [groups[i] for i in numbers.tolist()]
        # A side of few conversations or of one label leaves nothing to search for.
        worth = rules and len(set(own)) >= max(members, 2) and bool((labels[numbers] != majority).any())
        sides.append(fit_committee(
            lines.subset(numbers), labels[numbers], n_labels, majority, own, members, search, worth, seed, workers, bar,
        ))  # fmt: skip
    return PhenomenaModel(n_labels, majority, voting, sides, split, tried)


def splits_of(vocabulary: Mapping[str, int], categories: Mapping[str, Sequence[str]]) -> list[Split]:
    """All splits to try: by number of lines, and by every category that the vocabulary has words of."""
    from weft.lexical.categories import members

    found = [Split(n) for n in range(1, MOST_LINES + 1)]
    for name, words in categories.items():
        if own := members(vocabulary, words):
            found.append(Split(0, name, tuple(own)))
    return found


def _kappa_of(
    split: Split, lines: Lines, labels: Longs, n_labels: int, groups: Sequence[str], search: Search, seed: int
) -> float:
    """Kappa of a split with a logistic regression on each side, over three folds of conversations."""
    fold = grouped_folds(groups, min(3, len(set(groups))), seed)
    first, rows = split.holds(lines), extract(lines, all_lines(lines))
    found = np.zeros(len(labels), dtype=np.int64)
    for number in range(int(fold.max()) + 1):
        for side in (first, ~first):
            known, asked = side & (fold != number), side & (fold == number)
            if not asked.any():
                continue
            weights = fit_softmax(
                rows, labels, n_labels, c=search.c, weight=known.astype(float), tolerance=search.tolerance
            )
            found[asked] = softmax(rows, weights)[asked].argmax(axis=1)
    return cohen_kappa(labels, found)

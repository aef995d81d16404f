"""Greedy forward selection of model components: templates, layers, lexicons.

    S_0 = start,    S_k = S_(k-1) + argmax over candidates c of  value(S_(k-1) + c),      as long as that is larger
    value(S) = mean of the scores of S on the folds - `deviations` * their standard deviation

Taking the deviation off the mean prefers what helps in every fold to what helps much in one (Täckström et al. 2010).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from weft.errors import ConfigError
from weft.progress import progress

Candidate = TypeVar("Candidate")


@dataclass(frozen=True)
class SelectionStep(Generic[Candidate]):
    """One candidate taken: the scores of the folds with it, and the value they come to."""

    added: Candidate
    scores: tuple[float, ...]
    value: float


@dataclass(frozen=True)
class Selection(Generic[Candidate]):
    """The selected candidates, in order, and how many sets were scored."""

    start: tuple[Candidate, ...]
    steps: tuple[SelectionStep[Candidate], ...]
    tried: int

    @property
    def chosen(self) -> list[Candidate]:
        """The start and all that was added."""
        return [*self.start, *(step.added for step in self.steps)]


def mean_less_deviation(scores: Sequence[float], deviations: float = 1.0) -> float:
    """The mean of scores less some standard deviations.

    >>> mean_less_deviation([0.8, 0.9, 1.0]) < mean_less_deviation([0.89, 0.9, 0.91])
    True
    """
    return float(np.mean(scores) - deviations * np.std(scores))


def forward_selection(
    candidates: Sequence[Candidate],
    score: Callable[[list[Candidate]], Sequence[float]],
    start: Sequence[Candidate] = (),
    *,
    deviations: float = 1.0,
    least: float = 0.0,
    limit: int | None = None,
    workers: int = 1,
) -> Selection[Candidate]:
    """Add the most helpful candidate until none gains more than `least`, or `limit` are selected.

    `score` gives the scores of a set on the folds; with several `workers` it is called from threads. Of candidates that
    come to the same value, the first is taken. A start must be worth less than itself with the first candidate.

    >>> worth = {"a": 3.0, "b": 2.0, "c": 0.0}
    >>> found = forward_selection(list("cba"), lambda chosen: [sum(worth[each] for each in chosen)] * 3)
    >>> found.chosen, [step.value for step in found.steps]
    (['a', 'b'], [3.0, 5.0])
    """
    if workers < 1 or deviations < 0:
        raise ConfigError(f"workers must be at least 1 and deviations at least 0, got {workers} and {deviations}")
    chosen = list(start)
    rest = [each for each in candidates if each not in chosen]
    best = mean_less_deviation(score(chosen), deviations) if chosen else -np.inf
    steps: list[SelectionStep[Candidate]] = []
    tried = int(bool(chosen))
    with ThreadPoolExecutor(workers, "weft") as pool, progress("selecting", unit="sets") as bar:
        while rest and (limit is None or len(steps) < limit):
            scores = [tuple(each) for each in pool.map(score, [[*chosen, each] for each in rest])]
            tried += len(rest)
            bar.advance(len(rest))
            values = [mean_less_deviation(each, deviations) for each in scores]
            top = int(np.argmax(values))
            if not values[top] > best + least:
                break
            best = values[top]
            steps.append(SelectionStep(rest[top], scores[top], best))
            chosen.append(rest.pop(top))
    return Selection(tuple(start), tuple(steps), tried)

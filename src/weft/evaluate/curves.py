"""Learning curves: how a score grows with the amount of training data.

For every seed the sentences are shuffled once, and a sample of size n is the first n: smaller samples are subsets of
larger ones, so steps of a curve come from more data, not from other data.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from weft.errors import WeftError
from weft.progress import progress

Item = TypeVar("Item")
Model = TypeVar("Model")


@dataclass(frozen=True)
class CurveRow:
    """One training run: number of sentences, seed, score, and training time in seconds."""

    size: int
    seed: int
    score: float
    seconds: float


@dataclass(frozen=True)
class CurvePoint:
    """All runs of one size."""

    size: int
    mean: float
    deviation: float  # standard deviation over runs; 0 for a single one
    runs: int


def learning_curve(
    train: Callable[[list[Item], int], Model],
    score: Callable[[Model], float],
    sentences: Iterable[Item],
    sizes: Sequence[int | float],
    seeds: Sequence[int] = (0,),
) -> list[CurveRow]:
    """Train on increasing parts of the sentences (or documents) and score every model.

    `train(part, seed)` returns a model, `score(model)` its score on held-out data. A size is a number of sentences,
    or a fraction of them as a `float`.

    >>> rows = learning_curve(lambda part, seed: len(set(part)), lambda model: model / 4, "abcdabcd", [1, 4, 1.0])
    >>> [(row.size, row.score) for row in rows if row.size != 4]
    [(1, 0.25), (8, 1.0)]
    """
    data = list(sentences)
    counts = sorted({_count(size, len(data)) for size in sizes})
    if not counts or not seeds:
        raise WeftError("a learning curve needs at least one size and one seed")
    rows: list[CurveRow] = []
    with progress("learning curve", total=len(counts) * len(seeds), unit="runs") as bar:
        for seed in seeds:
            order = np.random.default_rng(seed).permutation(len(data)).tolist()
            for count in counts:
                start = time.perf_counter()
                model = train([data[i] for i in order[:count]], seed)
                seconds = time.perf_counter() - start
                rows.append(CurveRow(count, seed, float(score(model)), seconds))
                bar.advance()
    return sorted(rows, key=lambda row: (row.size, row.seed))


def curve_points(rows: Iterable[CurveRow]) -> list[CurvePoint]:
    """Mean and standard deviation over the seeds for every size.

    >>> curve_points([CurveRow(10, 0, 0.5, 1.0), CurveRow(10, 1, 0.7, 1.0)])
    [CurvePoint(size=10, mean=0.6, deviation=0.1414..., runs=2)]
    """
    scores: dict[int, list[float]] = {}
    for row in rows:
        scores.setdefault(row.size, []).append(row.score)
    return [
        CurvePoint(size, float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else 0.0, len(values))
        for size, values in sorted(scores.items())
    ]


def size_to_reach(rows: Iterable[CurveRow], score: float) -> float | None:
    """How many sentences bring the mean of a learning curve to a score: what a model that needs none is worth.

    Between two sizes, the score is interpolated linearly in the logarithm of the size. Returns the smallest size that
    reaches the score, None if no size does.

    >>> rows = [CurveRow(100, 0, 0.5, 1.0), CurveRow(1000, 0, 0.7, 1.0)]
    >>> round(size_to_reach(rows, 0.6)), size_to_reach(rows, 0.4), size_to_reach(rows, 0.8)
    (316, 100.0, None)
    """
    points = curve_points(rows)
    if not points:
        raise WeftError("there are no runs to compare with")
    if points[0].mean >= score:
        return float(points[0].size)
    for low, high in pairwise(points):
        if low.mean < score <= high.mean:
            share = (score - low.mean) / (high.mean - low.mean)
            return min(float(high.size), float(low.size * (high.size / low.size) ** share))
    return None


def draw_curve(rows: Iterable[CurveRow], width: int = 40) -> str:
    """A learning curve as text, one line per size; bars extend from the lowest to the highest mean.

    >>> print(draw_curve([CurveRow(10, 0, 0.5, 1.0), CurveRow(100, 0, 0.75, 1.0), CurveRow(1000, 0, 0.8, 1.0)], 20))
       size   score      +-
         10   50.00         ▏
        100   75.00         ████████████████▋
      1,000   80.00         ████████████████████
    """
    points = curve_points(rows)
    if not points:
        raise WeftError("there are no runs to draw")
    lowest, highest = min(point.mean for point in points), max(point.mean for point in points)
    lines = [f"{'size':>7} {'score':>7} {'+-':>7}"]
    for point in points:
        share = (point.mean - lowest) / (highest - lowest) if highest > lowest else 1.0
        spread = f"{100 * point.deviation:7.2f}" if point.runs > 1 else " " * 7
        lines.append(f"{point.size:>7,} {100 * point.mean:7.2f} {spread} {_bar(share * width)}".rstrip())
    return "\n".join(lines)


def _bar(length: float) -> str:
    eighths = round(8 * length)
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip() or "▏"


def _count(size: int | float, available: int) -> int:
    count = round(size * available) if isinstance(size, float) else size
    if not 0 < count <= available:
        raise WeftError(
            f"a size of {size} does not fit {available} sentences: give a number from 1 to {available}, or a fraction "
            "between 0.0 and 1.0"
        )
    return count

"""How well similarities agree with people's: correlations over pairs of texts.

    Pearson r        of the scores themselves
    Spearman rho     of their ranks; ties share one

A file has a pair per line: `score`, or `score TAB text TAB text`, as in the shared tasks on textual similarity.
A line whose score is empty is a pair that nobody scored; it is left out on both sides.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats
from weft.errors import DataError, FormatError
from weft.formats.streams import numbered_lines

_EXPECTED = "a score, or a score and two texts separated by tabs"


@dataclass(frozen=True)
class Correlation:
    """Correlations of scores, with a 95 % interval of Pearson's over resampled pairs."""

    pearson: float
    spearman: float
    low: float
    high: float
    pairs: int


def read_scores(path: str | os.PathLike[str], *, encoding: str = "utf-8") -> Floats:
    """The scores of a file, one per pair; NaN where a line has none. JSON Lines have the key `similarity`."""
    name, found = os.fspath(path), []
    jsonl = name.removesuffix(".gz").endswith((".jsonl", ".ndjson"))
    for number, line in numbered_lines(name, encoding):
        text = line.rstrip("\r").removeprefix("\ufeff")
        if not text:
            continue
        if jsonl:
            found.append(_of_record(name, number, text))
            continue
        cell = text.split("\t")[0].strip()
        try:
            value = float(cell) if cell else math.nan
        except ValueError:
            raise FormatError(name, number, _EXPECTED, repr(text[:60])) from None
        if math.isinf(value):
            raise FormatError(name, number, "a finite score", repr(cell))
        found.append(value)
    return np.array(found, dtype=np.float64)


def _of_record(name: str, number: int, text: str) -> float:
    try:
        return float(json.loads(text)["similarity"])
    except (ValueError, KeyError, TypeError):
        raise FormatError(name, number, 'a record with the key "similarity"', repr(text[:60])) from None


def correlation(gold: Floats, system: Floats, samples: int = 1000, seed: int = 0) -> Correlation:
    """Correlations of a system's scores with gold ones.

    >>> found = correlation(np.array([0.0, 1, 2, 5]), np.array([0.1, 0.2, 0.3, 0.4]))
    >>> round(found.pearson, 3), found.spearman, found.pairs
    (0.956, 1.0, 4)
    """
    if len(gold) != len(system):
        raise DataError(
            f"gold scores {len(gold):,} pairs and the system {len(system):,}; a line is a pair in both files"
        )
    known = ~np.isnan(gold)
    if np.isnan(system[known]).any():
        raise DataError(f"pair {int(np.flatnonzero(known & np.isnan(system))[0]) + 1} has no score of the system")
    x, y = gold[known], system[known]
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        raise DataError("correlation needs at least three scored pairs whose scores differ")
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(x), (samples, len(x)))
    rates = np.array([_pearson(x[rows], y[rows]) for rows in drawn])
    low, high = np.nanquantile(rates, [0.025, 0.975])
    return Correlation(_pearson(x, y), _pearson(_ranks(x), _ranks(y)), float(low), float(high), len(x))


def _pearson(x: Floats, y: Floats) -> float:
    a, b = x - x.mean(), y - y.mean()
    norm = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / norm if norm else math.nan


def _ranks(x: Floats) -> Floats:
    _, place, count = np.unique(x, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    ranks: Floats = (ends - (count - 1) / 2)[place]
    return ranks

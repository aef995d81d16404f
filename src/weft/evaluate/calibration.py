"""Calibration: of the decisions made with probability p, a fraction p should be correct.

    expected calibration error = sum over bins b of  n_b / n * | mean p in b  -  accuracy in b |
    Brier score                = mean of (p - correct)^2

with n decisions, each with its probability p and correct = 1 or 0, sorted into bins of equal width by p. Both are 0 for
a model that is always correct and always certain; a calibrated one has an error near 0, whatever its accuracy.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.errors import ConfigError, DataError
from weft.text.doc import Doc
from weft.text.layers import words_of_chars


class ReliabilityBin(NamedTuple):
    """The decisions with probabilities in one interval: their number, mean probability, and accuracy."""

    low: float
    high: float
    decisions: int
    probability: float
    right: float


@dataclass(frozen=True)
class Calibration:
    """How well probabilities match accuracy; `bins` omits empty intervals."""

    decisions: int
    right: float  # fraction of all decisions
    probability: float  # mean of all decisions
    error: float  # expected calibration error
    brier: float
    bins: tuple[ReliabilityBin, ...]

    def __str__(self) -> str:
        lines = [f"{'probability':<13} {'decisions':>9} {'mean':>7} {'right':>7}"]
        for part in self.bins:
            place = f"{part.low:.2f} to {part.high:.2f}"
            lines.append(f"{place:<13} {part.decisions:>9,} {part.probability:>7.3f} {part.right:>7.3f}")
        lines.append(f"{'all':<13} {self.decisions:>9,} {self.probability:>7.3f} {self.right:>7.3f}")
        lines.append(f"expected calibration error {self.error:.4f}, Brier score {self.brier:.4f}")
        return "\n".join(lines)


def calibration(probability: ArrayLike, right: ArrayLike, bins: int = 10) -> Calibration:
    """Compare the probabilities of decisions with their correctness.

    >>> found = calibration([0.9, 0.8, 0.6, 0.6], [True, True, True, False], bins=2)
    >>> round(found.error, 4), round(found.brier, 4), found.decisions
    (0.025, 0.1425, 4)
    """
    p, truth = np.asarray(probability, dtype=np.float64), np.asarray(right, dtype=np.float64)
    if bins < 1:
        raise ConfigError(f"calibration needs at least one bin, but got {bins}")
    if p.ndim != 1 or p.shape != truth.shape:
        raise DataError(f"expected one probability per decision, but got shapes {p.shape} and {truth.shape}")
    if not len(p):
        raise DataError("there are no decisions to calibrate")
    if not (p.min() >= -1e-6 and p.max() <= 1 + 1e-6):
        raise DataError(f"probabilities must be between 0 and 1, but range from {p.min():g} to {p.max():g}")
    place = np.clip((p * bins).astype(np.int64), 0, bins - 1)
    count = np.bincount(place, minlength=bins)
    sums, rights = np.bincount(place, p, bins), np.bincount(place, truth, bins)
    intervals = tuple(
        ReliabilityBin(b / bins, (b + 1) / bins, int(count[b]), float(sums[b] / count[b]), float(rights[b] / count[b]))
        for b in np.flatnonzero(count).tolist()
    )
    return Calibration(
        len(p),
        float(truth.mean()),
        float(p.mean()),
        float(np.abs(sums - rights).sum() / len(p)),
        float(((p - truth) ** 2).mean()),
        intervals,
    )


def calibration_of_column(
    gold: Iterable[Doc], system: Iterable[Doc], column: str = "upos", bins: int = 10
) -> Calibration:
    """The calibration of a column annotated with probabilities; both sides must have the same words.

    >>> one, other = (Doc.from_words([["dogs", "bark"]], upos=[tags]) for tags in (["NOUN", "VERB"], ["NOUN", "NOUN"]))
    >>> other.confidence["upos"] = np.array([0.9, 0.6], dtype=np.float32)
    >>> round(calibration_of_column([one], [other]).error, 2)  # |0.9 - 1| and |0.6 - 0|, averaged
    0.35
    """
    p: list[float] = []
    right: list[bool] = []
    for one, other in zip(gold, system, strict=True):
        if column not in other.confidence:
            raise DataError(f"column {column!r} of {other!r} has no probabilities; annotate with --probabilities")
        if one.n_words != other.n_words:
            raise DataError(f"{one!r} and {other!r} do not have the same words")
        p += other.confidence[column].tolist()
        right += [a == b for a, b in zip(one.column(column), other.column(column), strict=True)]
    return calibration(p, right, bins)


def calibration_of_spans(gold: Iterable[Doc], system: Iterable[Doc], layer: str, bins: int = 10) -> Calibration:
    """The calibration of predicted spans; a span is correct if gold has one with the same words and label.

    >>> from weft.text.layers import SpanLayer
    >>> one, other = (Doc.from_words([["Ada", "Lovelace", "wrote"]]) for _ in range(2))
    >>> one.spans["entities"] = SpanLayer.of(one.strings, [(0, 2, "PER")])
    >>> other.spans["entities"] = SpanLayer(other.strings)
    >>> _ = other.spans["entities"].add([(0, 2)], "PER", probability=0.75)
    >>> calibration_of_spans([one], [other], "entities").error
    0.25
    """
    p: list[float] = []
    right: list[bool] = []
    for one, other in zip(gold, system, strict=True):
        if layer not in other.spans or layer not in one.spans:
            raise DataError(f"{one!r} has no span layer {layer!r} in gold and system both")
        wanted = set(words_of_chars(one, one.spans[layer]))
        predicted = other.spans[layer]
        for number, row in enumerate(predicted):
            if "probability" not in predicted.attributes.get(number, {}):
                raise DataError(f"spans of {layer!r} in {other!r} have no probabilities; annotate with --probabilities")
            p.append(predicted.attributes[number]["probability"])
            right.append(row in wanted)
    return calibration(p, right, bins)

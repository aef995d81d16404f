"""Report on a weakly supervised model: how much its constraints say, how certain it is, how accurate it is.

    coverage    = constrained decisions / decisions
    ambiguity   = mean number of choices left for constrained decisions
    histogram   = number of decisions with a probability in each interval
    accuracy    = decisions that agree with gold / decisions, overall and by kind of constraint

A decision is whatever the model decides: the tag of a word, the head of a word, the label of a span. Gold is needed
only for accuracy, and may be missing for some decisions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.errors import DataError
from weft.evaluate.calibration import calibration


@dataclass(frozen=True)
class Part:
    """A subset of the decisions: their number, how many have gold, and the accuracy on those."""

    decisions: int
    with_gold: int
    accuracy: float | None


@dataclass(frozen=True)
class WeakReport:
    """Statistics of a weakly supervised model."""

    decisions: int
    coverage: float
    ambiguity: float
    accuracy: float | None = None
    parts: dict[str, Part] = field(default_factory=dict)
    histogram: tuple[tuple[float, float, int], ...] = ()  # from, to, decisions
    calibration_error: float | None = None  # expected, see weft.evaluate.calibration

    def as_dict(self) -> dict[str, Any]:
        """The statistics as plain values, for JSON."""
        parts = {name: vars(part) for name, part in self.parts.items()}
        return {**vars(self), "parts": parts, "histogram": [list(row) for row in self.histogram]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> WeakReport:
        """Restore a report from plain values.

        >>> report = weak_report([1, 12], [True, False], right=[True, False], confidence=[1.0, 0.5])
        >>> WeakReport.from_dict(report.as_dict()) == report
        True
        """
        parts = {name: Part(**part) for name, part in values["parts"].items()}
        return cls(**{**values, "parts": parts, "histogram": tuple((a, b, n) for a, b, n in values["histogram"])})

    def __str__(self) -> str:
        lines = [
            f"decisions {self.decisions:,}, constrained {100 * self.coverage:.2f} %, "
            f"choices left for these {self.ambiguity:.2f}"
        ]
        if self.accuracy is not None:
            lines.append(f"accuracy {100 * self.accuracy:.2f} %")
        for name, part in self.parts.items():
            shown = "" if part.accuracy is None else f" {100 * part.accuracy:>8.2f} %"
            lines.append(f"  {name:<24} {part.decisions:>9,}{shown}")
        if self.histogram:
            lines.append("probability of decisions")
            most = max(count for *_, count in self.histogram)
            for low, high, count in self.histogram:
                lines.append(f"  {low:.2f} to {high:.2f} {count:>9,} {'#' * round(40 * count / max(1, most))}".rstrip())
        if self.calibration_error is not None:
            lines.append(f"expected calibration error {self.calibration_error:.4f}")
        return "\n".join(lines)


def weak_report(
    choices: ArrayLike,
    constrained: ArrayLike,
    *,
    right: ArrayLike | None = None,
    has_gold: ArrayLike | None = None,
    confidence: ArrayLike | None = None,
    groups: Mapping[str, ArrayLike] | None = None,
    bins: int = 10,
) -> WeakReport:
    """Summarize the decisions of a weakly supervised model.

    `choices` is the number of solutions available to each decision, `constrained` whether anything narrowed them,
    `right` whether gold agrees, `has_gold` which decisions have gold (by default all), `confidence` the probability of
    each decision. `groups` are further subsets of the decisions, by name, as masks.

    >>> report = weak_report([1, 2, 12], [True, True, False], right=[True, False, True], confidence=[1.0, 0.6, 0.4])
    >>> report.coverage == 2 / 3, report.ambiguity, report.parts["open"].accuracy
    (True, 1.5, 1.0)
    >>> [count for low, high, count in report.histogram if count]
    [1, 1, 1]
    """
    number = np.asarray(choices, dtype=np.float64)
    if number.ndim != 1 or not len(number):
        raise DataError("a report needs at least one decision and one number of choices for each")
    bound = _column(constrained, number, "constrained").astype(np.bool_)
    gold = np.zeros(len(number), dtype=np.bool_)
    agrees = gold
    if right is not None:
        agrees = _column(right, number, "right").astype(np.bool_)
        gold = np.ones_like(gold) if has_gold is None else _column(has_gold, number, "has_gold").astype(np.bool_)
    masks = {"decided by constraints": bound & (number <= 1), "narrowed": bound & (number > 1), "open": ~bound}
    masks |= {name: _column(mask, number, name).astype(np.bool_) for name, mask in (groups or {}).items()}
    parts = {
        name: Part(int(mask.sum()), int((mask & gold).sum()), _mean(agrees, mask & gold))
        for name, mask in masks.items()
        if mask.any()
    }
    histogram: tuple[tuple[float, float, int], ...] = ()
    judged = None
    if confidence is not None:
        p = _column(confidence, number, "confidence").astype(np.float64)
        counts = np.bincount(np.clip((p * bins).astype(np.int64), 0, bins - 1), minlength=bins)
        histogram = tuple((b / bins, (b + 1) / bins, int(count)) for b, count in enumerate(counts))
        judged = calibration(p[gold], agrees[gold], bins).error if gold.any() else None
    return WeakReport(
        len(number),
        float(bound.mean()),
        float(number[bound].mean()) if bound.any() else 0.0,
        _mean(agrees, gold),
        parts,
        histogram,
        judged,
    )


def _mean(values: NDArray[np.bool_], mask: NDArray[np.bool_]) -> float | None:
    return float(values[mask].mean()) if mask.any() else None


def _column(values: ArrayLike, like: NDArray[np.float64], name: str) -> NDArray[Any]:
    array = np.asarray(values)
    if array.shape != like.shape:
        raise DataError(f"{name} must have one entry per decision, {len(like)} in total; given: {array.shape}")
    return array

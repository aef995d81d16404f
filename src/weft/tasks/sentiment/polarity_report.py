"""Inspect a projection across domains: which terms of the two domains correspond.

Dimension i of the projection adds v_i (theta x)_i to the score of a document, and theta[i, term] v_i for a single term.
A term belongs to a domain if nearly all documents that contain it are from that domain. On one side of a dimension,
terms of both domains should have the same polarity: predictable plots and leaking pans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.learn.protocol import Indices
from weft.tasks.sentiment.polarity_model import PolarityModel


@dataclass(frozen=True)
class Shared:
    """One side of a dimension (0: all dimensions together): its polarity, and its most extreme terms of either
    domain."""

    dimension: int
    polarity: str
    source: list[str]
    target: list[str]

    def as_dict(self) -> dict[str, Any]:
        return {
            "dimension": self.dimension, "polarity": self.polarity, "source": self.source, "target": self.target,
        }  # fmt: skip


def shared_terms(
    model: PolarityModel,
    names: Sequence[str],
    counts: NDArray[Any],
    dimensions: int = 3,
    most: int = 8,
    least: int = 5,
    share: float = 0.9,
) -> list[Shared]:
    """Terms of either domain at both ends of all dimensions together (number 0), then of the dimensions that weigh
    most.

    `counts` are the numbers of source and target documents that contain each term. A term belongs to a domain if it
    occurs in at least `least` of its documents, and these are at least the share `share` of all documents that contain
    it (with equal weights for both domains).
    """
    theta = model.projection
    if theta is None:
        return []
    domains = specific(counts, least, share)
    rows = theta.rows[:, : theta.size].astype(np.float64) * model.v
    weight = np.linalg.norm(rows, axis=0)
    order = [(0, rows.sum(axis=1))]
    order += [(int(i) + 1, rows[:, i]) for i in np.argsort(-weight, kind="stable")[:dimensions]]
    sides_of_dimensions = []
    for number, push in order:
        for polarity, sign in (("pos", 1.0), ("neg", -1.0)):
            sides = [[names[i] for i in _farthest(sign * push, domains == domain, most)] for domain in (1, 2)]
            sides_of_dimensions.append(Shared(number, polarity, *sides))
    return sides_of_dimensions


def specific(counts: NDArray[Any], least: int = 5, share: float = 0.9) -> NDArray[np.int8]:
    """1 for source terms, 2 for target terms, 0 for terms of both domains or of too few documents.

    >>> specific(np.array([[50, 1, 20], [0, 40, 30]])).tolist()
    [1, 2, 0]
    """
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rates = counts / total
    part = rates / np.maximum(rates.sum(axis=0), 1e-300)
    domains = np.zeros(counts.shape[1], dtype=np.int8)
    for domain in (0, 1):
        domains[(counts[domain] >= least) & (part[domain] >= share)] = domain + 1
    return domains


def agreement(model: PolarityModel, terms: Indices, rows: Any, y: Floats) -> float:
    """How often the projection gives a term the sign of the documents that contain it.

    `rows` and `y` are labelled documents, for example of the target domain, whose labels the projection has not seen.
    Terms without a projection, and terms that occur equally often in both classes, are left out.
    """
    theta = model.projection
    if theta is None:
        return 0.5
    push = (theta.rows[:, : theta.size].astype(np.float64) @ model.v)[terms]
    there = (rows[:, terms] != 0).astype(np.float64)
    lean = np.asarray(there.T @ (y / np.where(y > 0, (y > 0).sum(), (y < 0).sum()))).ravel()
    known = (push != 0) & (lean != 0)
    return float(np.mean(np.sign(push[known]) == np.sign(lean[known]))) if known.any() else 0.5


def _farthest(push: Floats, own: NDArray[np.bool_], most: int) -> Indices:
    candidates = np.flatnonzero(own & (push > 0))
    return candidates[np.argsort(-push[candidates], kind="stable")[:most]]

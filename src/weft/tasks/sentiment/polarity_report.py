"""What a projection across domains has learned: terms of one domain beside those of the other.

Dimension i of the projection moves the score of a document by v_i (theta x)_i; what it gives a term alone is
theta[i, term] v_i. A term belongs to a domain if nearly all documents that have it are of that domain. On one side of
a dimension terms of both domains should mean the same: predictable plots beside pans that leak.
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
    """One side of a dimension (0: of all together): its polarity, and the terms of either domain farthest out on it."""

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
    """Terms of either domain at both ends of all dimensions together (number 0), then of those that weigh most.

    `counts` gives the documents of source and target that have a term. A term belongs to a domain if it occurs in at
    least so many of its documents, and these are at least this share of all documents that have it (domains weighing
    the same).
    """
    theta = model.projection
    if theta is None:
        return []
    own = specific(counts, least, share)
    rows = theta.rows[:, : theta.size].astype(np.float64) * model.v
    weight = np.linalg.norm(rows, axis=0)
    order = [(0, rows.sum(axis=1))]
    order += [(int(i) + 1, rows[:, i]) for i in np.argsort(-weight, kind="stable")[:dimensions]]
    found = []
    for number, push in order:
        for polarity, sign in (("pos", 1.0), ("neg", -1.0)):
            sides = [[names[i] for i in _farthest(sign * push, own == domain, most)] for domain in (1, 2)]
            found.append(Shared(number, polarity, *sides))
    return found


def specific(counts: NDArray[Any], least: int = 5, share: float = 0.9) -> NDArray[np.int8]:
    """1 for terms of the source, 2 for terms of the target, 0 for those of both or of too few documents.

    >>> specific(np.array([[50, 1, 20], [0, 40, 30]])).tolist()
    [1, 2, 0]
    """
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rates = counts / total
    part = rates / np.maximum(rates.sum(axis=0), 1e-300)
    found = np.zeros(counts.shape[1], dtype=np.int8)
    for domain in (0, 1):
        found[(counts[domain] >= least) & (part[domain] >= share)] = domain + 1
    return found


def agreement(model: PolarityModel, terms: Indices, rows: Any, y: Floats) -> float:
    """How often the sign that the projection gives a term is that of the documents that have it.

    `rows` and `y` are labelled documents, of the target say, which the projection has seen no labels of; terms without
    a projection, and those that occur as often in both kinds of documents, are left out.
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

"""Linear document classifiers that adapt to another domain by a projection of their features (Blitzer et al. 2007).

    f(x) = w . x + v . theta x + b,     min  (1/n) sum_i L(y_i f(x_i)) + l2 ||w||^2 + mu ||v||^2

L is the modified Huber loss (`weft.learn.linear.huber`), theta the projection of structural correspondence learning.
A few labelled target documents can correct the source classifier: its label becomes an additional feature, and only v,
which has few parameters estimated from much data, is tied to its previous value:

    min  sum_j L(y_j (w . x_j + v . theta x_j + c sign f_s(x_j))) + l2 (||w||^2 + c^2) + mu ||v - v_s||^2

The loss is the sum over these documents, as in the paper, not their mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix, hstack, vstack

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.features.document_terms import document_counts
from weft.features.representations.correspondence import (
    Correspondence,
    select_pivots_by_count,
    select_pivots_by_information,
)
from weft.learn.linear.huber import fit_huber
from weft.learn.linear.pivots import pivot_predictors
from weft.learn.protocol import Indices

METHODS = ("base", "scl", "scl-mi")


@dataclass(frozen=True)
class PolarityModel:
    """Weights of terms and of the projection; `source` is the classifier whose label is a feature, `trust` its weight.

    >>> rows = csr_matrix([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> model = fit_polarity(rows, [1, -1])
    >>> model.scores(rows).round(1)
    array([ 1., -1.])
    """

    w: Floats
    v: Floats
    intercept: float
    projection: Correspondence | None = None
    source: PolarityModel | None = None
    trust: float = 0.0

    def folded(self) -> Floats:
        """w + theta' v: one weight per term, so that the projection is free in prediction."""
        if self.projection is None:
            return self.w
        theta = self.projection
        return self.w + theta.scale * (theta.rows[:, : theta.size].astype(np.float64) @ self.v)

    def scores(self, rows: csr_matrix) -> Floats:
        """f(x) of every row; positive above 0."""
        scores = np.asarray(rows @ self.folded()) + self.intercept
        return scores if self.source is None else scores + self.trust * self.source.labels(rows)

    def labels(self, rows: csr_matrix) -> Floats:
        """+1 or -1 of every row."""
        return np.where(self.scores(rows) > 0, 1.0, -1.0)


def fit_polarity(
    rows: csr_matrix, y: ArrayLike, projection: Correspondence | None = None, l2: float = 1e-4, mu: float = 0.0
) -> PolarityModel:
    """Train on labelled source documents; without a projection this is the plain classifier."""
    k = 0 if projection is None else projection.size
    penalty = np.concatenate([np.full(rows.shape[1], l2), np.full(k, mu)])
    fit = fit_huber(_augmented(rows, projection), y, penalty, intercept=True)
    return PolarityModel(fit.weights[: rows.shape[1]], fit.weights[rows.shape[1] :], float(fit.intercept), projection)


def correct_polarity(
    source: PolarityModel, rows: csr_matrix, y: ArrayLike, l2: float = 0.1, mu: float = 0.1, intercept: bool = False
) -> PolarityModel:
    """Correct a source classifier with a few labelled target documents.

    Without an intercept, a few documents that happen to have one polarity cannot override the source classifier.

    >>> rows = csr_matrix([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    >>> corrected = correct_polarity(fit_polarity(rows, [1, -1]), rows, [-1, 1])
    >>> corrected.trust < 0
    True
    """
    d, k = rows.shape[1], len(source.v)
    further = csr_matrix(source.labels(rows)[:, None])
    penalty = np.concatenate([np.full(d, l2), np.full(k, mu), [l2]])
    centre = np.concatenate([np.zeros(d), source.v, [0.0]])
    everything = hstack([_augmented(rows, source.projection), further], format="csr")
    # Dividing the penalty turns the mean of the loss that `fit_huber` minimizes into a sum.
    fit = fit_huber(everything, y, penalty / rows.shape[0], centre, intercept=intercept)
    return PolarityModel(
        fit.weights[:d], fit.weights[d : d + k], float(fit.intercept), source.projection, source, float(fit.weights[-1])
    )


def choose_pivots(
    method: str,
    labelled: csr_matrix,
    y: ArrayLike,
    raw: Sequence[csr_matrix],
    pivots: int = 500,
    more_than: int = 5,
) -> Indices:
    """Choose pivots among terms that occur in more than `more_than` documents of each domain: the most frequent (`scl`)
    or the most informative about the source labels (`scl-mi`)."""
    counts = [document_counts(each) for each in raw]
    if method == "scl":
        chosen = select_pivots_by_count(counts, more_than, at_most=pivots)
    elif method == "scl-mi":
        eligible = np.min(counts, axis=0) > more_than
        chosen = select_pivots_by_information(labelled, y, eligible, at_most=pivots)
    else:
        raise ConfigError(f"the method of choosing pivots must be scl or scl-mi, got {method!r}")
    if len(chosen) < 2:
        raise DataError(
            f"{len(chosen)} terms occur in more than {more_than} documents of every domain: too few pivots; give more "
            "raw text or a lower pivot_documents"
        )
    return chosen


def project_documents(
    raw: Sequence[csr_matrix],
    pivots: NDArray[Any],
    dimensions: int = 50,
    scale: float = 1.0,
    l2: float = 1e-4,
    positive: bool = True,
    passes: int = 5,
    seed: int = 0,
    mask: str = "all",
    standardize: bool = False,
) -> Correspondence:
    """Learn a projection from the pivots on raw documents of all domains; its mean length is `scale` times theirs.

    The predictor of a pivot uses no pivots as features or, with `mask="own"`, all but this one, which is weaker and
    slow, because every pivot then has its own features. `standardize` first gives every dimension the same variance on
    the raw documents.
    """
    if mask not in ("all", "own"):
        raise ConfigError(f"mask must be all or own, got {mask!r}")
    everything = vstack(list(raw), format="csr")
    groups = np.arange(everything.shape[1]) if mask == "own" else None
    weights = pivot_predictors(
        everything, pivots, groups, l2, positive_only=positive, intercept=True, passes=passes, seed=seed
    )
    theta = Correspondence.from_predictors(weights, h=dimensions, positive=positive, seed=seed)
    if standardize:
        theta = theta.standardize(everything)
    return theta.scale_to(everything, scale, norm=2)


def _augmented(rows: csr_matrix, projection: Correspondence | None) -> csr_matrix:
    if projection is None:
        return csr_matrix(rows)
    return hstack([rows, csr_matrix(projection.project(rows).astype(np.float64))], format="csr")

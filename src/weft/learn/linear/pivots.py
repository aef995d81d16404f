"""Pivot predictors: classifiers that predict a pivot from the other features.

    w_l = argmin_w  mean_j L(w . x_j, y_jl) + l2 ||w||^2      for every pivot l, over the features outside its group

with L the modified Huber loss (`weft.learn.linear.huber`). Their weights, features x pivots, are what
`weft.features.representations.correspondence` decomposes (Blitzer, McDonald and Pereira 2006).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from weft.errors import DataError
from weft.learn.linear.huber import fit_huber_blocks


def pivot_predictors(
    instances: sparse.csr_matrix,
    pivots: ArrayLike,
    groups: ArrayLike | None = None,
    l2: float = 1e-4,
    labels: sparse.csr_matrix | None = None,
    positive_only: bool = False,
    intercept: bool = False,
    passes: int = 5,
    seed: int = 0,
) -> sparse.csr_matrix:
    """Weights of linear predictors, features x pivots: does the pivot hold, by the other features of the instance?

    Features of a pivot's own group (all that is derived from the same word, say) are masked; without groups pivots are
    masked, for each other too. `labels` (instances x pivots) is what is predicted if not the pivots' own columns.
    `positive_only` drops the negative weights while they are learned, a few pivots at a time. With an `intercept`, how
    often a pivot holds at all need not be told by the features.

    >>> rows = sparse.csr_matrix([[1, 0, 1, 0], [0, 1, 0, 1]] * 20)
    >>> weights = pivot_predictors(rows, [0], groups=[0, 0, 1, 1])
    >>> np.sign(weights.toarray()).ravel().tolist()
    [0.0, 0.0, 1.0, -1.0]
    """
    chosen = np.asarray(pivots, dtype=np.int64)
    n_features = instances.shape[1]
    if not len(chosen):
        raise DataError("there are no pivots: no feature is frequent enough in every domain; lower the threshold")
    if groups is None:
        own = np.arange(n_features)
        own[chosen] = -1
    else:
        own = np.asarray(groups, dtype=np.int64)
    if len(own) != n_features:
        raise DataError(f"{n_features} features need a group each, got {len(own)}")
    holds = sparse.csc_matrix(instances[:, chosen] if labels is None else labels)
    if holds.shape != (instances.shape[0], len(chosen)):
        raise DataError(f"labels are instances x pivots, {instances.shape[0]} x {len(chosen)}; got {holds.shape}")
    rows, columns, values = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)], [np.zeros(0, np.float32)]
    for group in np.unique(own[chosen]):
        members = np.flatnonzero(own[chosen] == group)
        open_ = np.flatnonzero(own != group)
        fits = fit_huber_blocks(
            instances[:, open_], holds[:, members], l2, intercept=intercept, passes=passes, seed=seed
        )
        for first, fit in fits:
            found, output = np.nonzero(fit.weights > 0 if positive_only else fit.weights)
            rows.append(open_[found])
            columns.append(members[first + output])
            values.append(fit.weights[found, output])
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_matrix(entries, shape=(n_features, len(chosen)))

"""Principal components of sparse vectors: the directions in which they differ most.

    X - 1 mean' = U D V',    coordinates  (X - 1 mean') V_k = U_k D_k

computed without ever making X - 1 mean' dense (Lanczos, from a fixed start: the same vectors give the same result).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigError, DataError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def principal_components(vectors: csr_matrix | Any, k: int) -> NDArray[np.float64]:
    """The first k coordinates of every row, the widest first; fewer where the rows span less.

    >>> from scipy.sparse import csr_matrix
    >>> points = csr_matrix([[0.0, 0.0, 1.0], [4.0, 0.0, 1.0], [0.0, 1.0, 1.0], [4.0, 1.0, 1.0]])
    >>> np.abs(principal_components(points, 1)).round(6).tolist()
    [[2.0], [2.0], [2.0], [2.0]]
    """
    from scipy.sparse.linalg import LinearOperator, svds

    if k < 1:
        raise ConfigError(f"principal components are at least one, got {k}")
    n, width = vectors.shape
    if n < 1 or width < 1:
        raise DataError(f"principal components need vectors; the matrix is {n} x {width}")
    mean = np.asarray(vectors.mean(axis=0)).ravel()
    if k >= min(n, width):
        dense = np.asarray(vectors.todense()) - mean
        left, size, _ = np.linalg.svd(dense, full_matrices=False)
    else:
        turned = vectors.T.tocsr()
        centred = LinearOperator(
            (n, width),
            matvec=lambda x: vectors @ x.ravel() - mean @ x.ravel(),
            rmatvec=lambda y: turned @ y.ravel() - mean * y.sum(),
            dtype=np.float64,
        )
        start = np.random.default_rng(0).normal(size=min(n, width))
        left, size, _ = svds(centred, k=k, v0=start)
    order = np.argsort(-size, kind="stable")[:k]
    order = order[size[order] > 1e-9 * max(1.0, float(size.max()))]
    coordinates: NDArray[np.float64] = left[:, order] * size[order]
    return coordinates

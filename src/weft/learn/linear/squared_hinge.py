"""Linear support vector machines for many labels, one against the rest, over rows that are never materialized.

    minimize over w:   1/2 |w|^2  +  C sum_i max(0, 1 - y_i w . x_i)^2       for every label, y_i = +1 on its own rows

This is the problem of LIBLINEAR's L2R_L2LOSS_SVC. It is solved by Newton's method: with A the rows of margin below 1,

    gradient  g = w + 2C X_A' (X_A w - y_A)        Hessian  H = I + 2C X_A' X_A        H s = -g,   w <- w + t s

s comes from conjugate gradients, preconditioned by the diagonal of H, t from an exact search along s. All labels go
together: X is met only in products with tables of as many columns as there are labels. A `WindowDesign` never writes X
out: its rows are vectors of word types set side by side, and a product with the few thousand types serves all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.progress import progress

Table = NDArray[Any]
#: Labels rarer than this are not solved more sharply than others that are as rare.
LEAST_SHARE = 0.003


class Design(Protocol):
    """Rows X of training items, used only in products; numbers have its `dtype`."""

    dtype: Any

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of X."""
        ...

    def scores(self, weights: Table) -> Table:
        """X W for weights W of [columns, labels]."""
        ...

    def gather(self, values: Table) -> Table:
        """X' V for values V of [rows, labels]."""
        ...

    def squares(self, values: Table) -> Table:
        """(X * X)' V: squares of entries, for the diagonal of the Hessian."""
        ...


class SparseDesign:
    """Rows stored as a CSR matrix.

    >>> from scipy.sparse import csr_matrix
    >>> SparseDesign(csr_matrix(np.eye(2))).scores(np.array([[1.0], [2.0]])).tolist()
    [[1.0], [2.0]]
    """

    def __init__(self, rows: Any, dtype: Any = np.float64) -> None:
        from scipy.sparse import csr_matrix

        self.dtype = dtype
        self._rows = csr_matrix(rows, dtype=dtype)
        self._columns = csr_matrix(self._rows.T)
        self._squares = self._columns.multiply(self._columns).tocsr()

    @property
    def shape(self) -> tuple[int, int]:
        return self._rows.shape[0], self._rows.shape[1]

    def scores(self, weights: Table) -> Table:
        return np.asarray(self._rows @ weights)

    def gather(self, values: Table) -> Table:
        return np.asarray(self._columns @ values)

    def squares(self, values: Table) -> Table:
        return np.asarray(self._squares @ values)


class WindowDesign:
    """Rows made of vectors of types: row i is  T_1[types[i, 0]], T_2[types[i, 1]], ...  side by side.

    `vectors` are the matrices T_p, one per place of the window (the same one may stand several times); after them may
    stand what is no vector of a type, such as a previous label (`more`, a CSR matrix). Columns of a T_p that are equal
    are kept as one, scaled so that the penalty stays what it was; `spread` gives every column its weight again.

    >>> from scipy.sparse import csr_matrix
    >>> vectors = csr_matrix(np.array([[1.0, 0.0], [0.0, 2.0]]))
    >>> design = WindowDesign([vectors, vectors], np.array([[0, 1], [1, 1]]))
    >>> design.scores(np.array([[1.0], [1.0], [1.0], [3.0]])).tolist()  # 1*1 + 2*3, 2*1 + 2*3
    [[7.0], [8.0]]
    """

    def __init__(self, vectors: Sequence[Any], types: NDArray[Any], more: Any = None, dtype: Any = np.float64) -> None:
        from scipy.sparse import csr_matrix

        if types.ndim != 2 or types.shape[1] != len(vectors):
            raise ConfigError(f"types of shape {types.shape} for {len(vectors)} matrices: give one column a matrix")
        self.dtype = dtype
        joined = {id(each): _joined(each) for each in vectors}
        designs = {kind: SparseDesign(columns, dtype) for kind, (columns, _) in joined.items()}
        self._vectors = [designs[id(each)] for each in vectors]
        self._equal = [joined[id(each)][1] for each in vectors]
        ones, rows = np.ones(len(types), dtype=dtype), np.arange(len(types))
        self._places = [
            SparseDesign(csr_matrix((ones, (rows, types[:, p])), shape=(len(types), each.shape[0])), dtype)
            for p, each in enumerate(self._vectors)
        ]
        self._more = None if more is None else SparseDesign(more, dtype)
        widths = [each.shape[1] for each in self._vectors] + ([] if self._more is None else [self._more.shape[1]])
        self._bounds = np.concatenate([[0], np.cumsum(widths)]).tolist()

    @property
    def shape(self) -> tuple[int, int]:
        return self._places[0].shape[0], self._bounds[-1]

    def scores(self, weights: Table) -> Table:
        found = np.zeros((self.shape[0], weights.shape[1]), dtype=self.dtype)
        for p, (place, vectors) in enumerate(zip(self._places, self._vectors, strict=True)):
            found += place.scores(vectors.scores(weights[self._bounds[p] : self._bounds[p + 1]]))
        if self._more is not None:
            found += self._more.scores(weights[self._bounds[-2] :])
        return found

    def gather(self, values: Table) -> Table:
        pairs = zip(self._vectors, self._places, strict=True)
        parts = [vectors.gather(place.gather(values)) for vectors, place in pairs]
        return np.concatenate(parts if self._more is None else [*parts, self._more.gather(values)])

    def squares(self, values: Table) -> Table:
        pairs = zip(self._vectors, self._places, strict=True)
        parts = [vectors.squares(place.gather(values)) for vectors, place in pairs]
        return np.concatenate(parts if self._more is None else [*parts, self._more.squares(values)])

    def spread(self, weights: Table) -> tuple[list[Table], Table]:
        """The weights of every column of every T_p, and those of what stands after them."""
        bounds = list(pairwise(self._bounds))[: len(self._equal)]
        pairs = zip(self._equal, bounds, strict=True)
        places = [weights[first:end][group] * scale[:, None] for (group, scale), (first, end) in pairs]
        return places, weights[self._bounds[len(self._equal)] :]


def _joined(vectors: Any) -> tuple[Any, tuple[NDArray[np.intp], Floats]]:
    """A matrix with equal columns as one of length the square root of their number; of each old column its new one.

    Columns are told apart by their products with two random vectors: of equal ones these are equal to the bit.
    """
    from scipy.sparse import csc_matrix

    columns = csc_matrix(vectors, dtype=np.float64)
    columns.sort_indices()
    marks = np.asarray(columns.T @ np.random.default_rng(0).standard_normal((columns.shape[0], 2)))
    _, first, group = np.unique(marks, axis=0, return_index=True, return_inverse=True)
    group = group.reshape(-1)
    many = np.sqrt(np.bincount(group, minlength=len(first)))
    joined = columns[:, first].multiply(many[None, :]).tocsr()
    return joined, (group, 1.0 / many[group])


def fit_squared_hinge(
    design: Design,
    labels: ArrayLike,
    n_labels: int,
    c: float = 1.0,
    *,
    tolerance: float = 0.01,
    max_steps: int = 50,
    max_inner: int = 200,
    block: int = 24,
    workers: int = 1,
) -> Table:
    """Weights [columns, labels] of one machine per label; `labels` are numbers, one per row.

    A machine is done when its gradient is shorter than  tolerance * min(own, other rows) / rows  times its first one,
    as in LIBLINEAR. So many labels at a time (`block`) are held in memory; `workers` threads take a block each.

    >>> from scipy.sparse import csr_matrix
    >>> rows = SparseDesign(csr_matrix(np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])))
    >>> fit_squared_hinge(rows, [0, 1, 1], 2, tolerance=1e-8).round(3)
    array([[ 0.381, -0.381],
           [-0.952,  0.952]])
    """
    rows, columns = design.shape
    own = np.asarray(labels, dtype=np.int64)
    if len(own) != rows:
        raise ConfigError(f"there are {rows} rows and {len(own)} labels; give one label per row")
    if len(own) and not (own.min() >= 0 and own.max() < n_labels):
        raise ConfigError(f"labels must lie between 0 and {n_labels - 1}, got {own.min()} to {own.max()}")
    if c <= 0 or tolerance <= 0:
        raise ConfigError(f"C and the tolerance must be above 0, got {c} and {tolerance}")
    found = np.zeros((columns, n_labels), dtype=design.dtype)
    blocks = [np.arange(first, min(first + block, n_labels)) for first in range(0, n_labels, block)]

    def solve(chosen: NDArray[np.int64]) -> Table:
        signs = np.where(own[:, None] == chosen, 1.0, -1.0).astype(design.dtype)
        return _newton(design, signs, c, tolerance, max_steps, max_inner)

    with progress("support vector machines", n_labels, unit="labels") as bar, ThreadPoolExecutor(workers) as pool:
        for chosen, weights in zip(blocks, pool.map(solve, blocks), strict=True):
            found[:, chosen] = weights
            bar.advance(len(chosen))
    return found


def _newton(design: Design, signs: Table, c: float, tolerance: float, max_steps: int, max_inner: int) -> Table:
    """The weights of some machines, each with its column of signs."""
    weights = np.zeros((design.shape[1], signs.shape[1]), dtype=design.dtype)
    scores = np.zeros_like(signs)
    rare = np.maximum(1.0, np.minimum((signs > 0).sum(0), (signs < 0).sum(0))) / len(signs)
    limit = np.zeros(signs.shape[1])
    at_work = np.arange(signs.shape[1])
    for step in range(max_steps):
        w, z, y = weights[:, at_work], scores[:, at_work], signs[:, at_work]
        active = (y * z < 1.0).astype(design.dtype)
        gradient = w + 2 * c * design.gather(active * (z - y))
        norm = np.sqrt(_dots(gradient, gradient))
        if step == 0:
            limit = tolerance * np.maximum(rare, LEAST_SHARE) * norm
        going = norm > limit[at_work]
        if not going.any():
            break
        if not going.all():
            at_work, w, z, y = at_work[going], w[:, going], z[:, going], y[:, going]
            active, gradient = active[:, going], gradient[:, going]
        direction, moved = _conjugate_gradients(design, gradient, active, c, max_inner)
        length = _search(w, z, y, direction, moved, c)
        weights[:, at_work] = w + length * direction
        scores[:, at_work] = z + length * moved
    return weights


def _conjugate_gradients(design: Design, gradient: Table, active: Table, c: float, most: int) -> tuple[Table, Table]:
    """Steps s with H s = -g to a tenth of the gradient's length, and X s; labels that are done wait aside."""
    diagonal = 1 + 2 * c * design.squares(active)
    solutions, moves = np.zeros_like(gradient), np.zeros_like(active)
    solution, moved, own = solutions.copy(), moves.copy(), np.arange(gradient.shape[1])
    rest = -gradient
    scaled = rest / diagonal
    search = scaled.copy()
    product = _dots(rest, scaled)
    limit = 0.01 * product
    for _ in range(most):
        forward = design.scores(search)
        curved = design.gather(active * forward)
        curved *= 2 * c
        curved += search
        step = (product / np.maximum(_dots(search, curved), 1e-300)).astype(design.dtype)
        solution += step * search
        moved += step * forward
        rest -= step * curved
        scaled = rest / diagonal
        after = _dots(rest, scaled)
        going = after > limit
        solutions[:, own[~going]], moves[:, own[~going]] = solution[:, ~going], moved[:, ~going]
        if not going.any():
            break
        search *= (after / np.maximum(product, 1e-300)).astype(design.dtype)
        search += scaled
        product = after
        if going.mean() < 0.8:  # copying costs as much as one product
            own, product, limit = own[going], product[going], limit[going]
            solution, moved, rest, search, active, diagonal = (
                np.ascontiguousarray(each[:, going]) for each in (solution, moved, rest, search, active, diagonal)
            )
    else:
        solutions[:, own], moves[:, own] = solution, moved
    return solutions, moves


def _search(w: Table, z: Table, y: Table, direction: Table, moved: Table, c: float) -> Table:
    """How far to go: the root of the slope along the direction, which rises and is straight between corners."""
    along, square = _dots(w, direction), _dots(direction, direction)
    low, high = np.zeros(len(along)), np.full(len(along), np.inf)
    step = np.ones(len(along))
    for _ in range(30):
        here = z + step.astype(z.dtype) * moved
        inside = np.where(y * here < 1, moved, 0)
        slope = along + step * square + 2 * c * _dots(inside, here - y)
        bend = square + 2 * c * _dots(inside, inside)
        low, high = np.where(slope < 0, step, low), np.where(slope >= 0, step, high)
        new = step - slope / np.maximum(bend, 1e-300)
        middle = np.where(np.isfinite(high), (low + high) / 2, 2 * step)
        new = np.where((new > low) & (new < high), new, middle)
        done = np.abs(new - step).max(initial=0.0) <= 1e-5
        step = new
        if done:
            break
    return step.astype(z.dtype)


def _dots(one: Table, other: Table) -> Floats:
    """Inner products of columns."""
    return np.einsum("ij,ij->j", one, other, dtype=np.float64)

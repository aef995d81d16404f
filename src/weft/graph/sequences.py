"""Graphs over the places of a sequence: what rows of a grid share, and scores of orders of these rows.

With M the rows by columns of a grid (weights of 0 are absent) and B = [M > 0], rows i and k are linked by

    1 if they share a column        (B B')_ik, the columns that they share        (M M')_ik, what these weigh

and an order, which gives row i the place p_i, scores

    1/n  sum over links i k of  w_ik   or   w_ik / |p_i - p_k|

All links lead forwards whatever the order, so that the first does not depend on it. The links are computed once; an
order then costs one sum over links, and all places of one row together cost hardly more: a link of two other rows
becomes longer by 1 exactly where the row comes between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.kernel import kernel
from weft.ragged import check_offsets, one_block

#: What the weights of a link count, in the order of their columns.
WEIGHTS = ("unweighted", "weighted", "roles")
_NEAR = 1e-9  # scores that are closer are the same sum in another order


class Links(NamedTuple):
    """Links between `n` rows: `first < second` in the order of the grid, `weights[link]` by each of `WEIGHTS`."""

    n: int
    first: Ints
    second: Ints
    weights: Floats

    def __len__(self) -> int:
        return len(self.first)


def link_rows(offsets: ArrayLike, columns: ArrayLike, values: ArrayLike) -> Links:
    """The links between the rows of a sparse grid; a column occurs at most once in a row.

    >>> links = link_rows([0, 1, 1, 3], [4, 4, 7], [3.0, 2.0, 1.0])
    >>> links.first.tolist(), links.second.tolist(), links.weights.tolist()
    ([0], [2], [[1.0, 1.0, 6.0]])
    """
    names, weights = np.asarray(columns), one_block(values, np.float64)
    starts = check_offsets(offsets, len(names))
    if weights.shape != names.shape or (len(names) and not (np.isfinite(weights).all() and weights.min() > 0)):
        raise DataError("every cell of a grid needs a weight above 0")
    n = len(starts) - 1
    rows = np.repeat(np.arange(n), np.diff(starts))
    numbers = np.unique(names, return_inverse=True)[1].reshape(-1)
    by_column = np.lexsort((rows, numbers))
    if len(names) > 1:
        before, after = by_column[:-1], by_column[1:]
        if ((numbers[before] == numbers[after]) & (rows[before] == rows[after])).any():
            raise DataError("a column occurs twice in a row of the grid: keep its largest weight")
    ends = np.concatenate([[0], np.cumsum(np.bincount(numbers))]) if len(names) else np.zeros(1)
    column_starts = one_block(ends, np.int64)
    column_rows = one_block(rows[by_column], np.int64)
    column_values = one_block(weights[by_column], np.float64)
    # A column of d rows makes at most d (d - 1) / 2 links.
    sizes = np.diff(column_starts)
    most = int(min(n * (n - 1) // 2, (sizes * (sizes - 1) // 2).sum()))
    pairs, found = np.empty((most, 2), dtype=np.int64), np.empty((most, 3))
    count = _link(
        starts, one_block(numbers, np.int64), weights, column_starts, column_rows, column_values, np.zeros((n, 2)),
        np.empty(n, dtype=np.int64), pairs, found,
    )  # fmt: skip
    return Links(n, pairs[:count, 0].copy(), pairs[:count, 1].copy(), found[:count].copy())


@kernel
def _link(
    starts: Ints, columns: Ints, values: Floats, column_starts: Ints, column_rows: Ints, column_values: Floats,
    sums: Floats, touched: Ints, pairs: Ints, found: Floats,
) -> int:  # fmt: skip
    count = 0
    for row in range(len(starts) - 1):
        met = 0
        for cell in range(starts[row], starts[row + 1]):
            column = columns[cell]
            for place in range(column_starts[column], column_starts[column + 1]):
                other = column_rows[place]
                if other > row:
                    if sums[other, 0] == 0.0:
                        touched[met] = other
                        met += 1
                    sums[other, 0] += 1.0
                    sums[other, 1] += values[cell] * column_values[place]
        for k in range(met):
            other = touched[k]
            pairs[count, 0] = row
            pairs[count, 1] = other
            found[count, 0] = 1.0
            found[count, 1] = sums[other, 0]
            found[count, 2] = sums[other, 1]
            sums[other, 0] = 0.0
            sums[other, 1] = 0.0
            count += 1
    return count


def score_orders(links: Links, orders: ArrayLike, distance: bool = True) -> Floats:
    """The scores [order, weight] of orders; an order lists the rows as they follow each other.

    >>> links = link_rows([0, 1, 1, 3], [4, 4, 7], [3.0, 2.0, 1.0])
    >>> score_orders(links, [[0, 1, 2], [0, 2, 1]]).round(3).tolist()
    [[0.167, 0.167, 1.0], [0.333, 0.333, 2.0]]
    """
    places = _places(links, orders)
    scores = np.zeros((len(places), 3))
    if links.n:
        _score(links.first, links.second, links.weights, places, _by_distance(links.n, distance), scores)
    return scores / max(links.n, 1)


@kernel
def _score(
    first: Ints, second: Ints, weights: Floats, places: Ints, by_distance: Floats, scores: Floats
) -> None:  # fmt: skip
    for order in range(len(places)):
        a, b, c = 0.0, 0.0, 0.0
        for link in range(len(first)):
            share = by_distance[abs(places[order, second[link]] - places[order, first[link]])]
            a += weights[link, 0] * share
            b += weights[link, 1] * share
            c += weights[link, 2] * share
        scores[order, 0] = a
        scores[order, 1] = b
        scores[order, 2] = c


def _by_distance(n: int, distance: bool) -> Floats:
    """What is left of a link by its length."""
    lengths = np.arange(n + 1, dtype=np.float64)
    shares: Floats = 1 / np.maximum(lengths, 1) if distance else np.ones(n + 1)
    return shares


def _places(links: Links, orders: ArrayLike) -> Ints:
    """The place of every row in every order."""
    rows = np.atleast_2d(np.asarray(orders))
    if rows.size == 0:
        return np.zeros((len(rows) if links.n == 0 else 0, links.n), dtype=np.int64)
    if rows.shape[1] != links.n or not (np.sort(rows, axis=1) == np.arange(links.n)).all():
        raise DataError(f"an order lists each of the {links.n} rows once")
    return one_block(np.argsort(rows, axis=1), np.int64)


def insertion_scores(links: Links, row: int, order: ArrayLike | None = None) -> Floats:
    """The scores [place, weight] by distance of an order in which one row is taken out and put back at every place.

    >>> links = link_rows([0, 1, 1, 3], [4, 4, 7], [3.0, 2.0, 1.0])
    >>> insertion_scores(links, 1)[:, 2].round(3).tolist()
    [2.0, 1.0, 2.0]
    """
    places = _places(links, np.arange(links.n) if order is None else order)
    if not 0 <= row < links.n:
        raise ConfigError(f"there is no row {row} among {links.n}")
    scores, work = np.empty((links.n, 3)), np.empty((links.n + 2, 3))
    _insert(row, places[0], links.first, links.second, links.weights, _by_distance(links.n, True), work, scores)
    return scores / links.n


@kernel
def _insert(
    row: int, places: Ints, first: Ints, second: Ints, weights: Floats, by_distance: Floats, work: Floats,
    scores: Floats,
) -> None:  # fmt: skip
    """Scores of all places of a row, times the number of rows; `work` holds where links of others become longer."""
    n = len(places)
    for place in range(n + 2):
        for k in range(3):
            work[place, k] = 0.0
    for place in range(n):
        for k in range(3):
            scores[place, k] = 0.0
    own = places[row]
    for link in range(len(first)):
        a, b = places[first[link]], places[second[link]]
        if first[link] == row or second[link] == row:
            other = b if first[link] == row else a
            other -= other > own
            for place in range(n):
                share = by_distance[place - other if place > other else other - place + 1]
                for k in range(3):
                    scores[place, k] += weights[link, k] * share
        else:
            a -= a > own
            b -= b > own
            low, high = min(a, b), max(a, b)
            share = by_distance[high - low]
            change = by_distance[high - low + 1] - share
            for k in range(3):
                work[0, k] += weights[link, k] * share
                work[low + 1, k] += weights[link, k] * change
                work[high + 1, k] -= weights[link, k] * change
    for k in range(3):
        running = 0.0
        for place in range(n):
            running += work[place, k]
            scores[place, k] += running


def best_places(scores: Floats) -> Ints:
    """The places with the highest of some scores, which rounding does not tell apart.

    >>> best_places(np.array([1.0, 3.0, 3.0 + 1e-12])).tolist()
    [1, 2]
    """
    best = scores.max()
    return np.flatnonzero(scores >= best - _NEAR * max(1.0, abs(float(best))))


def joint_strengths(links: Links) -> Floats:
    """How strongly the rows before and after each joint are linked: [joint, weight], joint g lies after row g.

    It is the mean weight of all pairs across the joint, a pair counting by 1 / distance: at the ends of a sequence
    fewer pairs can be linked.

    >>> links = link_rows([0, 1, 2, 3], [4, 4, 7], [3.0, 2.0, 1.0])
    >>> joint_strengths(links)[:, 0].round(3).tolist()
    [0.667, 0.0]
    """
    n = links.n
    if n < 2:
        return np.zeros((0, 3))
    shares = 1 / np.maximum(links.second - links.first, 1)
    across = np.zeros((n + 1, 3))
    np.add.at(across, links.first, links.weights * shares[:, None])
    np.subtract.at(across, links.second, links.weights * shares[:, None])
    # Pairs at distance d cross joint g from min(d, g + 1, n - 1 - g, n - d) places.
    lengths = np.arange(1, n)
    possible = np.array([
        (np.minimum(np.minimum(lengths, n - lengths), min(g + 1, n - 1 - g)) / lengths).sum() for g in range(n - 1)
    ])  # fmt: skip
    strengths: Floats = np.cumsum(across, axis=0)[: n - 1] / possible[:, None]
    return np.maximum(strengths, 0.0)


def best_order(
    links: Links, weight: str = "roles", start: ArrayLike | None = None, starts: int = 4, seed: int = 0
) -> Ints:
    """An order that moving any one row does not improve, the best from several starts.

    The starts are a given order (by default that of the grid), the second eigenvector of the graph's Laplacian, and
    random ones. An order and its reverse score the same; the result is the one nearer to the start.

    >>> chain = link_rows([0, 1, 3, 4], [1, 1, 2, 2], [1.0, 1.0, 1.0, 1.0])
    >>> best_order(chain, start=[1, 0, 2]).tolist()
    [0, 1, 2]
    """
    if weight not in WEIGHTS:
        raise ConfigError(f"a link is weighted by {', '.join(WEIGHTS)}, not by {weight!r}")
    if starts < 1:
        raise ConfigError(f"starts must be at least 1, got {starts}")
    n = links.n
    given = np.arange(n) if start is None else np.asarray(start)
    column = WEIGHTS.index(weight)
    rng = np.random.default_rng(seed)
    best, most = given, -np.inf
    if n < 3:
        return one_block(given, np.int64)
    by_distance, scores, work = _by_distance(n, True), np.empty((n, 3)), np.empty((n + 2, 3))
    for number in range(starts):
        order = given if number == 0 else _spectral(links, column) if number == 1 else rng.permutation(n)
        places = _places(links, order)[0]
        reached = _improve(places, column, links.first, links.second, links.weights, by_distance, work, scores)
        if reached > most * (1 + _NEAR) or most == -np.inf:
            best, most = np.argsort(places), reached
    rank = np.argsort(given)
    agreeing = np.triu(rank[best][:, None] < rank[best][None, :], 1).sum()
    return one_block(best if 4 * agreeing >= n * (n - 1) else best[::-1], np.int64)


@kernel
def _improve(
    places: Ints, column: int, first: Ints, second: Ints, weights: Floats, by_distance: Floats, work: Floats,
    scores: Floats,
) -> float:  # fmt: skip
    """Move rows to their best places until none gains; the score times the number of rows."""
    n = len(places)
    reached = 0.0
    for _ in range(100):
        moved = False
        for row in range(n):
            _insert(row, places, first, second, weights, by_distance, work, scores)
            own = places[row]
            best = own
            for place in range(n):
                if scores[place, column] > scores[best, column] + 1e-9 * (1.0 + abs(scores[best, column])):
                    best = place
            reached = scores[best, column]
            if best != own:
                moved = True
                for other in range(n):
                    if own < places[other] <= best:
                        places[other] -= 1
                    elif best <= places[other] < own:
                        places[other] += 1
                places[row] = best
        if not moved:
            break
    return reached


def _spectral(links: Links, column: int) -> NDArray[Any]:
    """Rows by the second eigenvector of the Laplacian, which puts what is linked side by side."""
    matrix = np.zeros((links.n, links.n))
    matrix[links.first, links.second] = matrix[links.second, links.first] = links.weights[:, column]
    vectors = np.linalg.eigh(np.diag(matrix.sum(axis=1)) - matrix)[1]
    return np.argsort(vectors[:, 1], kind="stable").astype(np.int64)

"""Sums over trees with valences: log Z of every sentence of a batch, and the probability of every part.

The recurrence is that of `weft.infer.trees.dmv`. Sums are made of products where these cannot vanish: weights are taken
relative to the largest among the arcs into the same word, and among the stops of the same word and side,

    w(h, m, v) = exp(arc(h, m, v) - c(m)),       log Z = sum of these c + log of the sum over trees of products of w

and derivatives of that sum, from large items to small ones, give the probabilities. Where the sum is too small all the
same, since the factors of single arcs may be exp(-100) and less, it is made of logarithms, and the probability of every
item is shared among the ways to make it.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices

__all__ = ["LEFT", "RIGHT", "sum_trees"]

LEFT, RIGHT = 0, 1
#: Below this, small products that were lost could matter: the smallest number is some 1e-308.
_TOO_SMALL = 1e-200


def sum_trees(offsets: Indices, squares: Indices, arc: Floats, stop: Floats) -> tuple[Floats, Floats, Floats]:
    """log Z of every sentence, and the probabilities of arcs and stops; where there is no tree, minus infinity and 0.

    >>> arc, stop = np.log(np.array([[0.3], [0.5], [0.5], [0.7]])), np.zeros((2, 2, 1))
    >>> log_z, of_arcs, _ = sum_trees(np.array([0, 2]), np.array([0, 4]), arc, stop)
    >>> np.exp(log_z).round(3).tolist(), of_arcs[:, 0].round(3).tolist()
    ([0.5], [0.3, 0.3, 0.7, 0.7])
    """
    log_z, p_arc, p_stop = np.zeros(len(offsets) - 1), np.zeros_like(arc), np.zeros_like(stop)
    _sums(offsets, squares, arc, stop, log_z, p_arc, p_stop)
    return log_z, p_arc, p_stop


@kernel
def _sums(
    offsets: Indices, squares: Indices, arc: Floats, stop: Floats, log_z: Floats, p_arc: Floats, p_stop: Floats
) -> None:
    """Items of a head h, a side d and a number l of words beyond h: `open_[d, h, l, v]`, `part`, `closed[d, h, l]`."""
    longest, n_valences = 1, stop.shape[2]
    for s in range(len(log_z)):
        longest = max(longest, offsets[s + 1] - offsets[s])
    shape = (2, longest, longest, n_valences)
    open_, part, closed = np.empty(shape), np.empty(shape), np.empty(shape[:3])
    p_open, p_part, p_closed = np.empty(shape), np.empty(shape), np.empty(shape[:3])
    weight, of_stop = np.empty((longest, longest, n_valences)), np.empty((longest, 2, n_valences))
    terms = np.empty(longest * n_valences)
    for s in range(len(log_z)):
        first, n, square = offsets[s], offsets[s + 1] - offsets[s], squares[s]
        if n == 0:
            continue
        log_z[s] = _weigh(first, n, square, arc, stop, weight, of_stop)
        if log_z[s] > -np.inf:
            z = _products(n, weight, of_stop, open_, part, closed)
            if _TOO_SMALL < z < np.inf:
                log_z[s] += np.log(z)
                _differentiate(
                    first, n, square, z, weight, of_stop, open_, part, closed, p_open, p_part, p_closed, p_arc, p_stop
                )
                continue
        log_z[s] = _logarithms(first, n, square, arc, stop, open_, part, closed, terms)
        if log_z[s] > -np.inf:
            _hand_down(
                first, n, square, log_z[s], arc, stop, open_, part, closed, p_open, p_part, p_closed, p_arc, p_stop
            )


@inner_kernel
def _weigh(first: int, n: int, square: int, arc: Floats, stop: Floats, weight: Floats, of_stop: Floats) -> float:
    """Weights relative to the largest of their kind, and the sum of logarithms of these; that of ROOT is at [m, m]."""
    n_valences, total = stop.shape[2], 0.0
    for m in range(n):
        top = -np.inf
        for h in range(n):
            for v in range(1 if h == m else n_valences):
                top = max(top, arc[square + h * n + m, v])
        if top == -np.inf:
            return -np.inf
        total += top
        for h in range(n):
            for v in range(n_valences):
                score = arc[square + h * n + m, v]
                weight[h, m, v] = np.exp(score - top) if score > -np.inf and (h != m or v == 0) else 0.0
        for d in range(2):
            top = -np.inf
            for v in range(n_valences):
                top = max(top, stop[first + m, d, v])
            if top == -np.inf:
                return -np.inf
            total += top
            for v in range(n_valences):
                of_stop[m, d, v] = np.exp(stop[first + m, d, v] - top)
    return total


@inner_kernel
def _products(n: int, weight: Floats, of_stop: Floats, open_: Floats, part: Floats, closed: Floats) -> float:
    n_valences = open_.shape[3]
    for length in range(n):
        for h in range(n):
            for d in range(2):
                side = 2 * d - 1
                m = h + side * length
                if m < 0 or m >= n:
                    continue
                for v in range(n_valences):
                    open_[d, h, length, v] = 1.0 if length == 0 and v == 0 else 0.0
                    part[d, h, length, v] = 0.0
                for v in range(min(n_valences, length)):
                    total = 0.0
                    if v == 0 and n_valences > 1:  # nothing nearer: the head alone
                        total = closed[1 - d, m, length - 1]
                    else:
                        for k in range(length):
                            total += open_[d, h, k, v] * closed[1 - d, m, length - 1 - k]
                    part[d, h, length, v] = weight[h, m, v] * total
                for v in range(n_valences if length > 0 else 0):
                    total = 0.0
                    for t in range(v + 1, length + 1):
                        total += part[d, h, t, v] * closed[d, h + side * t, length - t]
                    open_[d, h, length, min(v + 1, n_valences - 1)] += total
                total = 0.0
                for v in range(n_valences):
                    total += open_[d, h, length, v] * of_stop[h, d, v]
                closed[d, h, length] = total
    z = 0.0
    for r in range(n):
        z += weight[r, r, 0] * closed[LEFT, r, r] * closed[RIGHT, r, n - 1 - r]
    return z


@inner_kernel
def _differentiate(
    first: int, n: int, square: int, z: float, weight: Floats, of_stop: Floats, open_: Floats, part: Floats,
    closed: Floats, d_open: Floats, d_part: Floats, d_closed: Floats, p_arc: Floats, p_stop: Floats,
) -> None:  # fmt: skip
    n_valences = open_.shape[3]
    for d in range(2):
        for h in range(n):
            for length in range(n):
                d_closed[d, h, length] = 0.0
                for v in range(n_valences):
                    d_open[d, h, length, v], d_part[d, h, length, v] = 0.0, 0.0
    for r in range(n):
        left, right = closed[LEFT, r, r], closed[RIGHT, r, n - 1 - r]
        p_arc[square + r * n + r, 0] = weight[r, r, 0] * left * right / z
        d_closed[LEFT, r, r] += weight[r, r, 0] * right / z
        d_closed[RIGHT, r, n - 1 - r] += weight[r, r, 0] * left / z
    for length in range(n - 1, -1, -1):
        for h in range(n):
            for d in range(2):
                side = 2 * d - 1
                m = h + side * length
                if m < 0 or m >= n:
                    continue
                own = d_closed[d, h, length]
                if own > 0.0:
                    for v in range(n_valences):
                        d_open[d, h, length, v] += own * of_stop[h, d, v]
                        p_stop[first + h, d, v] += own * open_[d, h, length, v] * of_stop[h, d, v]
                for v in range(n_valences if length > 0 else 0):
                    own = d_open[d, h, length, min(v + 1, n_valences - 1)]
                    if own > 0.0:
                        for t in range(v + 1, length + 1):
                            d_part[d, h, t, v] += own * closed[d, h + side * t, length - t]
                            d_closed[d, h + side * t, length - t] += own * part[d, h, t, v]
                for v in range(min(n_valences, length)):
                    own = d_part[d, h, length, v]
                    p_arc[square + h * n + m, v] = own * part[d, h, length, v]
                    own *= weight[h, m, v]
                    if own > 0.0:
                        for k in range(1 if v == 0 and n_valences > 1 else length):
                            d_open[d, h, k, v] += own * closed[1 - d, m, length - 1 - k]
                            d_closed[1 - d, m, length - 1 - k] += own * open_[d, h, k, v]


@inner_kernel
def _logarithms(
    first: int, n: int, square: int, arc: Floats, stop: Floats, open_: Floats, part: Floats, closed: Floats,
    terms: Floats,
) -> float:  # fmt: skip
    n_valences = open_.shape[3]
    for length in range(n):
        for h in range(n):
            for d in range(2):
                m = h + (2 * d - 1) * length
                if m < 0 or m >= n:
                    continue
                for v in range(n_valences):
                    open_[d, h, length, v] = 0.0 if length == 0 and v == 0 else -np.inf
                    part[d, h, length, v] = -np.inf
                if length > 0:
                    _fill(d, h, length, m, arc, square + h * n + m, open_, part, closed, terms)
                top = -np.inf
                for v in range(n_valences):
                    terms[v] = open_[d, h, length, v] + stop[first + h, d, v]
                    top = max(top, terms[v])
                closed[d, h, length] = _log_sum(terms, n_valences, top)
    top = -np.inf
    for r in range(n):
        terms[r] = arc[square + r * n + r, 0] + closed[LEFT, r, r] + closed[RIGHT, r, n - 1 - r]
        top = max(top, terms[r])
    return _log_sum(terms, n, top)


@inner_kernel
def _hand_down(
    first: int, n: int, square: int, log_z: float, arc: Floats, stop: Floats, open_: Floats, part: Floats,
    closed: Floats, p_open: Floats, p_part: Floats, p_closed: Floats, p_arc: Floats, p_stop: Floats,
) -> None:  # fmt: skip
    n_valences = open_.shape[3]
    for d in range(2):
        for h in range(n):
            for length in range(n):
                p_closed[d, h, length] = 0.0
                for v in range(n_valences):
                    p_open[d, h, length, v], p_part[d, h, length, v] = 0.0, 0.0
    for r in range(n):
        p = np.exp(arc[square + r * n + r, 0] + closed[LEFT, r, r] + closed[RIGHT, r, n - 1 - r] - log_z)
        p_arc[square + r * n + r, 0] = p
        p_closed[LEFT, r, r] += p
        p_closed[RIGHT, r, n - 1 - r] += p
    for length in range(n - 1, -1, -1):
        for h in range(n):
            for d in range(2):
                m = h + (2 * d - 1) * length
                if m < 0 or m >= n:
                    continue
                whole = p_closed[d, h, length]
                if whole > 0.0:
                    for v in range(n_valences):
                        score = open_[d, h, length, v] + stop[first + h, d, v]
                        if score > -np.inf:
                            p = whole * np.exp(score - closed[d, h, length])
                            p_stop[first + h, d, v] += p
                            p_open[d, h, length, v] += p
                if length > 0:
                    _share(
                        d, h, length, m, arc, square + h * n + m, open_, part, closed, p_open, p_part, p_closed, p_arc
                    )


@inner_kernel
def _log_sum(terms: Floats, n: int, top: float) -> float:
    """The logarithm of the sum of exp of the first terms, the highest of which is given."""
    if n == 0 or top == -np.inf:
        return -np.inf
    if n == 1:
        return top
    mass = 0.0
    for i in range(n):
        mass += np.exp(terms[i] - top)
    return top + np.log(mass)


@inner_kernel
def _fill(
    d: int, h: int, length: int, m: int, arc: Floats, number: int, open_: Floats, part: Floats, closed: Floats,
    terms: Floats,
) -> None:  # fmt: skip
    """The items of a head that reach a word: with an arc to it, and all that end there."""
    n_valences, side = open_.shape[3], 2 * d - 1
    for v in range(min(n_valences, length)):  # between a head and a word there are length - 1 words to have before it
        if arc[number, v] == -np.inf:
            continue
        top, n = -np.inf, 0
        for k in range(length):
            score = open_[d, h, k, v] + closed[1 - d, m, length - 1 - k]
            if score > -np.inf:
                terms[n], top = score, max(top, score)
                n += 1
        part[d, h, length, v] = arc[number, v] + _log_sum(terms, n, top)
    for after in range(n_valences):
        top, n = -np.inf, 0
        for v in range(max(0, after - 1), n_valences):
            if min(v + 1, n_valences - 1) != after:
                break
            for t in range(1, length + 1):
                score = part[d, h, t, v] + closed[d, h + side * t, length - t]
                if score > -np.inf:
                    terms[n], top = score, max(top, score)
                    n += 1
        if n > 0:
            open_[d, h, length, after] = _log_sum(terms, n, top)


@inner_kernel
def _share(
    d: int, h: int, length: int, m: int, arc: Floats, number: int, open_: Floats, part: Floats, closed: Floats,
    p_open: Floats, p_part: Floats, p_closed: Floats, p_arc: Floats,
) -> None:  # fmt: skip
    """Hand the probabilities of these items down."""
    n_valences, side = open_.shape[3], 2 * d - 1
    for v in range(n_valences):
        after = min(v + 1, n_valences - 1)
        whole = p_open[d, h, length, after]
        if whole > 0.0:
            for t in range(1, length + 1):
                score = part[d, h, t, v] + closed[d, h + side * t, length - t]
                if score > -np.inf:
                    p = whole * np.exp(score - open_[d, h, length, after])
                    p_part[d, h, t, v] += p
                    p_closed[d, h + side * t, length - t] += p
    for v in range(n_valences):
        whole = p_part[d, h, length, v]
        if whole > 0.0:
            p_arc[number, v] = whole
            own = part[d, h, length, v] - arc[number, v]
            for k in range(length):
                score = open_[d, h, k, v] + closed[1 - d, m, length - 1 - k]
                if score > -np.inf:
                    p = whole * np.exp(score - own)
                    p_open[d, h, k, v] += p
                    p_closed[1 - d, m, length - 1 - k] += p

"""Sums over the paths of chains of candidates: log Z and the probabilities of slots and pairs.

    alpha_i(b) = w_i(b) sum_a alpha_{i-1}(a) e_i(a, b) / c_i        w_i(b) = exp(node_i(b) - max node_i),  e = exp(edge)
    beta_{i-1}(a) = sum_b e_i(a, b) w_i(b) beta_i(b) / c_i          log Z = sum_i log c_i + max node_i

with c_i such that every alpha_i sums to 1: one exponential per slot and pair. A sentence whose numbers leave the
range of floating point, because some scores are hundreds apart, is done again in logarithms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.kernel import kernel
from weft.ragged import Indices

#: Sums below and above these bounds are not trusted: they may have lost what was too small or too large beside them.
SMALL, LARGE = 1e-150, 1e150


def run_sums(
    node: Floats, edge: Floats, slots: Indices, pairs: Indices, offsets: Indices, weight: Floats
) -> tuple[Floats, Floats, Floats]:
    """log Z of every sentence, and the probabilities of slots and pairs times the weight of their sentence.

    >>> slots, pairs, offsets = np.array([0, 2, 3]), np.array([0, 0, 2]), np.array([0, 2])
    >>> total, slot, pair = run_sums(np.log([1.0, 3.0, 1.0]), np.zeros(2), slots, pairs, offsets, np.ones(1))
    >>> round(float(np.exp(total[0])), 4), slot.tolist(), pair.tolist()
    (4.0, [0.25, 0.75, 1.0], [0.25, 0.75])
    """
    total = np.zeros(len(offsets) - 1)
    node_out, edge_out = np.zeros(len(node)), np.zeros(len(edge))
    left = np.zeros(len(offsets) - 1, dtype=np.bool_)
    with np.errstate(over="ignore"):
        factor = np.exp(edge)
    _scaled(node, factor, slots, pairs, offsets, weight, total, node_out, edge_out, left)
    if left.any():
        _in_logarithms(node, edge, slots, pairs, offsets, weight, total, node_out, edge_out, left)
    return total, node_out, edge_out


@kernel
def _scaled(
    node: Floats, factor: Floats, slots: Indices, pairs: Indices, offsets: Indices, weight: Floats,
    total: Floats, node_out: Floats, edge_out: Floats, left: NDArray[np.bool_],
) -> None:  # fmt: skip
    alpha = np.zeros(len(node))
    own = np.zeros(len(node))
    scale = np.zeros(len(slots))
    widest = 1
    for i in range(len(slots) - 1):
        widest = max(widest, slots[i + 1] - slots[i])
    beta, behind = np.zeros(widest), np.zeros(widest)
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        log_z = 0.0
        for i in range(first, end):
            here, n = slots[i], slots[i + 1] - slots[i]
            top = -np.inf
            for b in range(n):
                top = max(top, node[here + b])
            for b in range(n):
                alpha[here + b] = 1.0 if i == first else 0.0
            if i > first:
                for a in range(slots[i - 1], here):
                    x = alpha[a]
                    if x > 0.0:
                        at = pairs[i] + (a - slots[i - 1]) * n
                        for b in range(n):
                            alpha[here + b] += x * factor[at + b]
            mass = 0.0
            for b in range(n):
                own[here + b] = np.exp(node[here + b] - top) if top > -np.inf else 0.0
                alpha[here + b] *= own[here + b]
                mass += alpha[here + b]
            if not (SMALL < mass < LARGE):
                left[s] = True
                break
            for b in range(n):
                alpha[here + b] /= mass
            scale[i] = mass
            log_z += top + np.log(mass)
        if left[s] or first == end:
            continue
        total[s] = log_z
        for b in range(slots[end] - slots[end - 1]):
            beta[b] = 1.0
        for i in range(end - 1, first - 1, -1):
            here, n = slots[i], slots[i + 1] - slots[i]
            for b in range(n):
                node_out[here + b] = weight[s] * alpha[here + b] * beta[b]
                behind[b] = own[here + b] * beta[b] / scale[i]
            if i > first:
                for a in range(slots[i - 1], here):
                    at = pairs[i] + (a - slots[i - 1]) * n
                    x = weight[s] * alpha[a]
                    mass = 0.0
                    for b in range(n):
                        y = factor[at + b] * behind[b]
                        mass += y
                        edge_out[at + b] = x * y
                    beta[a - slots[i - 1]] = mass
                    if not mass < LARGE:  # too large, or not a number where an infinite factor met a zero
                        left[s] = True


@kernel
def _in_logarithms(
    node: Floats, edge: Floats, slots: Indices, pairs: Indices, offsets: Indices, weight: Floats,
    total: Floats, node_out: Floats, edge_out: Floats, left: NDArray[np.bool_],
) -> None:  # fmt: skip
    alpha = node.copy()
    beta = np.zeros(len(node))
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        if first == end or not left[s]:
            continue
        for i in range(first + 1, end):
            before, here = slots[i - 1], slots[i]
            n = slots[i + 1] - here
            for b in range(n):
                top = -np.inf
                for a in range(here - before):
                    top = max(top, alpha[before + a] + edge[pairs[i] + a * n + b])
                mass = 0.0
                if top > -np.inf:
                    for a in range(here - before):
                        mass += np.exp(alpha[before + a] + edge[pairs[i] + a * n + b] - top)
                alpha[here + b] += top + np.log(mass) if mass > 0.0 else -np.inf
        for i in range(end - 1, first, -1):
            before, here = slots[i - 1], slots[i]
            n = slots[i + 1] - here
            for a in range(here - before):
                top = -np.inf
                for b in range(n):
                    top = max(top, edge[pairs[i] + a * n + b] + node[here + b] + beta[here + b])
                mass = 0.0
                if top > -np.inf:
                    for b in range(n):
                        mass += np.exp(edge[pairs[i] + a * n + b] + node[here + b] + beta[here + b] - top)
                beta[before + a] = top + np.log(mass) if mass > 0.0 else -np.inf
        top = -np.inf
        for b in range(slots[end - 1], slots[end]):
            top = max(top, alpha[b])
        if top == -np.inf:
            total[s] = -np.inf
            continue
        mass = 0.0
        for b in range(slots[end - 1], slots[end]):
            mass += np.exp(alpha[b] - top)
        log_z = top + np.log(mass)
        total[s] = log_z
        for b in range(slots[first], slots[end]):
            node_out[b] = weight[s] * np.exp(alpha[b] + beta[b] - log_z)
        for i in range(first + 1, end):
            before, here = slots[i - 1], slots[i]
            n = slots[i + 1] - here
            for a in range(here - before):
                for b in range(n):
                    p = pairs[i] + a * n + b
                    value = alpha[before + a] + edge[p] + node[here + b] + beta[here + b] - log_z
                    edge_out[p] = weight[s] * np.exp(value)

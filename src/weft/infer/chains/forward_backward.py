"""Sums over the paths of a chain, from the left and from the right.

    alpha_i(y) = exp node_i(y) * sum over y' of alpha_{i-1}(y') * exp edge_i(y', y)
    beta_{i-1}(y') = sum over y of exp edge_i(y', y) * exp node_i(y) * beta_i(y)
    p(y_i = y) = alpha_i(y) * beta_i(y) / Z
    p(y_{i-1} = y', y_i = y) = alpha_{i-1}(y') * exp edge_i(y', y) * v_i(y),   v_i(y) = exp node_i(y) * beta_i(y) / Z

The sums run on probabilities, alpha scaled to sum to one at each position and beta by the same factors, because that
needs one exponential per node score and none per edge. What underflows on the way is below exp(-700) of its position's
sum: harmless, unless the rest of the sentence makes up for it. A sentence where it might is done again on logarithms;
then its rows of alpha and v hold logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weft.arrays import Bools, Floats
from weft.infer.chains.edge_scores import Transitions
from weft.kernel import fast_kernel, inner_kernel, kernel
from weft.ragged import Indices

# All factors are at most one. A path lost from the left alone matters only where its scaled beta exceeds exp(660); one
# lost from both sides only where the sum itself falls by exp(-1300). LARGEST_BETA / SMALLEST_SCALE must be finite.
SMALLEST_SCALE = 1e-150
LARGEST_BETA = 1e130
LARGEST_FALL = -1300.0
LARGEST_RISE = 600.0
# Long sentences fall further and lose nothing: with factors above exp(-57), about 1e-25, no number falls from above
# SMALLEST_ALPHA to zero in one step, so that none is lost where none is seen below it.
MILD = 57.0
SMALLEST_ALPHA = 1e-250


@dataclass(frozen=True)
class Messages:
    """What both passes leave, one row per position; sentences that are not `scaled` hold logarithms in alpha and v."""

    alpha: Floats
    v: Floats
    node: Floats
    log_partition: Floats
    scaled: Bools


def run_messages(node: Floats, transitions: Transitions, offsets: Indices, weight: Floats) -> Messages:
    """Both passes. Node marginals come times the weight of their sentence.

    >>> once = Transitions(np.zeros((1, 2, 2)), shared=True)
    >>> run_messages(np.log([[1.0, 3.0]]), once, np.array([0, 1]), np.ones(1)).node
    array([[0.25, 0.75]])
    """
    done = _scaled_messages(node, transitions, offsets, weight, both=True)
    _repair(node, transitions, offsets, weight, done, np.zeros((0, 0, 0)))
    return done


def run_log_partition(node: Floats, transitions: Transitions, offsets: Indices) -> Floats:
    """log Z of every sentence; minus infinity where nothing is allowed.

    >>> run_log_partition(np.zeros((2, 3)), Transitions(np.zeros((1, 3, 3)), shared=True), np.array([0, 2])).round(4)
    array([2.1972])
    """
    weight = np.ones(len(offsets) - 1)
    done = _scaled_messages(node, transitions, offsets, weight, both=False)
    _repair(node, transitions, offsets, weight, done, np.zeros((0, 0, 0)))
    return done.log_partition


def run_marginals(
    node: Floats, transitions: Transitions, offsets: Indices, weight: Floats, shared: bool
) -> tuple[Floats, Floats, Floats]:
    """log Z, node marginals [N, L] and edge marginals, summed [1, L, L] where `shared`, else [N, L, L].

    >>> once = Transitions(np.zeros((1, 2, 2)), shared=True)
    >>> run_marginals(np.zeros((3, 2)), once, np.array([0, 3]), np.ones(1), shared=True)[2]
    array([[[0.5, 0.5],
            [0.5, 0.5]]])
    """
    done = _scaled_messages(node, transitions, offsets, weight, both=True)
    size, states = node.shape
    edge = np.zeros((1 if shared and transitions.shared else size, states, states))
    packed = transitions.forward
    _edge_sums(
        done.alpha, done.v, packed.source, packed.start, packed.stop, offsets, done.scaled, weight, edge, len(edge) > 1
    )
    edge *= transitions.exponential
    _repair(node, transitions, offsets, weight, done, edge)
    if shared and not transitions.shared:
        edge = edge.sum(axis=0, keepdims=True)
    return done.log_partition, done.node, edge


def _scaled_messages(node: Floats, transitions: Transitions, offsets: Indices, weight: Floats, both: bool) -> Messages:
    """Run the passes on probabilities and mark the sentences for which that is not safe."""
    top, low, factor = np.empty(len(node)), np.empty(len(node)), np.empty(node.shape)
    _shift(node, top, low, factor)
    np.exp(factor, out=factor)
    sentences = len(offsets) - 1
    done = Messages(
        np.empty(node.shape), np.empty(node.shape), np.empty(node.shape),
        np.empty(sentences), np.empty(sentences, dtype=np.bool_),
    )  # fmt: skip
    left, right = transitions.forward, transitions.backward
    _scaled_passes(
        factor, top, low, transitions.top, transitions.low, transitions.step,
        left.matrix, left.source, left.start, left.stop, right.matrix, right.source, right.start, right.stop,
        offsets, weight, both, done.alpha, done.v, done.node, done.log_partition, done.scaled,
    )  # fmt: skip
    return done


def _repair(
    node: Floats, transitions: Transitions, offsets: Indices, weight: Floats, done: Messages, edge: Floats
) -> None:
    """Do the sentences that are not safe on probabilities again on logarithms."""
    if not done.scaled.all():
        _log_passes(
            node, transitions.scores, transitions.step, *transitions.before, offsets, ~done.scaled, weight,
            done.alpha, done.v, done.node, done.log_partition, edge,
        )  # fmt: skip


@kernel
def _shift(node: Floats, top: Floats, low: Floats, out: Floats) -> None:
    """The highest score of each position, 0 where all are forbidden; the scores less that, and the lowest allowed."""
    states = node.shape[1]
    for i in range(len(node)):
        highest = node[i, 0]
        for y in range(1, states):
            highest = node[i, y] if node[i, y] > highest else highest
        top[i] = 0.0 if highest == -np.inf else highest
        lowest = 0.0
        for y in range(states):
            less = node[i, y] - top[i]
            out[i, y] = less
            lowest = less if less < lowest and less > -np.inf else lowest
        low[i] = lowest


@fast_kernel
def _times(x: Floats, matrix: Floats, source: Indices, start: Indices, stop: Indices, out: Floats) -> None:
    """out = x times a packed matrix."""
    out[:] = 0.0
    for group in range(len(start)):
        r = 4 * group
        x0, x1, x2, x3 = x[source[r]], x[source[r + 1]], x[source[r + 2]], x[source[r + 3]]
        a, b = start[group], stop[group]
        target = out[a:b]
        m0, m1, m2, m3 = matrix[r, a:b], matrix[r + 1, a:b], matrix[r + 2, a:b], matrix[r + 3, a:b]
        for y in range(b - a):
            target[y] += x0 * m0[y] + x1 * m1[y] + x2 * m2[y] + x3 * m3[y]


@fast_kernel
def _scaled_passes(
    factor: Floats, top: Floats, low: Floats, edge_top: Floats, edge_low: float, step: int,
    left: Floats, left_source: Indices, left_start: Indices, left_stop: Indices,
    right: Floats, right_source: Indices, right_start: Indices, right_stop: Indices,
    offsets: Indices, weight: Floats, both: bool,
    alpha: Floats, v: Floats, node: Floats, log_partition: Floats, scaled: Bools,
) -> None:  # fmt: skip
    states = factor.shape[1]
    sums = np.empty(max(left.shape[2], right.shape[2]))
    from_left, from_right = sums[: left.shape[2]], sums[: right.shape[2]]
    beta = np.empty(states)
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        total, fall = 0.0, 0.0
        safe, nothing_lost = True, edge_low > -MILD
        for i in range(first, end):
            scale = 0.0
            if i == first:
                for y in range(states):
                    alpha[i, y] = factor[i, y]
            else:
                _times(alpha[i - 1], left[i * step], left_source, left_start, left_stop, from_left)
                total += edge_top[i * step]
                for y in range(states):
                    alpha[i, y] = from_left[y] * factor[i, y]
            # A loop of its own: a loop that also writes is compiled twice, and which of the two, with its own order of
            # summation, is taken depends on how near arrays lie to each other in memory.
            for y in range(states):
                scale += alpha[i, y]
            if scale < SMALLEST_SCALE:
                safe = False
                break
            inverse = 1.0 / scale
            smallest = 1.0
            for y in range(states):
                share = alpha[i, y] * inverse
                alpha[i, y] = share
                smallest = min(smallest, share if share > 0.0 else 1.0)
                v[i, y] = factor[i, y] * inverse
            nothing_lost = nothing_lost and low[i] > -MILD and smallest > SMALLEST_ALPHA
            scale = np.log(scale)
            total += scale + top[i]
            fall += min(scale, 0.0)
        log_partition[s] = total
        safe = safe and (nothing_lost or fall > LARGEST_FALL)
        if safe and (both or not (nothing_lost or (end - first) * np.log(states) - fall < LARGEST_RISE)):
            beta[:] = 1.0
            for i in range(end - 1, first - 1, -1):
                for y in range(states):
                    node[i, y] = weight[s] * (alpha[i, y] * beta[y])
                    v[i, y] *= beta[y]
                if i > first:
                    _times(v[i], right[i * step], right_source, right_start, right_stop, from_right)
                    largest = 0.0
                    for r in range(states):
                        beta[left_source[r]] = from_right[r]
                        largest = max(largest, from_right[r])
                    if largest > LARGEST_BETA:
                        safe = False
                        break
        scaled[s] = safe


@fast_kernel
def _edge_sums(
    alpha: Floats, v: Floats, source: Indices, start: Indices, stop: Indices,
    offsets: Indices, scaled: Bools, weight: Floats, edge: Floats, apart: bool,
) -> None:  # fmt: skip
    """Add  weight * alpha_{i-1}(y') * v_i(y)  to edge[i] where positions stay apart, else to edge[0]."""
    states = alpha.shape[1]
    for s in range(len(offsets) - 1):
        if not scaled[s]:
            continue
        end = offsets[s + 1]
        i = offsets[s] + 1
        while i < end:
            ahead = 4 if end - i >= 4 and not apart else 1
            for r in range(states):
                row = source[r]
                a, b = start[r // 4], min(stop[r // 4], states)
                target = edge[i if apart else 0, row, a:b]
                x0 = weight[s] * alpha[i - 1, row]
                v0 = v[i, a:b]
                if ahead == 4:
                    x1, x2, x3 = weight[s] * alpha[i, row], weight[s] * alpha[i + 1, row], weight[s] * alpha[i + 2, row]
                    v1, v2, v3 = v[i + 1, a:b], v[i + 2, a:b], v[i + 3, a:b]
                    for y in range(b - a):
                        target[y] += x0 * v0[y] + x1 * v1[y] + x2 * v2[y] + x3 * v3[y]
                else:
                    for y in range(b - a):
                        target[y] += x0 * v0[y]
            i += ahead


@kernel
def _log_passes(
    node: Floats, edge: Floats, step: int, bounds: Indices, before: Indices,
    offsets: Indices, chosen: Bools, weight: Floats,
    alpha: Floats, v: Floats, node_marginals: Floats, log_partition: Floats, edge_marginals: Floats,
) -> None:  # fmt: skip
    """The same passes on logarithms for chosen sentences; edge marginals are added where there is room for them."""
    work = np.empty((3, node.shape[1]))
    for s in range(len(offsets) - 1):
        if chosen[s]:
            log_partition[s] = log_passes(
                node, edge, step, bounds, before, offsets[s], offsets[s + 1], weight[s],
                alpha, v, node_marginals, edge_marginals, work,
            )  # fmt: skip


@inner_kernel
def log_passes(
    node: Floats, edge: Floats, step: int, bounds: Indices, before: Indices, first: int, end: int, weight: float,
    alpha: Floats, v: Floats, node_marginals: Floats, edge_marginals: Floats, work: Floats,
) -> float:  # fmt: skip
    """Both passes over the sentence `first:end` on logarithms, for kernels; gives its log Z.

    States before[bounds[y]:bounds[y + 1]] may come before state y. `work[3, L]` is scratch space. Without room for edge
    marginals none are computed; one matrix gets their sum over positions.
    """
    states = node.shape[1]
    beta, top, total = work[0], work[1], work[2]
    for y in range(states):
        alpha[first, y] = node[first, y]
    for i in range(first + 1, end):
        edges = edge[i * step]
        for y in range(states):
            best, terms = -np.inf, 0.0
            for k in range(bounds[y], bounds[y + 1]):
                best = max(best, alpha[i - 1, before[k]] + edges[before[k], y])
            if best > -np.inf:
                for k in range(bounds[y], bounds[y + 1]):
                    terms += np.exp(alpha[i - 1, before[k]] + edges[before[k], y] - best)
                best += np.log(terms)
            alpha[i, y] = best + node[i, y]
    best, terms = -np.inf, 0.0
    for y in range(states):
        best = max(best, alpha[end - 1, y])
    if best == -np.inf:
        return best
    for y in range(states):
        terms += np.exp(alpha[end - 1, y] - best)
    log_z = best + np.log(terms)
    beta[:] = 0.0
    for i in range(end - 1, first - 1, -1):
        for y in range(states):
            v[i, y] = node[i, y] + beta[y] - log_z
            node_marginals[i, y] = weight * np.exp(alpha[i, y] + beta[y] - log_z)
        if i == first:
            break
        edges = edge[i * step]
        target = i if len(edge_marginals) > 1 else 0
        top[:] = -np.inf
        total[:] = 0.0
        for y in range(states):
            for k in range(bounds[y], bounds[y + 1]):
                b = before[k]
                top[b] = max(top[b], edges[b, y] + node[i, y] + beta[y])
                if len(edge_marginals) > 0:
                    pair = alpha[i - 1, b] + edges[b, y] + node[i, y] + beta[y]
                    edge_marginals[target, b, y] += weight * np.exp(pair - log_z)
        for y in range(states):
            for k in range(bounds[y], bounds[y + 1]):
                b = before[k]
                if top[b] > -np.inf:
                    total[b] += np.exp(edges[b, y] + node[i, y] + beta[y] - top[b])
        for y in range(states):
            beta[y] = top[y] + np.log(total[y]) if top[y] > -np.inf else -np.inf
    return log_z

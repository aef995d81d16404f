"""Samples of a chain's paths, and covariance of its parts with a linear function, both from the messages.

Paths are drawn from the right:  p(y_{i-1} = y' | y_i = y) is in proportion to  alpha_{i-1}(y') * exp edge_i(y', y).

For F(y) = sum over parts r of y of f(r):  Cov(1[r], F) = p(r) * (E[F | r] - E[F]).  With

    mu_i(y) = E[f of nodes up to i and of edges up to i | y_i = y]
    nu_i(y) = E[f of nodes after i and of edges after i | y_i = y]

E[F | y_i = y] = mu_i(y) + nu_i(y)  and  E[F | y_{i-1} = y', y_i = y] = mu_{i-1}(y') + f(y', y) + f(y) + nu_i(y).

Both are means, not sums over paths: they stay in the range of F, and need no scaling and no logarithms of their own.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Bools, Floats
from weft.infer.chains.edge_scores import Transitions
from weft.infer.chains.forward_backward import Messages
from weft.kernel import fast_kernel, kernel
from weft.ragged import Indices, States


def draw_paths(done: Messages, transitions: Transitions, offsets: Indices, uniform: Floats) -> States:
    """One path per row of `uniform` numbers, which hold one number per position.

    >>> from weft.infer.chains.forward_backward import run_messages
    >>> flat, offsets = Transitions(np.zeros((1, 2, 2)), shared=True), np.array([0, 2])
    >>> done = run_messages(np.log([[1.0, 3.0], [1.0, 1.0]]), flat, offsets, np.ones(1))
    >>> draw_paths(done, flat, offsets, np.array([[0.2, 0.2], [0.3, 0.9]])).tolist()
    [[0, 0], [1, 1]]
    """
    paths = np.zeros(uniform.shape, dtype=np.int32)
    _draw(
        done.alpha, transitions.scores, transitions.exponential, transitions.step, offsets, done.scaled, uniform, paths
    )
    return paths


def run_covariance(
    done: Messages, transitions: Transitions, offsets: Indices, weight: Floats, node: Floats, edge: Floats, shared: bool
) -> tuple[Floats, Floats]:
    """Covariance of nodes and of edges with the function f given by `node` [N, L] and `edge` [1 or N, L, L].

    >>> from weft.infer.chains.forward_backward import run_messages
    >>> flat, offsets = Transitions(np.zeros((1, 2, 2)), shared=True), np.array([0, 1])
    >>> done = run_messages(np.zeros((1, 2)), flat, offsets, np.ones(1))
    >>> run_covariance(done, flat, offsets, np.ones(1), np.array([[1.0, 0.0]]), np.zeros((1, 2, 2)), True)[0]
    array([[ 0.25, -0.25]])
    """
    size, states = node.shape
    of_node = np.zeros(node.shape)
    of_edge = np.zeros((1 if shared else size, states, states))
    dense = 2 * len(transitions.before[1]) >= states * states
    if shared and transitions.shared and dense and done.scaled.all() and not edge.any():
        matrix = np.ascontiguousarray(transitions.exponential[0])
        _node_covariance(done.alpha, done.v, done.node, matrix, offsets, weight, node, of_node, of_edge[0])
        of_edge *= transitions.exponential
        return of_node, of_edge
    _covariance(
        done.alpha, done.v, done.node, done.scaled, transitions.scores, transitions.exponential, transitions.step,
        *transitions.before, offsets, weight, node, edge, int(len(edge) > 1), of_node, of_edge, int(not shared),
    )  # fmt: skip
    return of_node, of_edge


@kernel
def _draw(
    alpha: Floats, edge: Floats, exponential: Floats, step: int,
    offsets: Indices, scaled: Bools, uniform: Floats, paths: States,
) -> None:  # fmt: skip
    states = alpha.shape[1]
    chance = np.empty(states)
    for s in range(len(offsets) - 1):
        for sample in range(len(uniform)):
            state = 0
            for i in range(offsets[s + 1] - 1, offsets[s] - 1, -1):
                last = i == offsets[s + 1] - 1
                if scaled[s]:
                    for y in range(states):
                        chance[y] = alpha[i, y] * (1.0 if last else exponential[(i + 1) * step, y, state])
                else:
                    for y in range(states):
                        chance[y] = alpha[i, y] + (0.0 if last else edge[(i + 1) * step, y, state])
                    top = chance.max()
                    for y in range(states):
                        chance[y] = np.exp(chance[y] - top)
                left = uniform[sample, i] * chance.sum()
                for y in range(states):
                    if chance[y] > 0.0:
                        state = y
                        left -= chance[y]
                        if left < 0.0:
                            break
                paths[sample, i] = state


@kernel
def _pairs(
    a: Floats, v: Floats, scaled: bool, edge: Floats, exponential: Floats, bounds: Indices, before: Indices, out: Floats
) -> None:
    """Edge marginals into one position, out[k] that of before[k] to the state y with bounds[y] <= k < bounds[y + 1]."""
    for y in range(len(v)):
        for k in range(bounds[y], bounds[y + 1]):
            b = before[k]
            if scaled:
                out[k] = a[b] * exponential[b, y] * v[y]
            else:
                out[k] = np.exp(a[b] + edge[b, y] + v[y])


@kernel
def _covariance(
    alpha: Floats, v: Floats, marginals: Floats, scaled: Bools,
    edge: Floats, exponential: Floats, step: int, bounds: Indices, before: Indices,
    offsets: Indices, weight: Floats, f_node: Floats, f_edge: Floats, f_step: int,
    of_node: Floats, of_edge: Floats, out_step: int,
) -> None:  # fmt: skip
    states = alpha.shape[1]
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    mu = np.empty((longest, states))
    nu, expected, mass = np.empty(states), np.empty(states), np.empty(states)
    pair = np.empty(len(before))
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        if first == end:
            continue
        mu[0] = f_node[first]
        for i in range(first + 1, end):
            _pairs(alpha[i - 1], v[i], scaled[s], edge[i * step], exponential[i * step], bounds, before, pair)
            for y in range(states):
                total, part = 0.0, 0.0
                for k in range(bounds[y], bounds[y + 1]):
                    total += pair[k]
                    part += pair[k] * (mu[i - first - 1, before[k]] + f_edge[i * f_step, before[k], y])
                mu[i - first, y] = f_node[i, y] + (part / total if total > 0.0 else 0.0)
        mean = 0.0
        for y in range(states):
            mean += marginals[end - 1, y] * mu[end - first - 1, y]
        nu[:] = 0.0
        for i in range(end - 1, first - 1, -1):
            for y in range(states):
                of_node[i, y] = weight[s] * marginals[i, y] * (mu[i - first, y] + nu[y] - mean)
            if i == first:
                break
            _pairs(alpha[i - 1], v[i], scaled[s], edge[i * step], exponential[i * step], bounds, before, pair)
            expected[:] = 0.0
            mass[:] = 0.0
            for y in range(states):
                for k in range(bounds[y], bounds[y + 1]):
                    b, p = before[k], pair[k]
                    after = f_edge[i * f_step, b, y] + f_node[i, y] + nu[y]
                    mass[b] += p
                    expected[b] += p * after
                    of_edge[i * out_step, b, y] += weight[s] * p * (mu[i - first - 1, b] + after - mean)
            for y in range(states):
                nu[y] = expected[y] / mass[y] if mass[y] > 0.0 else 0.0


@fast_kernel
def _node_covariance(
    alpha: Floats, v: Floats, marginals: Floats, matrix: Floats,
    offsets: Indices, weight: Floats, f_node: Floats, of_node: Floats, of_edge: Floats,
) -> None:  # fmt: skip
    """The same for functions of nodes alone, edges that all positions share, and messages that are probabilities.

    Then v cancels in mu and alpha in nu, and the sum over positions of edge covariances is `matrix` times a sum of
    products, which is what `of_edge` gets.
    """
    states = alpha.shape[1]
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    mu = np.empty((longest, states))
    nu, top, below, after = np.empty(states), np.empty(states), np.empty(states), np.empty(states)
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        if first == end:
            continue
        for y in range(states):
            mu[0, y] = f_node[first, y]
        for i in range(first + 1, end):
            top[:] = 0.0
            below[:] = 0.0
            for b in range(states):
                share = alpha[i - 1, b]
                part = share * mu[i - first - 1, b]
                row = matrix[b]
                for y in range(states):
                    top[y] += part * row[y]
                    below[y] += share * row[y]
            for y in range(states):
                mu[i - first, y] = f_node[i, y] + (top[y] / below[y] if below[y] > 0.0 else 0.0)
        mean = 0.0
        for y in range(states):
            mean += marginals[end - 1, y] * mu[end - first - 1, y]
        nu[:] = 0.0
        for i in range(end - 1, first - 1, -1):
            for y in range(states):
                of_node[i, y] = weight[s] * marginals[i, y] * (mu[i - first, y] + nu[y] - mean)
            if i == first:
                break
            into = v[i]
            for y in range(states):
                after[y] = into[y] * (f_node[i, y] + nu[y])
            for b in range(states):
                share = weight[s] * alpha[i - 1, b]
                gap = share * (mu[i - first - 1, b] - mean)
                row, target = matrix[b], of_edge[b]
                expected, mass = 0.0, 0.0
                for y in range(states):
                    expected += row[y] * after[y]
                    mass += row[y] * into[y]
                    target[y] += gap * into[y] + share * after[y]
                nu[b] = expected / mass if mass > 0.0 else 0.0

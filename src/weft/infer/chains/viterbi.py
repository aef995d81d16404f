"""Best paths of a chain.

    delta_i(y) = node_i(y) + max over y' of delta_{i-1}(y') + edge_i(y', y)

The way back is found from the delta rows alone: only the states on the best path ever ask where they came from. The k
best paths keep k numbers per state. Among equals the path with the lower last state wins, then the lower one before it.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats
from weft.infer.chains.edge_scores import Transitions
from weft.kernel import kernel
from weft.ragged import Indices, States


def run_best(node: Floats, transitions: Transitions, offsets: Indices) -> tuple[States, Floats]:
    """The best path of every sentence and its score, minus infinity where nothing is allowed.

    >>> stay = np.array([[[1.0, 0.0], [0.0, 1.0]]])
    >>> path, score = run_best(np.array([[0.0, 0.5], [0.4, 0.0]]), Transitions(stay, shared=True), np.array([0, 2]))
    >>> path.tolist(), score.tolist()
    ([1, 1], [1.5])
    """
    path = np.zeros(len(node), dtype=np.int32)
    score = np.zeros(len(offsets) - 1)
    packed = transitions.maximum
    best_paths(node, packed.matrix, packed.source, packed.start, packed.stop, transitions.step, offsets, path, score)
    return path, score


def run_kbest(node: Floats, transitions: Transitions, offsets: Indices, k: int) -> tuple[States, Floats, Indices]:
    """The k best paths as [k, N], their scores [k, S], and how many of them every sentence has.

    >>> flat = Transitions(np.zeros((1, 2, 2)), shared=True)
    >>> paths, scores, count = run_kbest(np.array([[0.0, 3.0], [1.0, 0.0]]), flat, np.array([0, 2]), 3)
    >>> paths.tolist(), scores.ravel().tolist(), count.tolist()
    ([[1, 0], [1, 1], [0, 0]], [4.0, 3.0, 1.0], [3])
    """
    paths = np.zeros((k, len(node)), dtype=np.int32)
    scores = np.full((k, len(offsets) - 1), -np.inf)
    count = np.zeros(len(offsets) - 1, dtype=np.int64)
    _kbest(node, transitions.scores, transitions.step, *transitions.before, offsets, k, paths, scores, count)
    return paths, scores, count


@kernel
def best_paths(
    node: Floats, matrix: Floats, source: Indices, start: Indices, stop: Indices, step: int,
    offsets: Indices, path: States, score: Floats,
) -> None:  # fmt: skip
    """The best path of every sentence and its score, for kernels; transitions are those of `Packed`."""
    states = node.shape[1]
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    delta = np.empty((longest, states))
    row = np.empty(matrix.shape[2])
    for s in range(len(offsets) - 1):
        first = offsets[s]
        length = offsets[s + 1] - first
        if length == 0:
            continue
        for y in range(states):  # assigning the row would compile Numba's code for messages about shapes
            delta[0, y] = node[first, y]
        for i in range(1, length):
            before = delta[i - 1]
            edges = matrix[(first + i) * step]
            row[:] = -np.inf
            for group in range(len(start)):
                r = 4 * group
                x0, x1 = before[source[r]], before[source[r + 1]]
                x2, x3 = before[source[r + 2]], before[source[r + 3]]
                a, b = start[group], stop[group]
                target = row[a:b]
                m0, m1, m2, m3 = edges[r, a:b], edges[r + 1, a:b], edges[r + 2, a:b], edges[r + 3, a:b]
                for y in range(b - a):
                    t0, t1, t2, t3 = x0 + m0[y], x1 + m1[y], x2 + m2[y], x3 + m3[y]
                    t0 = t0 if t0 > t1 else t1
                    t2 = t2 if t2 > t3 else t3
                    t0 = t0 if t0 > t2 else t2
                    target[y] = t0 if t0 > target[y] else target[y]
            for y in range(states):
                delta[i, y] = row[y] + node[first + i, y]
        state = 0
        for y in range(states):
            if delta[length - 1, y] > delta[length - 1, state]:
                state = y
        score[s] = delta[length - 1, state]
        path[first + length - 1] = state
        for i in range(length - 1, 0, -1):
            top, came_from = -np.inf, 0
            for r in range(states):
                y = source[r]
                total = delta[i - 1, y] + matrix[(first + i) * step, r, state]
                if total > top or (total == top and y < came_from):
                    top, came_from = total, y
            state = came_from
            path[first + i - 1] = state


@kernel
def _kbest(
    node: Floats, edge: Floats, step: int, bounds: Indices, before: Indices,
    offsets: Indices, k: int, paths: States, scores: Floats, count: Indices,
) -> None:  # fmt: skip
    """k-lists of every state; states before[bounds[y]:bounds[y + 1]] may come before state y."""
    states = node.shape[1]
    longest = 0
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    delta = np.empty((longest, states, k))
    state_before = np.zeros((longest, states, k), dtype=np.int32)
    rank_before = np.zeros((longest, states, k), dtype=np.int32)
    taken = np.zeros(states, dtype=np.int64)
    for s in range(len(offsets) - 1):
        first = offsets[s]
        length = offsets[s + 1] - first
        if length == 0:
            scores[0, s] = 0.0
            count[s] = 1
            continue
        delta[:length] = -np.inf
        delta[0, :, 0] = node[first]
        for i in range(1, length):
            for y in range(states):
                if node[first + i, y] == -np.inf:
                    continue
                taken[:] = 0
                for rank in range(k):
                    top, came_from = -np.inf, -1
                    for b in before[bounds[y] : bounds[y + 1]]:
                        if taken[b] < k:
                            total = delta[i - 1, b, taken[b]] + edge[(first + i) * step, b, y]
                            if total > top:
                                top, came_from = total, b
                    if came_from < 0:
                        break
                    delta[i, y, rank] = top + node[first + i, y]
                    state_before[i, y, rank] = came_from
                    rank_before[i, y, rank] = taken[came_from]
                    taken[came_from] += 1
        taken[:] = 0
        for rank in range(k):
            top, state = -np.inf, -1
            for y in range(states):
                if taken[y] < k and delta[length - 1, y, taken[y]] > top:
                    top, state = delta[length - 1, y, taken[y]], y
            if state < 0:
                break
            scores[rank, s] = top
            count[s] += 1
            y, r = state, taken[state]
            for i in range(length - 1, -1, -1):
                paths[rank, first + i] = y
                y, r = state_before[i, y, r], rank_before[i, y, r]
            taken[state] += 1

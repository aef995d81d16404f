"""Best paths of chains whose labels depend on the two before, each position with its own list of labels.

    best  max over paths of  sum_i  node_i(y_i) + transitions(y_i-2, y_i-1, y_i)  +  transitions(y_n-1, y_n, edge)

Two edges stand before a sentence and one after it; their label is `transitions.shape[0] - 1`. The table
    B(i, b, c) = node_i(c) + max over a of  B(i-1, a, b) + transitions(a, b, c)
is over the labels that the lists allow: O(sum_i of the product of the lengths of three neighbouring lists).
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import InferenceError
from weft.kernel import kernel


def best_trigrams(labels: Ints, node: Floats, slots: Ints, offsets: Ints, transitions: Floats) -> tuple[Ints, Floats]:
    """The best label of every position, and the score of every sentence.

    Position i may have the labels `labels[slots[i]:slots[i + 1]]`, which score `node` in the same places; sentence s is
    the positions `offsets[s]:offsets[s + 1]`; `transitions[a, b, c]` scores c behind a and b.

    >>> transitions = np.zeros((3, 3, 3))
    >>> transitions[2, 0, 1] = 5.0  # label 1 behind 0 at the beginning
    >>> labels, slots = np.array([0, 1, 0, 1]), np.array([0, 2, 4])
    >>> path, score = best_trigrams(labels, np.array([0.0, 1.0, 0.0, 0.0]), slots, np.array([0, 2]), transitions)
    >>> path.tolist(), score.tolist()
    ([0, 1], [5.0])
    """
    if len(labels) != len(node) or len(node) != slots[-1] or offsets[-1] != len(slots) - 1:
        raise InferenceError(
            f"{len(labels)} labels, {len(node)} scores, {slots[-1]} slots of {len(slots) - 1} positions, of which the "
            f"sentences have {offsets[-1]}: they do not fit together"
        )
    if len(labels) and (np.diff(slots) < 1).any():
        raise InferenceError(f"position {int(np.argmin(np.diff(slots)))} may have no label at all")
    path = np.zeros(len(slots) - 1, dtype=np.int64)
    score = np.zeros(len(offsets) - 1)
    _best(labels, node, slots, offsets, transitions, path, score)
    return path, score


@kernel
def _best(
    labels: Ints, node: Floats, slots: Ints, offsets: Ints, transitions: Floats, path: Ints, score: Floats
) -> None:
    edge = transitions.shape[0] - 1
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        if first == end:
            score[s] = transitions[edge, edge, edge]
            continue
        widest = 1
        for i in range(first, end):
            widest = max(widest, slots[i + 1] - slots[i])
        back = np.zeros((end - first, widest, widest), dtype=np.int32)  # of a and b's pair at i: the label two before
        before = np.full((widest, widest), -np.inf)
        here = np.full((widest, widest), -np.inf)
        for c in range(slots[first + 1] - slots[first]):
            before[0, c] = node[slots[first] + c] + transitions[edge, edge, labels[slots[first] + c]]
        for i in range(first + 1, end):
            n_a = slots[i - 1] - slots[i - 2] if i > first + 1 else 1
            n_b, n_c = slots[i] - slots[i - 1], slots[i + 1] - slots[i]
            for b in range(n_b):
                for c in range(n_c):
                    best, at = -np.inf, 0
                    for a in range(n_a):
                        two = labels[slots[i - 2] + a] if i > first + 1 else edge
                        found = before[a, b] + transitions[two, labels[slots[i - 1] + b], labels[slots[i] + c]]
                        if found > best:
                            best, at = found, a
                    here[b, c] = best + node[slots[i] + c]
                    back[i - first, b, c] = at
            before, here = here, before
        last = end - 1
        n_b = slots[last] - slots[last - 1] if last > first else 1
        best, b, c = -np.inf, 0, 0
        for p in range(n_b):
            for q in range(slots[last + 1] - slots[last]):
                one = labels[slots[last - 1] + p] if last > first else edge
                found = before[p, q] + transitions[one, labels[slots[last] + q], edge]
                if found > best:
                    best, b, c = found, p, q
        score[s] = best
        for i in range(last, first - 1, -1):
            path[i] = labels[slots[i] + c]
            b, c = back[i - first, b, c], b

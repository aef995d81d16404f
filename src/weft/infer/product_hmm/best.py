"""The best picks and states of a product of hidden Markov models.

    delta_t = log E_t + max over previous states of (log A_1 + ... + log A_L + log G_t + ... + log G_t + delta_{t-1})

The maximum goes through one factor after the other, as the sums do. Only delta is kept: the way back asks, for the one
state that was chosen, which state before it reaches it best.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats, Ints
from weft.infer.product_hmm.sums import Packed, emission
from weft.kernel import kernel


def best(packed: Packed) -> tuple[float, Ints, Ints]:
    """The best score, picks [t, p] and states [t, l]."""
    frames = len(packed.unary)
    path = np.zeros(frames, dtype=np.int64)
    with np.errstate(divide="ignore"):
        logs = packed._replace(
            pair=np.log(packed.pair), initial=np.log(packed.initial), transitions=np.log(packed.transitions)
        )
    score = _search(logs, np.zeros((frames, packed.size)), np.zeros((3, packed.size)), path)
    joint, tuples = np.divmod(path, packed.shape[2])
    states = np.zeros((frames, len(packed.states)), dtype=np.int64)
    for h, number in enumerate(packed.hidden.tolist()):
        states[:, number] = packed.hidden_digits[h, joint]
    picks: Ints = packed.digits[:, tuples].T.astype(np.int64)
    return float(score) + packed.offset, picks, states


@kernel
def _raise(source: Floats, before: int, n: int, after: int, matrix: Floats, target: Floats) -> None:
    """target[a, k, c] = max over i of matrix[i, k] + source[a, i, c]."""
    for a in range(before):
        base = a * n * after
        for k in range(n * after):
            target[base + k] = -np.inf
        for i in range(n):
            for k in range(n):
                weight = matrix[i, k]
                if weight > -np.inf:
                    for c in range(after):
                        value = weight + source[base + i * after + c]
                        if value > target[base + k * after + c]:
                            target[base + k * after + c] = value


@kernel
def _search(packed: Packed, deltas: Floats, spare: Floats, path: Ints) -> float:
    """The score of the best path; pair scores, initial and transition probabilities are logarithms here."""
    frames, width, participants = len(packed.unary), packed.shape[0], packed.shape[1]
    tuples, joint = packed.shape[2], packed.shape[3]
    size, hidden = tuples * joint, packed.hidden
    one, other, emitted = spare[0], spare[1], spare[2]
    for t in range(frames):
        emission(t, packed, emitted)
        for s in range(size):
            one[s] = packed.initial[s // tuples] if t == 0 else deltas[t - 1, s]
        if t > 0:
            before, after = joint, tuples
            for _ in range(participants):
                after //= width
                _raise(one, before, width, after, packed.pair[t - 1], other)
                one, other = other, one
                before *= width
            before, after = 1, size
            for h in range(len(hidden)):
                n = packed.states[hidden[h]]
                after //= n
                _raise(one, before, n, after, packed.transitions[h], other)
                one, other = other, one
                before *= n
        for s in range(size):
            deltas[t, s] = one[s] + (np.log(emitted[s]) if emitted[s] > 0.0 else -np.inf)
    path[frames - 1] = np.argmax(deltas[frames - 1])
    for t in range(frames - 1, 0, -1):
        reached, top = path[t], -np.inf
        for s in range(size):
            value = deltas[t - 1, s]
            if value == -np.inf:
                continue
            for p in range(participants):
                value += packed.pair[t - 1, packed.digits[p, s % tuples], packed.digits[p, reached % tuples]]
            for h in range(len(hidden)):
                own = packed.hidden_digits[h]
                value += packed.transitions[h, own[s // tuples], own[reached // tuples]]
            if value > top:
                top, path[t - 1] = value, s
    return float(deltas[frames - 1, path[frames - 1]])

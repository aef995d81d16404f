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
    frames, size = len(packed.unary), packed.size
    deltas, path = np.zeros((frames, size)), np.zeros(frames, dtype=np.int64)
    with np.errstate(divide="ignore"):
        pair, initial, transitions = np.log(packed.pair), np.log(packed.initial), np.log(packed.transitions)
    score = _search(*packed[:1], pair, *packed[2:13], initial, transitions, deltas, np.zeros((3, size)), path)
    joint, tuples = np.divmod(path, packed.shape[2])
    states = np.zeros((frames, len(packed.states)), dtype=np.int64)
    for h, number in enumerate(packed.hidden.tolist()):
        states[:, number] = packed.hidden_digits[h, joint]
    picks: Ints = packed.digits[:, tuples].T.astype(np.int64)
    return float(score) + packed.offset, picks, states


@kernel
def _raise(source, before, n, after, matrix, target):
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
def _search(
    unary, pair, offset, shape, allowed, digits, codes, states, hidden, hidden_digits, outputs, starts, widths,
    initial, transitions, deltas, spare, path,
):  # fmt: skip
    frames, width, participants, tuples, joint = len(unary), shape[0], shape[1], shape[2], shape[3]
    size = tuples * joint
    one, other, emitted = spare[0], spare[1], spare[2]
    for t in range(frames):
        emission(t, unary, shape, allowed, digits, codes, states, hidden_digits, outputs, starts, widths, emitted)
        if t == 0:
            for q in range(joint):
                for n in range(tuples):
                    one[q * tuples + n] = initial[q]
        else:
            for s in range(size):
                one[s] = deltas[t - 1, s]
            before, after = joint, tuples
            for _ in range(participants):
                after //= width
                _raise(one, before, width, after, pair[t - 1], other)
                one, other = other, one
                before *= width
            before, after = 1, size
            for h in range(len(hidden)):
                n = states[hidden[h]]
                after //= n
                _raise(one, before, n, after, transitions[h], other)
                one, other = other, one
                before *= n
        for s in range(size):
            deltas[t, s] = one[s] + (np.log(emitted[s]) if emitted[s] > 0.0 else -np.inf)
    path[frames - 1] = np.argmax(deltas[frames - 1])
    for t in range(frames - 1, 0, -1):
        reached = path[t]
        top = -np.inf
        for s in range(size):
            value = deltas[t - 1, s]
            if value == -np.inf:
                continue
            for p in range(participants):
                value += pair[t - 1, digits[p, s % tuples], digits[p, reached % tuples]]
            for h in range(len(hidden)):
                value += transitions[h, hidden_digits[h, s // tuples], hidden_digits[h, reached // tuples]]
            if value > top:
                top = value
                path[t - 1] = s
    return deltas[frames - 1, path[frames - 1]]

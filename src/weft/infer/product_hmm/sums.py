"""Forward and backward sums over a product of hidden Markov models, one factor of the transitions at a time.

    alpha_t = E_t * (A_1 x ... x A_L x G_t x ... x G_t) alpha_{t-1}        E_t: what detections and words score in t

States are laid out with words first and participants last, [q_1, .., q_L, j_1, .., j_P], so that the inner loops run
over neighbouring numbers. Words with one state are weights of picks and no part of the states. Alpha is scaled to sum
to one in every frame. If only every n-th alpha is kept, the frames between are computed again on the way back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.kernel import fast_kernel, kernel


class Packed(NamedTuple):
    """A lattice as the kernels see it."""

    unary: Floats  #: [t, j], exp of the score minus the largest of the frame
    pair: Floats  #: [t, i, j], exp of the score minus the largest of the step
    offset: float  #: what was subtracted, summed over frames and participants
    shape: Ints  #: J, P, N = J^P, Q = product of the states of hidden words
    allowed: Floats  #: [n], 1 for picks that may be, 0 for two participants on one detection
    digits: Ids  #: [p, n], the pick of participant p in tuple n
    codes: Ids  #: [l, n], what word l sees of tuple n: the digits of its participants
    states: Ints  #: [l], states of every word
    hidden: Ints  #: numbers of the words with several states
    hidden_digits: Ids  #: [h, q], the state of hidden word h in joint state q
    outputs: Floats  #: outputs of all words, one after the other
    starts: Ints  #: [l], where the outputs of word l start
    widths: Ints  #: [l], J ** arity
    initial: Floats  #: [q], of the joint states of hidden words
    transitions: Floats  #: [h, i, k]

    @property
    def size(self) -> int:
        """The number of states of a frame."""
        return int(self.shape[2] * self.shape[3])


def pack(
    unary: Floats, pair: Floats, participants: int, watched: Sequence[tuple[int, ...]],
    models: Sequence[tuple[Floats, Floats, Floats]], exclusive: bool,
) -> Packed:  # fmt: skip
    """Lay out a lattice for the kernels."""
    frames, width = unary.shape
    digits = np.indices((width,) * participants).reshape(participants, -1).astype(np.int32)
    allowed = np.ones(digits.shape[1])
    if exclusive:
        for p in range(participants):
            for other in range(p):
                allowed[digits[p] == digits[other]] = 0.0
    codes = np.zeros((len(watched), digits.shape[1]), dtype=np.int32)
    for number, own in enumerate(watched):
        for p in own:
            codes[number] = codes[number] * width + digits[p]
    states = np.array([len(initial) for initial, _, _ in models], dtype=np.int64)
    hidden = np.flatnonzero(states > 1)
    joint = math.prod(states[hidden].tolist())
    hidden_digits = np.indices(tuple(states[hidden])).reshape(len(hidden), joint).astype(np.int32)
    first = np.ones(joint)
    most = int(states.max(initial=1))
    transitions = np.zeros((len(hidden), most, most))
    for h, number in enumerate(hidden.tolist()):
        initial, transition, _ = models[number]
        first *= initial[hidden_digits[h]]
        transitions[h, : len(initial), : len(initial)] = transition
    # A word with one state starts and stays in it with its own weights, which need not be one.
    for number in np.flatnonzero(states == 1).tolist():
        first *= float(models[number][0][0]) * float(models[number][1][0, 0]) ** (frames - 1)
    flat = [np.asarray(outputs, dtype=np.float64).ravel() for _, _, outputs in models]
    starts = np.cumsum([0, *(len(each) for each in flat)], dtype=np.int64)[:-1]
    top = _finite(unary.max(axis=1, initial=-np.inf))
    steps = _finite(pair.max(axis=(1, 2), initial=-np.inf))
    return Packed(
        np.exp(unary - top[:, None]), np.exp(pair - steps[:, None, None]),
        participants * float(top.sum() + steps.sum()),
        np.array([width, participants, digits.shape[1], joint], dtype=np.int64),
        allowed, digits, codes, states, hidden.astype(np.int64), hidden_digits,
        np.concatenate(flat) if flat else np.zeros(0), starts,
        np.array([width ** len(own) for own in watched], dtype=np.int64), first, transitions,
    )  # fmt: skip


def _finite(values: Floats) -> Floats:
    found: Floats = np.where(np.isfinite(values), values, 0.0)
    return found


def log_partition(packed: Packed) -> float:
    """The logarithm of the sum over all paths."""
    size = packed.size
    total = _run_forward(*packed, np.zeros((1, size)), np.zeros((3, size)))
    return total + packed.offset if total > -math.inf else -math.inf


def expected(packed: Packed, every: int) -> tuple[float, Floats, list[Floats], list[Floats]]:
    """The logarithm of the sum, and expected picks, outputs and transitions; every n-th alpha is kept."""
    frames, (width, participants, _, _) = len(packed.unary), packed.shape.tolist()
    blocks = math.ceil(frames / every)
    size = packed.size
    most = packed.transitions.shape[1]
    picks = np.zeros((frames, participants, width))
    outputs, transitions = np.zeros(len(packed.outputs)), np.zeros((len(packed.hidden), most, most))
    total = _run_both(
        *packed, np.zeros((blocks, size)), np.zeros((every, size)), np.zeros((5, size)),
        np.zeros((most, most)), picks, outputs, transitions,
    )  # fmt: skip
    ends = np.append(packed.starts, len(packed.outputs)).tolist()
    states = packed.states.tolist()
    found = [
        outputs[ends[i] : ends[i + 1]].reshape(frames, int(packed.widths[i]), states[i]) for i in range(len(states))
    ]
    moves = [np.full((1, 1), float(frames - 1)) for _ in states]
    for h, number in enumerate(packed.hidden.tolist()):
        moves[number] = transitions[h, : states[number], : states[number]].copy()
    return (total + packed.offset if total > -math.inf else -math.inf), picks, found, moves


@fast_kernel
def push(source: Floats, before: int, n: int, after: int, matrix: Floats, turned: bool, target: Floats) -> None:
    """target[a, k, c] = sum over i of matrix[i, k] * source[a, i, c]; with `turned`, of matrix[k, i]."""
    for a in range(before):
        base = a * n * after
        for k in range(n * after):
            target[base + k] = 0.0
        for i in range(n):
            for k in range(n):
                weight = matrix[k, i] if turned else matrix[i, k]
                if weight != 0.0:
                    for c in range(after):
                        target[base + k * after + c] += weight * source[base + i * after + c]


@kernel
def _step(source, pair, shape, states, hidden, transitions, turned, left_out, picks, words, spare, target):
    """Apply the transitions of participants (`picks`), and of all hidden words but one (`words`)."""
    width, participants, tuples, joint = shape[0], shape[1], shape[2], shape[3]
    for s in range(tuples * joint):
        target[s] = source[s]
    if picks:
        before, after = joint, tuples
        for _ in range(participants):
            after //= width
            push(target, before, width, after, pair, turned, spare)
            for s in range(tuples * joint):
                target[s] = spare[s]
            before *= width
    if words:
        before, after = 1, joint * tuples
        for h in range(len(hidden)):
            n = states[hidden[h]]
            after //= n
            if h != left_out:
                push(target, before, n, after, transitions[h], turned, spare)
                for s in range(tuples * joint):
                    target[s] = spare[s]
            before *= n


@kernel
def emission(t, unary, shape, allowed, digits, codes, states, hidden_digits, outputs, starts, widths, target):
    """What detections and words score in a frame, for all states."""
    participants, tuples, joint = shape[1], shape[2], shape[3]
    for n in range(tuples):
        weight = allowed[n]
        if weight > 0.0:
            for p in range(participants):
                weight *= unary[t, digits[p, n]]
            for w in range(len(states)):
                if states[w] == 1:
                    weight *= outputs[starts[w] + t * widths[w] + codes[w, n]]
        target[n] = weight
    for q in range(joint - 1, -1, -1):
        base = q * tuples
        for n in range(tuples):
            target[base + n] = target[n]
        h = 0
        for w in range(len(states)):
            if states[w] > 1:
                start = starts[w] + t * widths[w] * states[w] + hidden_digits[h, q]
                for n in range(tuples):
                    target[base + n] *= outputs[start + codes[w, n] * states[w]]
                h += 1


@kernel
def _scale(alpha):
    """Scale to a sum of one; return the sum."""
    total = 0.0
    for s in range(len(alpha)):
        total += alpha[s]
    if total > 0.0:
        for s in range(len(alpha)):
            alpha[s] /= total
    return total


@kernel
def _forward_frame(
    t, unary, pair, shape, allowed, digits, codes, states, hidden, hidden_digits, outputs, starts, widths, initial,
    transitions, previous, current, spare, emitted,
):  # fmt: skip
    """Alpha of a frame out of that of the frame before; return its scale."""
    emission(t, unary, shape, allowed, digits, codes, states, hidden_digits, outputs, starts, widths, emitted)
    tuples, joint = shape[2], shape[3]
    if t == 0:
        for q in range(joint):
            for n in range(tuples):
                current[q * tuples + n] = initial[q]
    else:
        _step(previous, pair[t - 1], shape, states, hidden, transitions, False, -1, True, True, spare, current)
    for s in range(tuples * joint):
        current[s] *= emitted[s]
    return _scale(current)


@kernel
def _run_forward(
    unary, pair, offset, shape, allowed, digits, codes, states, hidden, hidden_digits, outputs, starts, widths,
    initial, transitions, alpha, spare,
):  # fmt: skip
    """The logarithm of the sum over all paths, without the offset."""
    total = 0.0
    for t in range(len(unary)):
        scale = _forward_frame(
            t, unary, pair, shape, allowed, digits, codes, states, hidden, hidden_digits, outputs, starts, widths,
            initial, transitions, alpha[0], spare[0], spare[1], spare[2],
        )  # fmt: skip
        if not scale > 0.0:
            return -np.inf
        total += np.log(scale)
        for s in range(len(spare[0])):
            alpha[0, s] = spare[0, s]
    return total


@kernel
def _count(t, posterior, shape, digits, codes, states, hidden_digits, starts, widths, both, picks, outputs):
    """Add the posterior of a frame to the picks and to the outputs of all words."""
    participants, tuples, joint = shape[1], shape[2], shape[3]
    for n in range(tuples):
        both[n] = 0.0
    for q in range(joint):
        for n in range(tuples):
            both[n] += posterior[q * tuples + n]
    for n in range(tuples):
        if both[n] > 0.0:
            for p in range(participants):
                picks[t, p, digits[p, n]] += both[n]
    h = 0
    for w in range(len(states)):
        start = starts[w] + t * widths[w] * states[w]
        if states[w] == 1:
            for n in range(tuples):
                outputs[start + codes[w, n]] += both[n]
        else:
            for q in range(joint):
                for n in range(tuples):
                    outputs[start + codes[w, n] * states[w] + hidden_digits[h, q]] += posterior[q * tuples + n]
            h += 1


@kernel
def _count_transitions(
    source, target, pair, shape, states, hidden, transitions, pushed, part, spare, joint_counts, counts
):  # fmt: skip
    """Add how often every hidden word takes each transition, given alpha before and emission times beta after."""
    tuples, joint = shape[2], shape[3]
    _step(source, pair, shape, states, hidden, transitions, False, -1, True, False, spare, pushed)
    before, after = 1, joint * tuples
    for h in range(len(hidden)):
        n = states[hidden[h]]
        after //= n
        _step(pushed, pair, shape, states, hidden, transitions, False, h, False, True, spare, part)
        total = 0.0
        for i in range(n):
            for k in range(n):
                value = 0.0
                if transitions[h, i, k] > 0.0:
                    for a in range(before):
                        left, right = (a * n + i) * after, (a * n + k) * after
                        for c in range(after):
                            value += part[left + c] * target[right + c]
                joint_counts[i, k] = value * transitions[h, i, k]
                total += joint_counts[i, k]
        for i in range(n):
            for k in range(n):
                counts[h, i, k] += joint_counts[i, k] / total
        before *= n


@kernel
def _run_both(
    unary, pair, offset, shape, allowed, digits, codes, states, hidden, hidden_digits, outputs, starts, widths,
    initial, transitions, kept, block, spare, joint_counts, picks, expected_outputs, expected_transitions,
):  # fmt: skip
    """Expected counts; `kept` holds the last alpha before every block of frames, `block` those of one block."""
    frames, every, size = len(unary), len(block), len(spare[0])
    total = 0.0
    for t in range(frames):
        place = t % every
        if place == 0 and t > 0:
            for s in range(size):
                kept[t // every, s] = block[every - 1, s]
        scale = _forward_frame(
            t, unary, pair, shape, allowed, digits, codes, states, hidden, hidden_digits, outputs, starts, widths,
            initial, transitions, kept[t // every] if place == 0 else block[place - 1], block[place], spare[0],
            spare[1],
        )  # fmt: skip
        if not scale > 0.0:
            return -np.inf
        total += np.log(scale)
    beta, reached, pushed, part = spare[2], spare[3], spare[4], spare[1]
    for s in range(size):
        beta[s] = 1.0
    for number in range(len(kept) - 1, -1, -1):
        first, end = number * every, min((number + 1) * every, frames)
        if number < len(kept) - 1:  # the block of the last frames is still there
            for t in range(first, end):
                _forward_frame(
                    t, unary, pair, shape, allowed, digits, codes, states, hidden, hidden_digits, outputs, starts,
                    widths, initial, transitions, kept[number] if t == first else block[t - first - 1],
                    block[t - first], spare[0], spare[1],
                )  # fmt: skip
        for t in range(end - 1, first - 1, -1):
            for s in range(size):
                reached[s] = block[t - first, s] * beta[s]
            _scale(reached)
            _count(
                t, reached, shape, digits, codes, states, hidden_digits, starts, widths, part, picks, expected_outputs
            )
            if t == 0:
                break
            emission(t, unary, shape, allowed, digits, codes, states, hidden_digits, outputs, starts, widths, reached)
            for s in range(size):
                beta[s] *= reached[s]
            _scale(beta)
            if len(hidden) > 0:
                _count_transitions(
                    kept[number] if t == first else block[t - first - 1], beta, pair[t - 1], shape, states, hidden,
                    transitions, pushed, part, spare[0], joint_counts, expected_transitions,
                )  # fmt: skip
            _step(beta, pair[t - 1], shape, states, hidden, transitions, True, -1, True, True, spare[0], reached)
            for s in range(size):
                beta[s] = reached[s]
    return total

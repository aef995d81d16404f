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
from weft.kernel import fast_kernel, inlined, kernel


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
    total = _run_forward(packed, np.zeros((4, packed.size)))
    return total + packed.offset if total > -math.inf else -math.inf


def expected(packed: Packed, every: int) -> tuple[float, Floats, list[Floats], list[Floats]]:
    """The logarithm of the sum, and expected picks, outputs and transitions; every n-th alpha is kept."""
    frames, (width, participants, _, _) = len(packed.unary), packed.shape.tolist()
    size, most = packed.size, packed.transitions.shape[1]
    picks = np.zeros((frames, participants, width))
    outputs, transitions = np.zeros(len(packed.outputs)), np.zeros((len(packed.hidden), most, most))
    kept, block = np.zeros((math.ceil(frames / every), size)), np.zeros((every, size))
    total = _run_both(
        packed, kept, block, np.zeros((5, size)), np.zeros((most, most)), picks, outputs, transitions
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
        if after == 1 and turned:  # rows of the matrix, so that the inner loop runs over neighbours here too
            for k in range(n):
                value = 0.0
                for i in range(n):
                    value += matrix[k, i] * source[base + i]
                target[base + k] = value
        elif after == 1:
            for i in range(n):
                value = source[base + i]
                if value != 0.0:
                    for k in range(n):
                        target[base + k] += matrix[i, k] * value
        else:
            for i in range(n):
                for k in range(n):
                    weight = matrix[k, i] if turned else matrix[i, k]
                    for c in range(after):
                        target[base + k * after + c] += weight * source[base + i * after + c]


@kernel
def _push_picks(packed: Packed, source: Floats, step: int, turned: bool, spare: Floats, target: Floats) -> None:
    """Apply the transitions of all participants."""
    width, participants, tuples, joint = packed.shape[0], packed.shape[1], packed.shape[2], packed.shape[3]
    _copy(source, target)
    before, after = joint, tuples
    for _ in range(participants):
        after //= width
        push(target, before, width, after, packed.pair[step], turned, spare)
        _copy(spare, target)
        before *= width


@kernel
def _push_words(packed: Packed, source: Floats, turned: bool, left_out: int, spare: Floats, target: Floats) -> None:
    """Apply the transitions of all hidden words but one."""
    _copy(source, target)
    before, after = 1, packed.shape[2] * packed.shape[3]
    for h in range(len(packed.hidden)):
        n = packed.states[packed.hidden[h]]
        after //= n
        if h != left_out:
            push(target, before, n, after, packed.transitions[h], turned, spare)
            _copy(spare, target)
        before *= n


@inlined
def _copy(source: Floats, target: Floats) -> None:
    for s in range(len(source)):
        target[s] = source[s]


@kernel
def emission(t: int, packed: Packed, target: Floats) -> None:
    """What detections and words score in a frame, for all states."""
    participants, tuples, joint = packed.shape[1], packed.shape[2], packed.shape[3]
    states, starts, widths, codes = packed.states, packed.starts, packed.widths, packed.codes
    for n in range(tuples):
        weight = packed.allowed[n]
        if weight > 0.0:
            for p in range(participants):
                weight *= packed.unary[t, packed.digits[p, n]]
            for w in range(len(states)):
                if states[w] == 1:
                    weight *= packed.outputs[starts[w] + t * widths[w] + codes[w, n]]
        target[n] = weight
    for q in range(joint - 1, -1, -1):
        base, h = q * tuples, 0
        for n in range(tuples):
            target[base + n] = target[n]
        for w in range(len(states)):
            if states[w] > 1:
                start = starts[w] + t * widths[w] * states[w] + packed.hidden_digits[h, q]
                for n in range(tuples):
                    target[base + n] *= packed.outputs[start + codes[w, n] * states[w]]
                h += 1


@kernel
def _scale(alpha: Floats) -> float:
    """Scale to a sum of one; return the sum."""
    total = 0.0
    for s in range(len(alpha)):
        total += alpha[s]
    if total > 0.0:
        for s in range(len(alpha)):
            alpha[s] /= total
    return total


@kernel
def _forward(t: int, packed: Packed, previous: Floats, current: Floats, spare: Floats, emitted: Floats) -> float:
    """Alpha of a frame out of that of the frame before; return its scale."""
    if t == 0:
        tuples = packed.shape[2]
        for q in range(packed.shape[3]):
            for n in range(tuples):
                current[q * tuples + n] = packed.initial[q]
    else:
        _push_picks(packed, previous, t - 1, False, spare, emitted)
        _push_words(packed, emitted, False, -1, spare, current)
    emission(t, packed, emitted)
    for s in range(len(current)):
        current[s] *= emitted[s]
    return _scale(current)


@kernel
def _run_forward(packed: Packed, spare: Floats) -> float:
    """The logarithm of the sum over all paths, without the offset."""
    total = 0.0
    for t in range(len(packed.unary)):
        scale = _forward(t, packed, spare[t % 2], spare[(t + 1) % 2], spare[2], spare[3])
        if not scale > 0.0:
            return -np.inf
        total += np.log(scale)
    return total


@kernel
def _count(t: int, packed: Packed, posterior: Floats, tuple_sums: Floats, picks: Floats, outputs: Floats) -> None:
    """Add the posterior of a frame to the picks and to the outputs of all words."""
    participants, tuples, joint = packed.shape[1], packed.shape[2], packed.shape[3]
    states, codes = packed.states, packed.codes
    for n in range(tuples):
        tuple_sums[n] = 0.0
    for q in range(joint):
        for n in range(tuples):
            tuple_sums[n] += posterior[q * tuples + n]
    for n in range(tuples):
        for p in range(participants):
            picks[t, p, packed.digits[p, n]] += tuple_sums[n]
    h = 0
    for w in range(len(states)):
        start = packed.starts[w] + t * packed.widths[w] * states[w]
        if states[w] == 1:
            for n in range(tuples):
                outputs[start + codes[w, n]] += tuple_sums[n]
        else:
            for q in range(joint):
                place = start + packed.hidden_digits[h, q]
                for n in range(tuples):
                    outputs[place + codes[w, n] * states[w]] += posterior[q * tuples + n]
            h += 1


@kernel
def _count_transitions(
    step: int, packed: Packed, source: Floats, target: Floats, spare: Floats, joint_counts: Floats, counts: Floats
) -> None:
    """Add how often every hidden word takes each transition, given alpha before and emission times beta after."""
    _push_picks(packed, source, step, False, spare[0], spare[1])
    before, after = 1, packed.shape[2] * packed.shape[3]
    for h in range(len(packed.hidden)):
        n = packed.states[packed.hidden[h]]
        after //= n
        _push_words(packed, spare[1], False, h, spare[0], spare[2])
        total = 0.0
        for i in range(n):
            for k in range(n):
                value = 0.0
                if packed.transitions[h, i, k] > 0.0:
                    for a in range(before):
                        left, right = (a * n + i) * after, (a * n + k) * after
                        for c in range(after):
                            value += spare[2, left + c] * target[right + c]
                joint_counts[i, k] = value * packed.transitions[h, i, k]
                total += joint_counts[i, k]
        for i in range(n):
            for k in range(n):
                counts[h, i, k] += joint_counts[i, k] / total
        before *= n


@kernel
def _run_both(
    packed: Packed, kept: Floats, block: Floats, spare: Floats, joint_counts: Floats, picks: Floats,
    outputs: Floats, transitions: Floats,
) -> float:  # fmt: skip
    """Expected counts; `kept` holds the last alpha before every block of frames, `block` those of one block."""
    frames, every, size = len(packed.unary), len(block), len(spare[0])
    total = 0.0
    for t in range(frames):
        place = t % every
        if place == 0 and t > 0:
            _copy(block[every - 1], kept[t // every])
        previous = kept[t // every] if place == 0 else block[place - 1]
        scale = _forward(t, packed, previous, block[place], spare[0], spare[1])
        if not scale > 0.0:
            return -np.inf
        total += np.log(scale)
    beta, reached = spare[3], spare[4]
    for s in range(size):
        beta[s] = 1.0
    for number in range(len(kept) - 1, -1, -1):
        first, end = number * every, min((number + 1) * every, frames)
        if number < len(kept) - 1:  # the block of the last frames is still there
            for t in range(first, end):
                previous = kept[number] if t == first else block[t - first - 1]
                _forward(t, packed, previous, block[t - first], spare[0], spare[1])
        for t in range(end - 1, first - 1, -1):
            for s in range(size):
                reached[s] = block[t - first, s] * beta[s]
            _scale(reached)
            _count(t, packed, reached, spare[0], picks, outputs)
            if t == 0:
                break
            emission(t, packed, reached)
            for s in range(size):
                beta[s] *= reached[s]
            _scale(beta)
            if len(packed.hidden) > 0:
                previous = kept[number] if t == first else block[t - first - 1]
                _count_transitions(t - 1, packed, previous, beta, spare, joint_counts, transitions)
            _push_picks(packed, beta, t - 1, True, spare[0], spare[1])
            _push_words(packed, spare[1], True, -1, spare[0], beta)
    return total

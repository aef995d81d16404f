"""Hidden Markov chains over `LabelLists`: expected counts and best paths from probabilities.

    P(w, t) = prod_j P(t_j | t_{j-1}) P(w_j | t_j),      t_0 = start, one transition more to the end,  t_j in T(w_j)

    alpha_j(t) = P(w_j | t) sum over t' of alpha_{j-1}(t') P(t | t') / c_j,       c_j such that alpha_j sums to 1
    beta_{j-1}(t') = sum over t of P(t | t') P(w_j | t) beta_j(t) / c_j,          log P(w) = sum over j of log c_j

Transitions are `[T + 2, T + 2]`, row T being the start and column T + 1 the end; emissions are one number per type and
label it may take, as `LabelLists.listed` has them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats
from weft.infer.chains.label_lists import LabelLists
from weft.kernel import kernel
from weft.ragged import Indices, States, check_shape


class ListedSums(NamedTuple):
    """Expected counts of transitions and emissions, the log-probability of all sentences, and the first sentence of
    probability 0, or -1; the sums are complete only where there is none."""

    transitions: Floats
    emissions: Floats
    log_probability: float
    impossible: int


class _Lists(NamedTuple):
    """What the kernels read of a `LabelLists`."""

    begin: Indices
    listed: States
    types: Indices
    offsets: Indices


class _Markov(NamedTuple):
    """Probabilities or their logarithms; labels `successors[begins[t]:begins[t + 1]]` may follow label t."""

    transitions: Floats
    emissions: Floats
    begins: Indices
    successors: Indices


def run_expected(lists: LabelLists, transitions: Floats, emissions: Floats) -> ListedSums:
    """How often transitions and emissions are expected.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> third, half = np.full(2, 1 / 3), np.full(2, 1 / 2)
    >>> transitions = np.array([[*third, 0, 1 / 3], [*third, 0, 1 / 3], [*half, 0, 0], [0.0] * 4])
    >>> sums = run_expected(lists, transitions, np.ones(2))
    >>> sums.emissions.round(9).tolist(), round(math.exp(sums.log_probability), 4)  # four paths of 1/2 1/3 1/3
    ([1.0, 1.0], 0.2222)
    """
    _check(lists, transitions, emissions)
    pairs, words = np.zeros_like(transitions), np.zeros_like(emissions)
    n = lists.n_labels
    before, after = np.nonzero(transitions[:, :n] > 0)
    markov = _Markov(transitions, emissions, np.searchsorted(before, np.arange(n + 3)), after)
    total, lost = _expect(_of(lists), markov, pairs, words)
    return ListedSums(pairs, words, float(total), int(lost))


def run_most_probable(lists: LabelLists, transitions: Floats, emissions: Floats) -> tuple[States, int]:
    """The labels of the most probable path of every sentence, and the first sentence of probability 0, or -1.

    Among equally probable paths, the one with the lower last label wins, then the one with the lower label before it.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> transitions = np.array([[0, 0.9, 0, 0.1], [0.5, 0, 0, 0.5], [1, 0, 0, 0], [0.0] * 4])
    >>> run_most_probable(lists, transitions, np.ones(2))[0].tolist()
    [0, 1]
    """
    _check(lists, transitions, emissions)
    with np.errstate(divide="ignore"):
        logs = np.log(transitions), np.log(emissions)
    labels = np.zeros(len(lists), dtype=np.int32)
    return labels, int(_viterbi(_of(lists), *logs, labels))


def _check(lists: LabelLists, transitions: Floats, emissions: Floats) -> None:
    check_shape(transitions, (lists.n_labels + 2, lists.n_labels + 2), "transitions")
    check_shape(emissions, (len(lists.listed),), "emissions")


def _of(lists: LabelLists) -> _Lists:
    return _Lists(lists.begin, lists.listed, lists.types, lists.offsets)


@kernel
def _room(lists: _Lists) -> tuple[int, int]:
    """The length of the longest sentence and of the longest list, at least 1."""
    longest, widest = 1, 1
    for s in range(len(lists.offsets) - 1):
        longest = max(longest, lists.offsets[s + 1] - lists.offsets[s])
    for k in range(len(lists.begin) - 1):
        widest = max(widest, lists.begin[k + 1] - lists.begin[k])
    return longest, widest


@kernel
def _expect(lists: _Lists, markov: _Markov, pairs: Floats, words: Floats) -> tuple[float, int]:
    """Add up expected counts; gives the log-likelihood, and the first sentence of probability 0, or -1."""
    longest, widest = _room(lists)
    alpha, scale = np.zeros((longest + 1, widest)), np.zeros(longest + 1)
    beta, after = np.zeros(widest), np.zeros(widest)
    total = 0.0
    for s in range(len(lists.offsets) - 1):
        first, end = lists.offsets[s], lists.offsets[s + 1]
        if first == end:
            continue
        if not _from_left(lists, markov, first, end, alpha, scale, beta):
            return -np.inf, s
        for j in range(end - first + 1):
            total += math.log(scale[j])
        _from_right(lists, markov, first, end, alpha, scale, beta, after, pairs, words)
    return total, -1


@kernel
def _from_left(
    lists: _Lists, markov: _Markov, first: int, end: int, alpha: Floats, scale: Floats, beta: Floats
) -> bool:
    """Alpha of the sentence `first:end`, what it was divided by, and the beta of its last word; False where a word, or
    the end, cannot be reached."""
    listed, transitions, n_labels = lists.listed, markov.transitions, len(markov.transitions) - 2
    before, m = 0, 0
    for j in range(end - first):
        here = lists.begin[lists.types[first + j]]
        n = lists.begin[lists.types[first + j] + 1] - here
        if j == 0:
            for b in range(n):
                alpha[0, b] = transitions[n_labels, listed[here + b]]
        else:
            alpha[j, :n] = 0.0
            for a in range(m):
                x, label = alpha[j - 1, a], listed[before + a]
                if x == 0.0:
                    continue
                if n == n_labels:  # a word with all labels: slots are labels, and few may follow
                    for e in range(markov.begins[label], markov.begins[label + 1]):
                        y = markov.successors[e]
                        alpha[j, y] += x * transitions[label, y]
                else:
                    for b in range(n):
                        alpha[j, b] += x * transitions[label, listed[here + b]]
        mass = 0.0
        for b in range(n):
            alpha[j, b] *= markov.emissions[here + b]
            mass += alpha[j, b]
        if not mass > 0.0:
            return False
        for b in range(n):
            alpha[j, b] /= mass
        scale[j] = mass
        before, m = here, n
    mass = 0.0
    for a in range(m):
        beta[a] = transitions[listed[before + a], n_labels + 1]
        mass += alpha[end - first - 1, a] * beta[a]
    scale[end - first] = mass
    return mass > 0.0


@kernel
def _from_right(
    lists: _Lists, markov: _Markov, first: int, end: int, alpha: Floats, scale: Floats, beta: Floats, after: Floats,
    pairs: Floats, words: Floats,
) -> None:  # fmt: skip
    """Add the expected counts of the sentence `first:end`, from its last word to its first."""
    listed, transitions, n_labels = lists.listed, markov.transitions, len(markov.transitions) - 2
    here = lists.begin[lists.types[end - 1]]
    n = lists.begin[lists.types[end - 1] + 1] - here
    for b in range(n):
        beta[b] /= scale[end - first]
        pairs[listed[here + b], n_labels + 1] += alpha[end - first - 1, b] * beta[b]
    for j in range(end - first - 1, 0, -1):
        for b in range(n):
            words[here + b] += alpha[j, b] * beta[b]
            after[b] = markov.emissions[here + b] * beta[b] / scale[j]
        before = lists.begin[lists.types[first + j - 1]]
        m = lists.begin[lists.types[first + j - 1] + 1] - before
        for a in range(m):
            x, label = alpha[j - 1, a], listed[before + a]
            mass = 0.0
            if n == n_labels:
                for e in range(markov.begins[label], markov.begins[label + 1]):
                    y = markov.successors[e]
                    share = transitions[label, y] * after[y]
                    mass += share
                    pairs[label, y] += x * share
            else:
                for b in range(n):
                    share = transitions[label, listed[here + b]] * after[b]
                    mass += share
                    pairs[label, listed[here + b]] += x * share
            beta[a] = mass
        here, n = before, m
    for b in range(n):
        words[here + b] += alpha[0, b] * beta[b]
        pairs[n_labels, listed[here + b]] += alpha[0, b] * beta[b]


@kernel
def _viterbi(lists: _Lists, transitions: Floats, emissions: Floats, out: States) -> int:
    """Fill in the best labels, given logarithms; gives the first sentence of probability 0, or -1."""
    longest, widest = _room(lists)
    listed, n_labels = lists.listed, len(transitions) - 2
    delta, back = np.zeros((longest, widest)), np.zeros((longest, widest), dtype=np.int32)
    for s in range(len(lists.offsets) - 1):
        first, end = lists.offsets[s], lists.offsets[s + 1]
        if first == end:
            continue
        before, m = 0, 0
        for j in range(end - first):
            here = lists.begin[lists.types[first + j]]
            n = lists.begin[lists.types[first + j] + 1] - here
            for b in range(n):
                label = listed[here + b]
                top, chosen = -np.inf, 0
                if j == 0:
                    top = transitions[n_labels, label]
                for a in range(m):
                    value = delta[j - 1, a] + transitions[listed[before + a], label]
                    if value > top:
                        top, chosen = value, a
                delta[j, b] = top + emissions[here + b]
                back[j, b] = chosen
            before, m = here, n
        top, chosen = -np.inf, 0
        for b in range(m):
            value = delta[end - first - 1, b] + transitions[listed[before + b], n_labels + 1]
            if value > top:
                top, chosen = value, b
        if top == -np.inf:
            return s
        for j in range(end - first - 1, -1, -1):
            out[first + j] = listed[lists.begin[lists.types[first + j]] + chosen]
            chosen = back[j, chosen]
    return -1

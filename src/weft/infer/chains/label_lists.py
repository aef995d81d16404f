"""Chains whose positions may take a few labels only, with one matrix of transitions for all of them.

    score(y) = sum over i of node_i(y_i) + T[y_{i-1}, y_i],      y_i in the list of position i

A mask over positions and labels becomes lists: the *slots* of a `CandidateChain`, each with its label, and for every
pair of neighbouring slots the number of its transition. Inference costs |list before| x |list here| per position,
where a chain over all L labels costs L^2.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Bools, Floats
from weft.errors import InferenceError
from weft.infer.chains.candidates import CandidateChain, pair_offsets
from weft.kernel import fast_kernel, kernel
from weft.ragged import Indices, States, check_offsets, check_shape

__all__ = ["LabelLists"]


class LabelLists:
    """The labels that every position may take.

    >>> lists = LabelLists.from_mask([[True, False, True], [False, True, False]], [0, 2])
    >>> lists.labels.tolist(), lists.slots.tolist(), lists.transitions.tolist()
    ([0, 2, 1], [0, 2, 3], [1, 7])
    >>> chain = lists.chain(np.array([1.0, 0.0, 0.0]), np.zeros((3, 3)))
    >>> lists.labels_of(chain.best()).tolist()
    [0, 1]
    """

    def __init__(self, begin: Indices, listed: States, types: Indices, offsets: Indices, n_labels: int) -> None:
        self.begin, self.listed = begin, listed  # list t is listed[begin[t]:begin[t + 1]]
        self.types, self.offsets, self.n_labels = types, offsets, n_labels

    @classmethod
    def from_mask(cls, mask: ArrayLike, offsets: ArrayLike) -> LabelLists:
        """The lists of a mask `[position, label]`; every position needs a label."""
        return cls.from_types(mask, np.arange(len(np.asarray(mask))), offsets)

    @classmethod
    def from_types(cls, mask: ArrayLike, types: ArrayLike, offsets: ArrayLike) -> LabelLists:
        """The lists of positions whose types have a mask `[type, label]`; every type needs a label.

        >>> LabelLists.from_types([[True, False], [True, True]], [1, 0, 1], [0, 3]).labels.tolist()
        [0, 1, 0, 0, 1]
        """
        allowed = np.ascontiguousarray(mask, dtype=np.bool_)
        if allowed.ndim != 2:
            raise InferenceError(f"a mask has one row per position and one column per label; given: {allowed.shape}")
        kinds = np.ascontiguousarray(types, dtype=np.int64)
        bounds = check_offsets(offsets, len(kinds))
        if kinds.size and not 0 <= kinds.min() <= kinds.max() < len(allowed):
            raise InferenceError(f"types are numbers of the {len(allowed)} rows of the mask")
        begin = np.zeros(len(allowed) + 1, dtype=np.int64)
        listed = np.empty(allowed.size, dtype=np.int32)
        empty = _list_labels(allowed, begin, listed)
        if empty >= 0:
            raise InferenceError(f"position {empty} may take no label; allow at least one")
        return cls(begin, listed[: begin[-1]], kinds, bounds, allowed.shape[1])

    def __len__(self) -> int:
        """Number of positions."""
        return len(self.types)

    @cached_property
    def slots(self) -> Indices:
        """Where the slots of every position stand."""
        found = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(np.diff(self.begin)[self.types], out=found[1:])
        return found

    @cached_property
    def labels(self) -> States:
        """The label of every slot."""
        found = np.empty(int(self.slots[-1]), dtype=np.int32)
        _copy_lists(self.begin, self.listed, self.types, self.slots, found)
        return found

    @cached_property
    def position(self) -> Indices:
        """The position of every slot."""
        return np.repeat(np.arange(len(self)), np.diff(self.slots))

    @cached_property
    def pairs(self) -> Indices:
        """Where the pairs of slots into every position stand."""
        return pair_offsets(self.slots, self.offsets)

    @cached_property
    def transitions(self) -> States:
        """For every pair of neighbouring slots the number  before x L + here  of its transition."""
        found = np.empty(int(self.pairs[-1]), dtype=np.int32)
        _number_transitions(self.labels, self.slots, self.pairs, self.n_labels, found)
        return found

    def chain(self, node: Floats, transitions: Floats) -> CandidateChain:
        """The chain of scores of slots and of a matrix of transitions."""
        check_shape(transitions, (self.n_labels, self.n_labels), "transitions")
        edge = np.take(transitions.ravel(), self.transitions)
        return CandidateChain(node, edge, self.slots, self.offsets, self.pairs)

    def best_labels(self, table: Floats, transitions: Floats, first: Floats | None = None) -> States:
        """The labels of the best path of every sentence, given finite scores `[type, label]`, transitions and, where
        there are any, scores of first labels.

        A position with one label is decided whatever the scores: such positions cut a sentence into pieces that are
        searched one by one, and most words of a text lie in no piece at all.

        >>> lists = LabelLists.from_mask([[True, False], [True, True], [False, True]], [0, 3])
        >>> lists.best_labels(np.zeros((3, 2)), np.array([[0.0, 1.0], [0.0, 2.0]])).tolist()
        [0, 1, 1]
        """
        check_shape(table, (len(self.begin) - 1, self.n_labels), "table")
        check_shape(transitions, (self.n_labels, self.n_labels), "transitions")
        start = np.zeros(self.n_labels) if first is None else first
        check_shape(start, (self.n_labels,), "first")
        if not (np.isfinite(transitions).all() and np.isfinite(start).all()):
            raise InferenceError("transitions must be finite here: forbid labels by the lists, or search `chain`")
        found = np.empty(len(self), dtype=np.int32)
        onto, into = np.ascontiguousarray(transitions), np.ascontiguousarray(transitions.T)
        _best_labels(table, onto, into, start, self.begin, self.listed, self.types, self.offsets, found)
        return found

    def at_slots(self, table: NDArray[Any]) -> NDArray[Any]:
        """The entries of a table `[position, label]` that belong to slots."""
        check_shape(table, (len(self), self.n_labels), "table")
        found: NDArray[Any] = np.take(table.ravel(), self.position * self.n_labels + self.labels)
        return found

    def spread(self, node: Floats) -> Floats:
        """Numbers of slots as a table `[position, label]`, zero where a label is not listed."""
        found = np.zeros((len(self), self.n_labels))
        found[self.position, self.labels] = node
        return found

    def transition_sums(self, edge: Floats) -> Floats:
        """Numbers of pairs added up by transition, `[L, L]`."""
        sums = np.bincount(self.transitions, edge, self.n_labels**2)
        return np.asarray(sums, dtype=np.float64).reshape(self.n_labels, self.n_labels)

    def labels_of(self, path: States) -> States:
        """The labels of a path of candidates."""
        return self.labels[self.slots[:-1] + path]

    def path_of(self, labels: ArrayLike) -> States:
        """The path of candidates that has these labels; a label that is not listed is an error."""
        wanted = np.asarray(labels, dtype=np.int64)
        check_shape(wanted, (len(self),), "labels")
        hits = np.flatnonzero(self.labels == np.repeat(wanted, np.diff(self.slots)))
        if len(hits) < len(self):
            found = set(self.position[hits].tolist())
            missing = next(i for i in range(len(self)) if i not in found)
            raise InferenceError(f"position {missing} may not take the label {int(wanted[missing])}")
        return (hits - self.slots[:-1]).astype(np.int32)


@kernel
def _list_labels(allowed: Bools, slots: Indices, labels: States) -> int:
    """List the labels of every position; the first position without any, or -1."""
    count = 0
    for i in range(allowed.shape[0]):
        before = count
        for y in range(allowed.shape[1]):
            if allowed[i, y]:
                labels[count] = y
                count += 1
        if count == before:
            return i
        slots[i + 1] = count
    return -1


@kernel
def _copy_lists(from_slots: Indices, from_labels: States, types: Indices, slots: Indices, labels: States) -> None:
    for i in range(len(types)):
        at = from_slots[types[i]]
        for k in range(slots[i], slots[i + 1]):
            labels[k] = from_labels[at + k - slots[i]]


@kernel
def _number_transitions(labels: States, slots: Indices, pairs: Indices, n_labels: int, out: States) -> None:
    for i in range(1, len(slots) - 1):
        at = pairs[i]
        if pairs[i + 1] == at:
            continue
        for a in range(slots[i - 1], slots[i]):
            for b in range(slots[i], slots[i + 1]):
                out[at] = labels[a] * n_labels + labels[b]
                at += 1


@fast_kernel
def _best_labels(
    table: Floats, onto: Floats, into: Floats, start: Floats, begin: Indices, listed: States, types: Indices,
    offsets: Indices, out: States,
) -> None:  # fmt: skip
    """`into[y, y']` and `onto[y', y]` are the transition from y' to y; the way back is found from the delta rows."""
    longest, size = 1, into.shape[0]
    for s in range(len(offsets) - 1):
        longest = max(longest, offsets[s + 1] - offsets[s])
    delta = np.empty((longest, size))  # by places in lists, not by labels
    for s in range(len(offsets) - 1):
        first, end = offsets[s], offsets[s + 1]
        opened, decided = first, 0  # the first position of the piece at hand, and the label before it
        for i in range(first, end):
            kind = types[i]
            here, n = begin[kind], begin[kind + 1] - begin[kind]
            if n == 1 and i == opened:
                decided = listed[here]
                out[i] = decided
                opened = i + 1
                continue
            at = i - first
            if n == 1:  # closes a piece: its own score changes nothing
                pass
            elif i == opened and n == size:
                for b in range(size):
                    delta[at, b] = table[kind, b] + (onto[decided, b] if i > first else start[b])
            elif i == opened:
                for b in range(n):
                    y = listed[here + b]
                    delta[at, b] = table[kind, y] + (onto[decided, y] if i > first else start[y])
            else:
                before, m = begin[types[i - 1]], begin[types[i - 1] + 1] - begin[types[i - 1]]
                if n == size:  # over all labels the loops run on vectors
                    for b in range(size):
                        delta[at, b] = delta[at - 1, 0] + onto[listed[before], b]
                    for a in range(1, m):
                        x, label = delta[at - 1, a], listed[before + a]
                        for b in range(size):
                            delta[at, b] = max(delta[at, b], x + onto[label, b])
                    for b in range(size):
                        delta[at, b] += table[kind, b]
                else:
                    for b in range(n):
                        y = listed[here + b]
                        top = delta[at - 1, 0] + into[y, listed[before]]
                        for a in range(1, m):
                            top = max(top, delta[at - 1, a] + into[y, listed[before + a]])
                        delta[at, b] = top + table[kind, y]
            if n > 1 and i < end - 1:
                continue
            choice = 0
            for b in range(1, n):
                if delta[at, b] > delta[at, choice]:
                    choice = b
            decided = listed[here + choice]
            for j in range(i, opened - 1, -1):
                y = listed[begin[types[j]] + choice]
                out[j] = y
                if j > opened:
                    before, m, choice = begin[types[j - 1]], begin[types[j - 1] + 1] - begin[types[j - 1]], 0
                    top = delta[j - 1 - first, 0] + into[y, listed[before]]
                    for a in range(1, m):
                        total = delta[j - 1 - first, a] + into[y, listed[before + a]]
                        choice = a if total > top else choice
                        top = max(top, total)
            opened = i + 1

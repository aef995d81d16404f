"""Chains whose positions may take a few labels only, with one matrix of transitions for all of them.

    score(y) = sum over i of node_i(y_i) + T[y_{i-1}, y_i],      y_i in the list of position i

A mask over positions and labels becomes lists: the *slots* of a `CandidateChain`, each with its label, and for every
pair of neighbouring slots the number of its transition. Inference costs |list before| x |list here| a position where a
chain over all L labels costs L^2.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.errors import InferenceError
from weft.infer.candidates import CandidateChain, pair_offsets
from weft.infer.ragged import Booleans, Floats, Indices, States, check_offsets, check_shape
from weft.kernel import kernel

__all__ = ["LabelLists"]


class LabelLists:
    """The labels that every position may take.

    >>> lists = LabelLists.of_mask([[True, False, True], [False, True, False]], [0, 2])
    >>> lists.labels.tolist(), lists.slots.tolist(), lists.transitions.tolist()
    ([0, 2, 1], [0, 2, 3], [1, 7])
    >>> chain = lists.chain(np.array([1.0, 0.0, 0.0]), np.zeros((3, 3)))
    >>> lists.labels_of(chain.best()).tolist()
    [0, 1]
    """

    def __init__(self, slots: Indices, labels: States, offsets: Indices, n_labels: int) -> None:
        self.slots, self.labels, self.offsets, self.n_labels = slots, labels, offsets, n_labels
        self.pairs = pair_offsets(slots, offsets)

    @classmethod
    def of_mask(cls, mask: ArrayLike, offsets: ArrayLike) -> LabelLists:
        """The lists of a mask `[position, label]`; every position needs a label."""
        allowed = np.asarray(mask, dtype=np.bool_)
        if allowed.ndim != 2:
            raise InferenceError(f"a mask has one row a position and one column a label; given: {allowed.shape}")
        bounds = check_offsets(offsets, len(allowed))
        slots = np.zeros(len(allowed) + 1, dtype=np.int64)
        labels = np.empty(allowed.size, dtype=np.int32)
        empty = _list_labels(np.ascontiguousarray(allowed), slots, labels)
        if empty >= 0:
            raise InferenceError(f"position {empty} may take no label; allow at least one")
        return cls(slots, labels[: slots[-1]].copy(), bounds, allowed.shape[1])

    def __len__(self) -> int:
        """Number of positions."""
        return len(self.slots) - 1

    @cached_property
    def position(self) -> Indices:
        """The position of every slot."""
        return np.repeat(np.arange(len(self)), np.diff(self.slots))

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
def _list_labels(allowed: Booleans, slots: Indices, labels: States) -> int:
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
def _number_transitions(labels: States, slots: Indices, pairs: Indices, n_labels: int, out: States) -> None:
    for i in range(1, len(slots) - 1):
        at = pairs[i]
        if pairs[i + 1] == at:
            continue
        for a in range(slots[i - 1], slots[i]):
            for b in range(slots[i], slots[i + 1]):
                out[at] = labels[a] * n_labels + labels[b]
                at += 1

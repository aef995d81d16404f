"""Probabilities of spans in a chain:  p(a, b, y) = Z(states at a ... b - 1 agree with y, their neighbours part it) / Z.

A span is a run of labels that no longer run contains: the state behind it must not go on with it, nor may it go on with
the state before. Restricted partition
functions give that exactly, for chains of any order; the first span of every sentence goes through one run, then the
second of those that have two, and so on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Floats
from weft.infer.chains.chain import Chain


def span_probabilities(
    chain: Chain,
    starts: NDArray[np.integer],
    ends: NDArray[np.integer],
    labels: NDArray[np.integer],
    label_of_state: NDArray[np.integer],
    goes_on: Bools,
) -> Floats:
    """The probability of every span `starts[k]:ends[k]`, given in the order of the text.

    `labels` is one label per position; `goes_on[one, other]` says whether the second label goes on with a span in which
    the first stands.

    >>> chain = Chain(np.zeros((2, 2)), np.zeros((2, 2)), [0, 2])  # the states O and I, all paths alike
    >>> goes_on = np.array([[False, False], [False, True]])
    >>> span_probabilities(chain, np.array([0]), np.array([1]), np.array([1, 0]), np.arange(2), goes_on).tolist()
    [0.25]
    """
    found = np.zeros(len(starts))
    if not len(starts):
        return found
    log_z = chain.log_partition()
    sentence = np.searchsorted(chain.offsets, starts, side="right") - 1
    rank = np.arange(len(starts)) - np.searchsorted(sentence, sentence, side="left")
    for turn in range(int(rank.max()) + 1):
        chosen = np.flatnonzero(rank == turn)
        here = sentence[chosen]
        first, end = chain.offsets[here], chain.offsets[here + 1]
        sizes = end - first
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        rows = np.arange(int(offsets[-1])) + np.repeat(first - offsets[:-1], sizes)
        within = np.repeat(np.arange(len(chosen)), sizes)
        inside = (rows >= starts[chosen][within]) & (rows < ends[chosen][within])
        before, behind = rows == starts[chosen][within] - 1, rows == ends[chosen][within]
        allowed = np.ones((len(rows), chain.n_states), dtype=np.bool_)
        allowed[inside] = label_of_state[None, :] == labels[rows[inside], None]
        allowed[before] = ~goes_on.T[labels[rows[before] + 1]][:, label_of_state]
        allowed[behind] = ~goes_on[labels[rows[behind] - 1]][:, label_of_state]
        edge = chain.edge if chain.shared else chain.edge[rows]
        with_span = Chain(chain.node[rows], edge, offsets, allowed).log_partition()
        found[chosen] = np.exp(with_span - log_z[here])
    return np.minimum(found, 1.0)

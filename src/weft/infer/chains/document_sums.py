"""Sums and best paths of one document at a time, for kernels that visit documents one after the other.

    Z_d = sum over y of exp( sum over i of label_i(d, y_i) + edge_d(y_{i-1}, y_i) ),    p(d) = Z_d / sum over d' of Z_d'

These are the questions of `weft.infer.chains.document` without its batches: an update of a learner takes less time than
a call from Python. Scores of the document's own label are part of those of its first sentence.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import Floats
from weft.infer.chains.edge_scores import Transitions
from weft.infer.chains.forward_backward import log_passes
from weft.infer.chains.viterbi import best_paths
from weft.kernel import inner_kernel, kernel
from weft.ragged import Indices, States


class DocumentScores(NamedTuple):
    """Scores of one document under each of its labels d: `label[D, N, L]` of sentences, transitions `edge[D, L, L]`."""

    label: Floats
    edge: Floats


class DocumentSums(NamedTuple):
    """What is expected of one document under each of its labels d: log Z_d `log_z[D]`, p(d) `document[D]`,
    p(y_i | d) `label[D, N, L]` and, summed over sentences, p(y_{i-1}, y_i | d) `edge[D, L, L]`."""

    log_z: Floats
    document: Floats
    label: Floats
    edge: Floats


class Scratch(NamedTuple):
    """Space and layouts that the passes share, for documents of at most N sentences."""

    alpha: Floats
    v: Floats
    work: Floats
    bounds: Indices
    before: Indices
    matrix: Floats
    source: Indices
    start: Indices
    stop: Indices
    path: States


def new_scores(longest: int, labels: int) -> DocumentScores:
    """Room for the scores of documents of at most `longest` sentences."""
    return DocumentScores(np.zeros((labels, longest, labels)), np.zeros((labels, labels, labels)))


def new_sums(longest: int, labels: int) -> DocumentSums:
    """Room for the sums of documents of at most `longest` sentences."""
    label, edge = np.zeros((labels, longest, labels)), np.zeros((labels, labels, labels))
    return DocumentSums(np.zeros(labels), np.zeros(labels), label, edge)


def new_scratch(longest: int, labels: int) -> Scratch:
    """Scratch space for documents of at most `longest` sentences."""
    transitions = Transitions(np.zeros((1, labels, labels)), shared=True)
    packed = transitions.maximum
    return Scratch(
        np.zeros((longest, labels)), np.zeros((longest, labels)), np.zeros((3, labels)), *transitions.before,
        packed.matrix, packed.source, packed.start, packed.stop, np.zeros(longest, dtype=np.int32),
    )  # fmt: skip


@inner_kernel
def sum_chain(d: int, size: int, scores: DocumentScores, sums: DocumentSums, scratch: Scratch) -> None:
    """The sums of the first `size` sentences under label d of their document."""
    sums.edge[d] = 0.0
    sums.log_z[d] = log_passes(
        scores.label[d], scores.edge[d : d + 1], 0, scratch.bounds, scratch.before, 0, size, 1.0,
        scratch.alpha, scratch.v, sums.label[d], sums.edge[d : d + 1], scratch.work,
    )  # fmt: skip


@kernel
def best_chain(d: int, size: int, scores: DocumentScores, sums: DocumentSums, scratch: Scratch) -> None:
    """The best path of the first `size` sentences under label d of their document, as if it had all the probability:
    its score for log Z_d, its labels and transitions as indicators."""
    labels = len(scores.edge)
    scratch.matrix[0, :labels, :labels] = scores.edge[d]
    best_paths(
        scores.label[d], scratch.matrix, scratch.source, scratch.start, scratch.stop, 0, np.array([0, size]),
        scratch.path, sums.log_z[d : d + 1],
    )  # fmt: skip
    sums.label[d, :size] = 0.0
    sums.edge[d] = 0.0
    for i in range(size):
        sums.label[d, i, scratch.path[i]] = 1.0
        if i > 0:
            sums.edge[d, scratch.path[i - 1], scratch.path[i]] += 1.0


@inner_kernel
def exclude(d: int, size: int, sums: DocumentSums) -> None:
    """Label d of the document has no probability."""
    sums.log_z[d] = -np.inf
    sums.label[d, :size] = 0.0
    sums.edge[d] = 0.0


@inner_kernel
def sum_labels(sums: DocumentSums) -> float:
    """Set p(d) from log Z_d; gives the logarithm of the sum of all Z_d."""
    top, rest = -np.inf, 0.0
    for d in range(len(sums.log_z)):
        top = max(top, sums.log_z[d])
    for d in range(len(sums.log_z)):
        rest += np.exp(sums.log_z[d] - top)
    log_z = top + np.log(rest)
    for d in range(len(sums.log_z)):
        sums.document[d] = np.exp(sums.log_z[d] - log_z)
    return log_z


@inner_kernel
def best_label(sums: DocumentSums) -> float:
    """Give the label d of the highest log Z_d all the probability; gives that log Z_d."""
    best = 0
    for d in range(len(sums.log_z)):
        sums.document[d] = 0.0
        best = d if sums.log_z[d] > sums.log_z[best] else best
    sums.document[best] = 1.0
    return sums.log_z[best]

"""A chain of labels under one label of the whole:

    p(d, y) = exp score(d, y) / Z,   score(d, y) = document(d) + sum over i of label_i(d, y_i) + edge_d(y_{i-1}, y_i)

with d one of D labels of the document and y_i one of L labels of its sentences. Given d this is a linear chain, so that
every question is answered exactly by D chains of one batch:

    log Z = log sum over d of exp(document(d) + log Z_d),    p(d) = exp(document(d) + log Z_d - log Z)
    p(d, y_i) = p(d) p(y_i | d),    the best (d, y) is the best path of the best chain
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools, Floats
from weft.errors import InferenceError
from weft.infer.chains.chain import Chain
from weft.infer.parts import ArrayParts
from weft.ragged import (
    Indices,
    States,
    check_offsets,
    check_scores,
    check_shape,
    sentence_of,
    sentence_weights,
    sum_by_sentence,
)


class DocumentLabels(NamedTuple):
    """A solution: one label per document, one per sentence."""

    document: States
    sentence: States


class DocumentMask(NamedTuple):
    """What is allowed: `document[B, D]` and `sentence[N, L]`, None for everything."""

    document: Bools | None = None
    sentence: Bools | None = None


@dataclass(frozen=True, slots=True)
class DocumentParts(ArrayParts):
    """One number per part: `label[N, D, L]` for a sentence's label under a document's, `edge[D, L, L]` summed over all
    sentences, `document[B, D]`.

    >>> parts = DocumentParts(np.ones((2, 1, 2)), np.zeros((1, 2, 2)), np.ones((1, 1)))
    >>> (parts + parts).scale(0.5).inner(parts)
    5.0
    """

    numbers = ("label", "edge", "document")

    label: Floats
    edge: Floats
    document: Floats

    @property
    def sentence(self) -> Floats:
        """The numbers of labels of sentences [N, L], summed over labels of documents."""
        return self.label.sum(axis=1)


class DocumentChain:
    """A batch of documents; document `b` has the sentences `offsets[b]:offsets[b + 1]`.

    `label[N, D, L]` and `edge[D, L, L]` are scores, `document[B, D]` further ones of the documents' labels. Minus
    infinity forbids a label of a document; labels of sentences are forbidden by `restrict`.

    >>> chain = DocumentChain([[[2.0, 0.0], [0.0, 1.0]]], np.zeros((2, 2, 2)), [0, 1])
    >>> chain.best()
    DocumentLabels(document=array([0], dtype=int32), sentence=array([0], dtype=int32))
    >>> chain.document_marginals().round(2), chain.marginals().sentence.round(2)
    (array([[0.69, 0.31]]), array([[0.69, 0.31]]))
    >>> given = chain.restrict(DocumentMask(np.array([[False, True]])))
    >>> given.marginals().sentence.round(2)
    array([[0.27, 0.73]])
    """

    def __init__(
        self, label: ArrayLike, edge: ArrayLike, offsets: ArrayLike, document: ArrayLike | None = None
    ) -> None:
        self.label = check_scores(label, "scores of labels")
        if self.label.ndim != 3 or 0 in self.label.shape[1:]:
            raise InferenceError(
                "scores of labels must be one matrix per sentence, with a row per document label and a column per "
                f"sentence label; given: {self.label.shape}"
            )
        self.offsets: Indices = check_offsets(offsets, len(self.label))
        _, self.n_documents, self.n_labels = self.label.shape
        self.edge = check_scores(edge, "edge scores")
        check_shape(self.edge, (self.n_documents, self.n_labels, self.n_labels), "edge scores")
        shape = (len(self.offsets) - 1, self.n_documents)
        self.document = np.zeros(shape) if document is None else check_scores(document, "scores of documents")
        check_shape(self.document, shape, "scores of documents")
        if np.isneginf(self.document).all(axis=1).any():
            raise InferenceError("a document without an allowed label has no solution; allow it at least one")

    @cached_property
    def chains(self) -> list[Chain]:
        """One chain for each label of the document."""
        return [Chain(self.label[:, d], self.edge[d], self.offsets) for d in range(self.n_documents)]

    @cached_property
    def _totals(self) -> Floats:
        """document(d) + log Z_d of every document [B, D]."""
        return self.document + np.stack([chain.log_partition() for chain in self.chains], axis=1)

    def log_partition(self) -> Floats:
        """log Z of every document."""
        return np.asarray(np.logaddexp.reduce(self._totals, axis=1))

    def document_marginals(self) -> Floats:
        """p(d) of every document [B, D]."""
        return np.asarray(np.exp(self._totals - self.log_partition()[:, None]))

    def marginals(self, weight: Floats | None = None) -> DocumentParts:
        """Probabilities of all parts, each document's times its weight; edges summed over all sentences."""
        each = self.document_marginals() * sentence_weights(weight, self.offsets)[:, None]
        label, edge = np.empty(self.label.shape), np.empty(self.edge.shape)
        for d, chain in enumerate(self.chains):
            found = chain.marginals(np.ascontiguousarray(each[:, d]))
            label[:, d], edge[d] = found.node, found.edge
        return DocumentParts(label, edge, each)

    def log_partition_and_marginals(self, weight: Floats | None = None) -> tuple[Floats, DocumentParts]:
        """Both; the weight applies to the marginals only."""
        return self.log_partition(), self.marginals(weight)

    def best(self) -> DocumentLabels:
        """The highest-scoring labels; among equal labels of documents the first."""
        scores = self.document + np.stack([chain.best_scores() for chain in self.chains], axis=1)
        document = scores.argmax(axis=1).astype(np.int32)
        paths = np.stack([chain.best() for chain in self.chains])
        return DocumentLabels(document, paths[document[sentence_of(self.offsets)], np.arange(len(self.label))])

    def score(self, solution: DocumentLabels) -> Floats:
        """The score of a solution, one number per document."""
        document, sentence, of = self._checked(solution)
        total = self.label[np.arange(len(sentence)), document[of], sentence]
        inside = self._inside()
        total[inside] += self.edge[document[of[inside]], sentence[inside - 1], sentence[inside]]
        return sum_by_sentence(total, self.offsets) + self.document[np.arange(len(document)), document]

    def parts(self, solution: DocumentLabels, weight: Floats | None = None) -> DocumentParts:
        """A solution as indicators of its parts, each document's times its weight."""
        document, sentence, of = self._checked(solution)
        each = sentence_weights(weight, self.offsets)
        parts = DocumentParts(np.zeros(self.label.shape), np.zeros(self.edge.shape), np.zeros(self.document.shape))
        parts.label[np.arange(len(sentence)), document[of], sentence] = each[of]
        inside = self._inside()
        np.add.at(parts.edge, (document[of[inside]], sentence[inside - 1], sentence[inside]), each[of[inside]])
        parts.document[np.arange(len(document)), document] = each
        return parts

    def sample(self, n: int, seed: int | np.random.Generator) -> list[DocumentLabels]:
        """`n` independent solutions, each drawn with its probability."""
        rng = np.random.default_rng(seed)
        bounds = np.cumsum(self.document_marginals(), axis=1)
        paths = np.stack([chain.sample(n, rng) for chain in self.chains])
        of, places = sentence_of(self.offsets), np.arange(len(self.label))
        drawn = []
        for i in range(n):
            point = rng.random(len(bounds))[:, None] * bounds[:, -1:]
            document = (point >= bounds).sum(axis=1).astype(np.int32)
            drawn.append(DocumentLabels(document, paths[document[of], i, places]))
        return drawn

    def restrict(self, allowed: DocumentMask) -> DocumentChain:
        """The same documents within a mask."""
        label, document = self.label, self.document
        if allowed.sentence is not None:
            check_shape(allowed.sentence, (len(label), self.n_labels), "allowed labels of sentences")
            label = np.where(allowed.sentence[:, None, :], label, -np.inf)
        if allowed.document is not None:
            check_shape(allowed.document, document.shape, "allowed labels of documents")
            document = np.where(allowed.document, document, -np.inf)
        return DocumentChain(label, self.edge, self.offsets, document)

    def augment(self, parts: DocumentParts) -> DocumentChain:
        """The same documents with numbers added to their scores; those of edges at every use."""
        return DocumentChain(
            self.label + parts.label, self.edge + parts.edge, self.offsets, self.document + parts.document
        )

    def _inside(self) -> Indices:
        """Sentences that have one before them in their document."""
        of = sentence_of(self.offsets)
        return np.flatnonzero(of[1:] == of[:-1]) + 1

    def _checked(self, solution: DocumentLabels) -> tuple[States, States, Indices]:
        document, sentence = (np.asarray(labels, dtype=np.int32) for labels in solution)
        check_shape(document, (len(self.document),), "labels of documents")
        check_shape(sentence, (len(self.label),), "labels of sentences")
        for labels, count in ((document, self.n_documents), (sentence, self.n_labels)):
            if labels.size and not (labels.min() >= 0 and labels.max() < count):
                raise InferenceError(
                    f"labels are numbers from 0 to {count - 1}; given: {labels.min()} to {labels.max()}"
                )
        return document, sentence, sentence_of(self.offsets)

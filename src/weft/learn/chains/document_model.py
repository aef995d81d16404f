"""The linear model over documents whose sentences' labels depend on the document's:

    score(d, y, s) = sum_i  sum_f W[f, y_i]  +  A[d, y_i]  +  T[d, y_{i-1}, y_i],      T[d, start, y_1] for the first

with f the features of sentence i. No feature of the text touches d: sentences are the only way from text to document,
so that a document's label can teach something of its sentences. A (agreement) and the d in T can be left out; without
both, documents and sentences are independent. The weights are one flat array: W, then A, then T, then its start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats
from weft.errors import ConfigError
from weft.features.weights import Layout
from weft.infer.chains.document import DocumentChain, DocumentLabels, DocumentMask, DocumentParts
from weft.learn.batches import cut_evenly
from weft.learn.chains.blocks import FeatureRows
from weft.learn.protocol import Indices
from weft.ragged import check_offsets, first_positions

Labels = NDArray[np.int32]
UNKNOWN = -1


@dataclass(frozen=True)
class DocumentBatch:
    """Documents ready for a `DocumentModel`: labels of documents and sentences, -1 where not known.

    >>> rows = FeatureRows(np.array([0, 1, 1], dtype=np.int32), np.array([0, 1, 3]), np.zeros(0))
    >>> batch = DocumentBatch.of([0, 1, 2], rows, document=[0, 1], sentence=[0, -1])
    >>> batch.fine.tolist(), len(batch.cut(1, 2))
    ([True, False], 1)
    """

    offsets: Indices  # sentences of documents
    features: FeatureRows  # of sentences
    document: Labels
    sentence: Labels
    weight: Floats
    labels: int = 3

    @classmethod
    def of(
        cls,
        offsets: Sequence[int] | Indices,
        features: FeatureRows,
        document: Sequence[int] | Labels,
        sentence: Sequence[int] | Labels,
        weight: Sequence[float] | Floats | None = None,
        labels: int = 3,
    ) -> DocumentBatch:
        """A batch; parts that do not fit each other are an error."""
        at = check_offsets(offsets, len(features.offsets) - 1)
        known = np.asarray(document, dtype=np.int32), np.asarray(sentence, dtype=np.int32)
        if len(known[0]) != len(at) - 1 or len(known[1]) != at[-1]:
            raise ConfigError(
                f"{len(known[0])} labels of documents and {len(known[1])} of sentences for {len(at) - 1} documents "
                f"of {at[-1]} sentences; give -1 where a label is not known"
            )
        for each in known:
            if each.size and not (each.min() >= UNKNOWN and each.max() < labels):
                raise ConfigError(f"labels are numbers from 0 to {labels - 1}, or -1; got {each.min()} to {each.max()}")
        weights = np.ones(len(at) - 1) if weight is None else np.asarray(weight, dtype=np.float64)
        return cls(at, features, *known, weights, labels)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def fine(self) -> NDArray[np.bool_]:
        """Which documents have a label for some sentence."""
        known = np.concatenate([[0], np.cumsum(self.sentence != UNKNOWN)])
        return np.asarray(known[self.offsets[1:]] > known[self.offsets[:-1]])

    @property
    def gold(self) -> DocumentLabels | None:
        """The labels, where every one is known."""
        if (self.document == UNKNOWN).any() or (self.sentence == UNKNOWN).any():
            return None
        return DocumentLabels(self.document, self.sentence)

    @property
    def allowed(self) -> DocumentMask:
        """The labels that agree with what is known."""
        return DocumentMask(_mask(self.document, self.labels), _mask(self.sentence, self.labels))

    def cut(self, first: int, end: int) -> DocumentBatch:
        """Documents `first:end`."""
        lo, hi = int(self.offsets[first]), int(self.offsets[end])
        return DocumentBatch(
            self.offsets[first : end + 1] - lo,
            self.features.cut(lo, hi),
            self.document[first:end],
            self.sentence[lo:hi],
            self.weight[first:end],
            self.labels,
        )

    def batches(self, documents: int = 1) -> Iterator[DocumentBatch]:
        """The same documents in batches of at most `documents`."""
        return cut_evenly(self, documents)


@dataclass(frozen=True)
class DocumentModel:
    """Weights of `features` sentence features and of the labels; by default three labels for documents and sentences.

    >>> model = DocumentModel(features=2)
    >>> model.size, DocumentModel(2, agreement=False, document_transitions=False).size
    (51, 18)
    """

    features: int
    labels: int = 3
    agreement: bool = True
    document_transitions: bool = True

    @cached_property
    def layout(self) -> Layout:
        """Every feature has a weight for every label."""
        starts = np.arange(self.features + 1, dtype=np.int64) * self.labels
        return Layout(starts, np.tile(np.arange(self.labels, dtype=np.int32), self.features), self.labels)

    @property
    def matrices(self) -> int:
        """Number of matrices of transitions: one per label of the document, or one for all."""
        return self.labels if self.document_transitions else 1

    @property
    def blocks(self) -> tuple[int, int, int, int]:
        """Where agreement, transitions and starts begin in the weights, and where they end."""
        square = self.labels**2
        agreement = self.features * self.labels
        transitions = agreement + square * self.agreement
        starts = transitions + square * self.matrices
        return agreement, transitions, starts, starts + self.labels * self.matrices

    @property
    def size(self) -> int:
        return self.blocks[3]

    def unpack(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Agreement [D, L], transitions [D, L, L] and starts [D, L]: views, broadcast where one stands for all."""
        one, two, three, four = self.blocks
        n = self.labels
        agreement = weights[one:two].reshape(n, n) if self.agreement else np.zeros((n, n))
        transitions = np.broadcast_to(weights[two:three].reshape(-1, n, n), (n, n, n))
        return agreement, transitions, np.broadcast_to(weights[three:four].reshape(-1, n), (n, n))

    def score(self, batch: DocumentBatch, weights: Floats) -> DocumentChain:
        """The documents under the weights."""
        agreement, transitions, starts = self.unpack(weights)
        rows = batch.features
        node = self.layout.score(rows.rows, rows.offsets, rows.values, weights)
        label = node[:, None, :] + agreement[None]
        label[first_positions(batch.offsets)] += starts
        return DocumentChain(label, transitions, batch.offsets)

    def scatter(self, batch: DocumentBatch, parts: DocumentParts, into: Floats) -> None:
        """Add  sum over parts of number * features  to `into`."""
        rows = batch.features
        coefficients = np.ascontiguousarray(parts.sentence)
        self.layout.scatter(rows.rows, rows.offsets, rows.values, coefficients, into)
        one, two, three, four = self.blocks
        if self.agreement:
            into[one:two] += parts.label.sum(axis=0).ravel()
        first = parts.label[first_positions(batch.offsets)].sum(axis=0)
        into[two:three] += (parts.edge if self.document_transitions else parts.edge.sum(axis=0)).ravel()
        into[three:four] += (first if self.document_transitions else first.sum(axis=0)).ravel()

    def start(self, agreement: float = 0.5, signs: Floats | None = None) -> Floats:
        """Initial weights: sentence labels agree with the document's, and features with a known sign have it.

        From zeros, unobserved labels would be interchangeable. `signs[features, labels]` are the weights of
        features of which something is known, such as words in a list of positive ones.

        >>> DocumentModel(features=0, document_transitions=False).start(1.0)[:9]
        array([1., 0., 0., 0., 1., 0., 0., 0., 1.])
        """
        weights = np.zeros(self.size)
        if signs is not None:
            weights[: self.features * self.labels] = np.asarray(signs, dtype=np.float64).ravel()
        if self.agreement:
            one, two = self.blocks[:2]
            weights[one:two] = agreement * np.eye(self.labels).ravel()
        return weights


def _mask(labels: Labels, count: int) -> NDArray[np.bool_]:
    return np.asarray((labels[:, None] == np.arange(count)) | (labels[:, None] == UNKNOWN))

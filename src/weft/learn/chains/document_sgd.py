"""Stochastic gradient for documents: a few have labelled sentences, most only a document label.

    L(w) = share * L_F(w) + (1 - share) * L_C(w)
    L_F(w) = sum over documents with labelled sentences of log p(d, y | s) - |w|^2 / 2 variance
    L_C(w) = sum over the others of log sum_y p(d, y | s) - |w|^2 / 2 variance          (hard: log max_y)

Each step takes a document of the first kind with probability `share`, else one of the second, both in turn and shuffled
anew when all were seen, and goes `rate` along the gradient of its log-probability; the prior is spread over the steps
of an epoch, which sees every document of the second kind once. Share 1 is the supervised model, share 0 the one that
knows labels of documents only. With p_d = p(d | s) and q what is known, the gradient for sentence i is

    sum over d of p_d [ q(y_i) - p(y_i | d) ]

which is 0, not nearly 0, where labels of sentences do not depend on the document's. As in `weft.learn.online.sgd` the
prior is one common factor: w = factor * raw. One kernel does all of it, since an update takes less time than a call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from weft.arrays import Floats, Rows
from weft.errors import ConfigError
from weft.infer.chains.document_sums import (
    DocumentScores,
    DocumentSums,
    Scratch,
    best_chain,
    best_label,
    exclude,
    new_scores,
    new_scratch,
    new_sums,
    sum_chain,
    sum_labels,
)
from weft.kernel import inner_kernel, kernel
from weft.learn.chains.document_model import UNKNOWN, DocumentBatch, DocumentModel, Labels
from weft.learn.protocol import Indices
from weft.learn.training import Callback, Result, Row, Step
from weft.progress import progress


@dataclass(frozen=True)
class DocumentSGD:
    """Options. `variance` is that of the Gaussian prior, `share` (lambda) the fraction of steps on labelled sentences.

    >>> from weft.learn.chains.blocks import FeatureRows
    >>> rows = FeatureRows(np.array([0, 1], dtype=np.int32), np.array([0, 1, 2]), np.zeros(0))
    >>> batch = DocumentBatch.of([0, 1, 2], rows, document=[0, 1], sentence=[-1, -1])
    >>> model = DocumentModel(features=2)
    >>> result = DocumentSGD(share=0.0, epochs=50, rate=0.1).fit(model, batch, model.start())
    >>> model.score(batch, result.weights).best().sentence
    array([0, 1], dtype=int32)
    """

    share: float = 0.1
    epochs: int = 15
    rate: float = 0.01
    variance: float = 1.0
    hard: bool = False
    seed: int = 0

    def check(self) -> None:
        """Reject invalid options."""
        if not 0 <= self.share <= 1:
            raise ConfigError(f"share is the part of steps on labelled sentences, from 0 to 1; got {self.share}")
        if self.epochs < 1 or self.rate <= 0 or self.variance <= 0:
            raise ConfigError(
                f"DocumentSGD needs epochs >= 1, rate > 0 and variance > 0, got {self.epochs}, {self.rate} "
                f"and {self.variance}"
            )

    def fit(
        self,
        model: DocumentModel,
        batch: DocumentBatch,
        start: Floats | None = None,
        *,
        callback: Callback | None = None,
        describe: str = "training",
    ) -> Result:
        """Train on a batch of documents of both kinds; training ends early when `callback` returns True."""
        self.check()
        fine, coarse = np.flatnonzero(batch.fine), np.flatnonzero(~batch.fine & (batch.document != UNKNOWN))
        steps = _steps(self.share, len(fine), len(coarse))
        order = _Order(fine, coarse, self.share, self.seed)
        raw = model.start() if start is None else np.array(start, dtype=np.float64)
        if raw.shape != (model.size,):
            raise ConfigError(f"the weights to begin with are {raw.shape}, the model has {model.size}")
        shrink = max(1.0 - self.rate / (self.variance * steps), 1e-3)
        history: list[Row] = []
        with progress(describe, total=self.epochs * steps, unit="documents") as bar:
            for epoch in range(self.epochs):
                loss = -_run(model, batch, order.take(steps), raw, self.rate, shrink, self.hard)
                history.append(Row(epoch + 1, (epoch + 1) * steps, math.nan, loss / steps))
                bar.advance(steps)
                bar.note(f"loss {loss / steps:.3f}")
                if callback is not None and callback(Step(history[-1], raw)):
                    break
        return Result(raw, history[-1].loss, len(history) * steps, len(history), history, "all epochs done")


def _steps(share: float, fine: int, coarse: int) -> int:
    """Steps of an epoch."""
    if share > 0 and not fine:
        raise ConfigError("no document has labelled sentences; give some, or learn from ratings alone (share 0)")
    if share < 1 and not coarse:
        raise ConfigError("no document has a label without labelled sentences; give some, or set share to 1")
    return fine if share == 1 else round(coarse / (1 - share))


class _Order:
    """Which document is next: each kind in turn, shuffled anew when all were seen."""

    def __init__(self, fine: Indices, coarse: Indices, share: float, seed: int) -> None:
        coin, *orders = np.random.default_rng(seed).spawn(3)
        self.coin, self.share = coin, share
        self.kinds = [_Turns(fine, orders[0]), _Turns(coarse, orders[1])]

    def take(self, count: int) -> Indices:
        is_fine = self.coin.random(count) < self.share
        order = np.empty(count, dtype=np.int64)
        for chosen, turns in zip((is_fine, ~is_fine), self.kinds, strict=True):
            order[chosen] = turns.take(int(chosen.sum()))
        return order


class _Turns:
    def __init__(self, items: Indices, rng: np.random.Generator) -> None:
        self.items, self.rng = items, rng
        self.left = np.zeros(0, dtype=np.int64)

    def take(self, count: int) -> Indices:
        while len(self.left) < count:
            self.left = np.concatenate([self.left, self.rng.permutation(self.items)])
        taken, self.left = self.left[:count], self.left[count:]
        return taken


class _Documents(NamedTuple):
    """What the kernels read of a `DocumentBatch`."""

    offsets: Indices
    rows: Rows
    row_offsets: Indices
    document: Labels
    sentence: Labels


class _Weights(NamedTuple):
    """All weights and views of their blocks: W, A (empty where left out), T (one matrix or D) and its start."""

    all: Floats
    text: Floats
    agreement: Floats
    transitions: Floats
    starts: Floats


def _views(model: DocumentModel, weights: Floats) -> _Weights:
    n, (one, two, three, four) = model.labels, model.blocks
    return _Weights(
        weights,
        weights[:one].reshape(-1, n),
        weights[one:two].reshape(-1, n),
        weights[two:three].reshape(-1, n, n),
        weights[three:four].reshape(-1, n),
    )


def _run(
    model: DocumentModel, batch: DocumentBatch, order: Indices, raw: Floats, rate: float, shrink: float, hard: bool
) -> float:
    """Steps over documents in order; gives the sum of log-probabilities met on the way."""
    rows, room = batch.features, (int(np.diff(batch.offsets).max(initial=0)), model.labels)
    documents = _Documents(batch.offsets, rows.rows, rows.offsets, batch.document, batch.sentence)
    return float(
        _steps_on_documents(
            order, documents, _views(model, raw), rate, shrink, hard,
            new_scores(*room), new_sums(*room), new_sums(*room), new_scratch(*room),
        )
    )  # fmt: skip


@kernel
def _steps_on_documents(
    order: Indices, documents: _Documents, raw: _Weights, rate: float, shrink: float, hard: bool,
    scores: DocumentScores, model: DocumentSums, known: DocumentSums, scratch: Scratch,
) -> float:  # fmt: skip
    total, factor = 0.0, 1.0
    for document in order:
        size = documents.offsets[document + 1] - documents.offsets[document]
        if size == 0:
            continue
        _score(document, documents, raw, factor, scores)
        for d in range(len(scores.edge)):
            sum_chain(d, size, scores, model, scratch)
        log_model = sum_labels(model)
        log_known = _expect_known(document, documents, hard, scores, model, known, scratch)
        total += log_known - log_model
        factor *= shrink
        _move_text(document, documents, raw, rate / factor, model, known)
        _move_ties(size, raw, rate / factor, model, known)
        if factor < 1e-9:
            raw.all[:] *= factor
            factor = 1.0
    raw.all[:] *= factor
    return total


@inner_kernel
def _score(document: int, documents: _Documents, raw: _Weights, factor: float, scores: DocumentScores) -> None:
    """The scores of a document under the weights factor * raw."""
    first, end = documents.offsets[document], documents.offsets[document + 1]
    n = len(scores.edge)
    for i in range(end - first):
        text = scores.label[0, i]
        text[:] = 0.0
        for k in range(documents.row_offsets[first + i], documents.row_offsets[first + i + 1]):
            row = documents.rows[k]
            if row >= 0:
                for y in range(n):
                    text[y] += raw.text[row, y]
        for y in range(n):
            text[y] *= factor
        for d in range(n - 1, -1, -1):  # the first label of the document last: its row holds the scores of the text
            for y in range(n):
                scores.label[d, i, y] = text[y]
                if len(raw.agreement) > 0:
                    scores.label[d, i, y] += factor * raw.agreement[d, y]
                if i == 0:
                    scores.label[d, i, y] += factor * raw.starts[d % len(raw.starts), y]
    for d in range(n):
        for y in range(n):
            for z in range(n):
                scores.edge[d, y, z] = factor * raw.transitions[d % len(raw.transitions), y, z]


@kernel
def _expect_known(
    document: int, documents: _Documents, hard: bool,
    scores: DocumentScores, model: DocumentSums, known: DocumentSums, scratch: Scratch,
) -> float:  # fmt: skip
    """What is expected given the known labels; gives the logarithm of their sum, or with `hard` the best score."""
    first, end = documents.offsets[document], documents.offsets[document + 1]
    label, sentences, size = documents.document[document], documents.sentence[first:end], end - first
    labelled = sentences.max() >= 0
    for d in range(len(scores.edge)):
        if label >= 0 and label != d:
            exclude(d, size, known)
        elif labelled or hard:
            for i in range(size):
                for y in range(scores.label.shape[2]):
                    if sentences[i] >= 0 and sentences[i] != y:
                        scores.label[d, i, y] = -np.inf
            if hard:
                best_chain(d, size, scores, known, scratch)
            else:
                sum_chain(d, size, scores, known, scratch)
        else:  # nothing is known of the sentences
            known.log_z[d] = model.log_z[d]
            known.label[d, :size] = model.label[d, :size]
            known.edge[d] = model.edge[d]
    return best_label(known) if hard else sum_labels(known)


@inner_kernel
def _move_text(
    document: int, documents: _Documents, raw: _Weights, step: float, model: DocumentSums, known: DocumentSums
) -> None:
    """Move the weights of features:  sum over d of p(d) [ q(y_i) - p(y_i | d) ]  for every feature of sentence i."""
    first, end = documents.offsets[document], documents.offsets[document + 1]
    n = len(model.document)
    for i in range(end - first):
        for y in range(n):
            seen, change = 0.0, 0.0
            for d in range(n):
                seen += known.document[d] * known.label[d, i, y]
            for d in range(n):
                change += model.document[d] * (seen - model.label[d, i, y])
            if change != 0.0:
                for k in range(documents.row_offsets[first + i], documents.row_offsets[first + i + 1]):
                    if documents.rows[k] >= 0:
                        raw.text[documents.rows[k], y] += step * change


@inner_kernel
def _move_ties(size: int, raw: _Weights, step: float, model: DocumentSums, known: DocumentSums) -> None:
    """Move agreement, transitions and starts, which a document's label ties to those of its sentences."""
    n = len(model.document)
    for d in range(n):
        p, q = model.document[d], known.document[d]
        for y in range(n):
            if len(raw.agreement) > 0:
                change = 0.0
                for i in range(size):
                    change += q * known.label[d, i, y] - p * model.label[d, i, y]
                raw.agreement[d, y] += step * change
            raw.starts[d % len(raw.starts), y] += step * (q * known.label[d, 0, y] - p * model.label[d, 0, y])
            for z in range(n):
                change = q * known.edge[d, y, z] - p * model.edge[d, y, z]
                raw.transitions[d % len(raw.transitions), y, z] += step * change

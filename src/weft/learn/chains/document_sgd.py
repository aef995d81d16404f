"""Stochastic gradient for documents of which some have labelled sentences and most only a label of their own.

    L(w) = share * L_F(w) + (1 - share) * L_C(w)
    L_F(w) = sum over documents with labelled sentences of log p(d, y | s) - |w|^2 / 2 variance
    L_C(w) = sum over the others of log sum_y p(d, y | s) - |w|^2 / 2 variance          (hard: log max_y)

Each step takes a document of the first kind with probability `share`, else one of the second, both in turn and shuffled
anew when all were seen, and goes `rate` along the gradient of its log-probability; the prior is spread over the steps
of an epoch, which sees every document of the second kind once. Share 1 is the supervised model, share 0 the one that
knows labels of documents only. With p_d = p(d | s) and q what is known, the gradient for sentence i is

    sum over d of p_d [ q(y_i) - p(y_i | d) ]

which is 0, not nearly 0, where labels of sentences do not hang on the document's. As in `weft.learn.online.sgd` the
prior is one common factor: w = factor * raw. One kernel does all of it, since an update takes less time than a call.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Rows
from weft.errors import ConfigError
from weft.kernel import kernel
from weft.learn.chains.document_model import UNKNOWN, DocumentBatch, DocumentModel, Labels
from weft.learn.protocol import Indices
from weft.learn.training import Callback, Result, Row, Step
from weft.progress import progress


@dataclass(frozen=True)
class DocumentSGD:
    """Options. `variance` is that of the Gaussian prior; `share` is the part of steps on labelled sentences (lambda).

    >>> from weft.learn.chains.model import FeatureRows
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
        """Refuse options that make no sense."""
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
        """Train on a batch of documents of both kinds; `callback` may say True after an epoch to end it."""
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


def _run(
    model: DocumentModel, batch: DocumentBatch, order: Indices, raw: Floats, rate: float, shrink: float, hard: bool
) -> float:
    """Steps over documents in order; gives the sum of log-probabilities met on the way."""
    longest = int(np.diff(batch.offsets).max(initial=0))
    rows, blocks = batch.features, np.array(model.blocks)
    return float(
        _steps_on_documents(
            order, batch.offsets, rows.rows, rows.offsets, batch.document, batch.sentence, raw, rate, shrink, hard,
            blocks, model.agreement, model.matrices, longest, model.labels,
        )
    )  # fmt: skip


@kernel
def _steps_on_documents(
    order: Indices,
    offsets: Indices,
    rows: Rows,
    row_offsets: Indices,
    documents: Labels,
    sentences: Labels,
    raw: Floats,
    rate: float,
    shrink: float,
    hard: bool,
    blocks: Indices,
    agreement: bool,
    matrices: int,
    longest: int,
    n_labels: int,
) -> float:
    n = n_labels
    node = np.zeros((longest, n))
    score = np.zeros((longest, n))
    alpha, beta = np.zeros((longest, n)), np.zeros((longest, n))
    model = np.zeros((n, longest, n))
    model_edge = np.zeros((n, n, n))
    known = np.zeros((n, longest, n))
    known_edge = np.zeros((n, n, n))
    edge = np.zeros((n, n))
    log_z, log_known = np.zeros(n), np.zeros(n)
    total, factor = 0.0, 1.0
    for document in order:
        first, end = offsets[document], offsets[document + 1]
        size = end - first
        if size == 0:
            continue
        for i in range(size):
            for y in range(n):
                node[i, y] = 0.0
            for k in range(row_offsets[first + i], row_offsets[first + i + 1]):
                if rows[k] >= 0:
                    for y in range(n):
                        node[i, y] += raw[rows[k] * n + y]
        labelled = False
        for i in range(size):
            labelled = labelled or sentences[first + i] >= 0
        for d in range(n):
            matrix = d if matrices > 1 else 0
            for y in range(n):
                for z in range(n):
                    edge[y, z] = factor * raw[blocks[1] + (matrix * n + y) * n + z]
            for i in range(size):
                for y in range(n):
                    score[i, y] = factor * node[i, y]
                    if agreement:
                        score[i, y] += factor * raw[blocks[0] + d * n + y]
                    if i == 0:
                        score[i, y] += factor * raw[blocks[2] + matrix * n + y]
            log_z[d] = _chain(size, n, score, edge, alpha, beta, model[d], model_edge[d])
            log_known[d] = -np.inf
            if documents[document] >= 0 and documents[document] != d:
                continue
            if not labelled and not hard:
                log_known[d] = log_z[d]
                known[d, :size] = model[d, :size]
                known_edge[d] = model_edge[d]
                continue
            for i in range(size):
                if sentences[first + i] >= 0:
                    for y in range(n):
                        if y != sentences[first + i]:
                            score[i, y] = -np.inf
            if hard:
                log_known[d] = _best_path(size, n, score, edge, alpha, known[d], known_edge[d])
            else:
                log_known[d] = _chain(size, n, score, edge, alpha, beta, known[d], known_edge[d])
        top, known_top = _log_sum(log_z), _log_sum(log_known)
        if hard:
            # The best labels of all: every document's label but that of the best path is out.
            winner = np.argmax(log_known)
            known_top = log_known[winner]
            for d in range(n):
                if d != winner:
                    log_known[d] = -np.inf
        total += known_top - top
        factor *= shrink
        step = rate / factor
        for i in range(size):
            for y in range(n):
                seen = 0.0
                for d in range(n):
                    if log_known[d] > -np.inf:
                        seen += np.exp(log_known[d] - known_top) * known[d, i, y]
                change = 0.0
                for d in range(n):
                    change += np.exp(log_z[d] - top) * (seen - model[d, i, y])
                if change != 0.0:
                    for k in range(row_offsets[first + i], row_offsets[first + i + 1]):
                        if rows[k] >= 0:
                            raw[rows[k] * n + y] += step * change
        for d in range(n):
            p = np.exp(log_z[d] - top)
            q = np.exp(log_known[d] - known_top) if log_known[d] > -np.inf else 0.0
            matrix = d if matrices > 1 else 0
            for y in range(n):
                here = 0.0
                for i in range(size):
                    here += (q * known[d, i, y] if q > 0.0 else 0.0) - p * model[d, i, y]
                if agreement:
                    raw[blocks[0] + d * n + y] += step * here
                at_start = (q * known[d, 0, y] if q > 0.0 else 0.0) - p * model[d, 0, y]
                raw[blocks[2] + matrix * n + y] += step * at_start
                for z in range(n):
                    passing = (q * known_edge[d, y, z] if q > 0.0 else 0.0) - p * model_edge[d, y, z]
                    raw[blocks[1] + (matrix * n + y) * n + z] += step * passing
        if factor < 1e-9:
            raw *= factor
            factor = 1.0
    raw *= factor
    return total


@kernel
def _log_sum(values: Floats) -> float:
    top = values.max()
    if top == -np.inf:
        return -np.inf
    return top + np.log(np.exp(values - top).sum())


@kernel
def _chain(
    size: int, n: int, score: Floats, edge: Floats, alpha: Floats, beta: Floats, node: Floats, edges: Floats
) -> float:
    """log Z of one chain, its marginals of labels and, summed, of transitions, by sums of logarithms."""
    for y in range(n):
        alpha[0, y] = score[0, y]
    for i in range(1, size):
        for y in range(n):
            top = -np.inf
            for x in range(n):
                top = max(top, alpha[i - 1, x] + edge[x, y])
            rest = 0.0
            if top > -np.inf:
                for x in range(n):
                    rest += np.exp(alpha[i - 1, x] + edge[x, y] - top)
                top += np.log(rest)
            alpha[i, y] = top + score[i, y]
    log_z = _log_sum(alpha[size - 1, :n])
    for y in range(n):
        beta[size - 1, y] = 0.0
        for z in range(n):
            edges[y, z] = 0.0
    for i in range(size - 1, 0, -1):
        for x in range(n):
            top = -np.inf
            for y in range(n):
                top = max(top, edge[x, y] + score[i, y] + beta[i, y])
            rest = 0.0
            for y in range(n):
                rest += np.exp(edge[x, y] + score[i, y] + beta[i, y] - top)
                edges[x, y] += np.exp(alpha[i - 1, x] + edge[x, y] + score[i, y] + beta[i, y] - log_z)
            beta[i - 1, x] = top + np.log(rest)
    for i in range(size):
        for y in range(n):
            node[i, y] = np.exp(alpha[i, y] + beta[i, y] - log_z)
    return log_z


@kernel
def _best_path(size: int, n: int, score: Floats, edge: Floats, best: Floats, node: Floats, edges: Floats) -> float:
    """The score of the best path, and the path as indicators."""
    for y in range(n):
        best[0, y] = score[0, y]
        for z in range(n):
            edges[y, z] = 0.0
    for i in range(1, size):
        for y in range(n):
            top = -np.inf
            for x in range(n):
                top = max(top, best[i - 1, x] + edge[x, y])
            best[i, y] = top + score[i, y]
    node[:size] = 0.0
    label = np.argmax(best[size - 1, :n])
    found = best[size - 1, label]
    node[size - 1, label] = 1.0
    for i in range(size - 1, 0, -1):
        before = np.argmax(best[i - 1, :n] + edge[:, label])
        edges[before, label] += 1.0
        node[i - 1, before] = 1.0
        label = before
    return found

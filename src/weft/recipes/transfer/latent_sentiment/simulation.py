"""Generated documents with known latent labels, and the four ways to train on them.

A document has a label d; the labels of its sentences follow a Markov chain that depends on d; part of the words of a
sentence belong to its label and the rest to all labels, both with Zipfian frequencies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from weft.features.index import FeatureIndex
from weft.infer.chains.document import DocumentParts
from weft.learn.chains.document_model import DocumentBatch, DocumentModel
from weft.learn.chains.document_sgd import DocumentSGD
from weft.learn.chains.model import FeatureRows
from weft.recipes.transfer.latent_sentiment.data import COARSE_RATE, FINE_EPOCHS, FINE_RATE
from weft.tasks.sentiment.features import derived_keys
from weft.tasks.sentiment.sentences import METHODS
from weft.text.conventions.polarity import POLARITIES


@dataclass(frozen=True)
class Generator:
    """Documents with known latent labels; `class_words` is the fraction of words that depend on the sentence label."""

    words: int = 3000
    classes: int = 300  # words of each label
    class_words: float = 0.2
    length: int = 10  # words of a sentence
    sentences: int = 10
    loyalty: float = 0.55  # how much of a label's weight in the chain is the document's

    def draw(self, count: int, seed: int, fine: bool = False) -> tuple[DocumentBatch, NDArray[np.int32]]:
        """Documents and the labels of their sentences, which the documents contain only if `fine`."""
        rng = np.random.default_rng(seed)
        document = rng.integers(0, 3, count).astype(np.int32)
        label = np.empty((count, self.sentences), dtype=np.int32)
        before = rng.integers(0, 3, count)
        for i in range(self.sentences):
            choice = rng.random(count)
            other = rng.integers(0, 3, count)
            label[:, i] = before = np.where(
                choice < self.loyalty, document, np.where(choice < self.loyalty + 0.2, before, other)
            )
        truth = label.ravel()
        of_class = rng.random((len(truth), self.length)) < self.class_words
        own = self.words + truth[:, None] * self.classes + self._zipf(rng, self.classes, of_class.shape)
        rows = np.where(of_class, own, self._zipf(rng, self.words, of_class.shape)).astype(np.int32)
        features = FeatureRows(rows.ravel(), np.arange(len(truth) + 1) * self.length, np.zeros(0))
        known = truth if fine else np.full(len(truth), -1, dtype=np.int32)
        return DocumentBatch.of(np.arange(count + 1) * self.sentences, features, document, known), truth

    @property
    def features(self) -> int:
        return self.words + 3 * self.classes

    def _zipf(self, rng: np.random.Generator, size: int, shape: tuple[int, ...]) -> NDArray[np.int64]:
        weights = 1.0 / np.arange(1, size + 1)
        bounds = np.cumsum(weights / weights.sum())
        return np.minimum(np.searchsorted(bounds, rng.random(shape)), size - 1)


def joined(batches: Sequence[DocumentBatch]) -> DocumentBatch:
    """Several batches as one."""
    sizes = np.concatenate([np.diff(batch.features.offsets) for batch in batches])
    lengths = np.concatenate([np.diff(batch.offsets) for batch in batches])
    features = FeatureRows(
        np.concatenate([batch.features.rows for batch in batches]),
        np.concatenate([[0], np.cumsum(sizes)]),
        np.zeros(0),
    )
    return DocumentBatch.of(
        np.concatenate([[0], np.cumsum(lengths)]), features,
        np.concatenate([batch.document for batch in batches]), np.concatenate([batch.sentence for batch in batches]),
    )  # fmt: skip


def with_thoughts(batch: DocumentBatch, posterior: DocumentParts, index: FeatureIndex, first: int) -> DocumentBatch:
    """A batch whose sentences also have a coarse model's predictions as features (rows from `first` on)."""
    document = posterior.document[np.repeat(np.arange(len(batch)), np.diff(batch.offsets))]
    keys = derived_keys(posterior.label, document)
    rows = index.rows(keys.ravel()).reshape(keys.shape)
    further = np.where(rows >= 0, rows + first, -1).astype(np.int32)
    old = batch.features
    places = np.concatenate(
        [np.repeat(np.arange(len(keys)), np.diff(old.offsets)), np.repeat(np.arange(len(keys)), keys.shape[1])]
    )
    order = np.argsort(places, kind="stable")
    merged = np.concatenate([old.rows, further.ravel()])[order]
    offsets = old.offsets + keys.shape[1] * np.arange(len(old.offsets))
    return replace(batch, features=FeatureRows(merged, offsets, np.zeros(0)))


@dataclass(frozen=True)
class Simulated:
    """Sentence accuracy on generated documents, and the F1 of positive sentences in negative documents."""

    accuracy: float
    positive_in_negative: float


def rated_documents(count: int, seed: int) -> DocumentBatch:
    """Documents whose sentences have no labels."""
    pieces = range(0, count, 10_000)
    return joined([Generator().draw(min(10_000, count - k), seed + 3 + k)[0] for k in pieces])


@lru_cache(maxsize=4)
def _coarse_weights(rated: int, epochs: int, seed: int) -> NDArray[np.float64]:
    """What rated documents alone teach, however many labelled ones other systems have."""
    model = DocumentModel(Generator().features)
    return (
        DocumentSGD(0.0, epochs, COARSE_RATE, seed=seed).fit(model, rated_documents(rated, seed), model.start()).weights
    )


def simulate(
    rated: int, labelled: int = 60, epochs: int = 4, seed: int = 0, methods: Sequence[str] = METHODS
) -> dict[str, Simulated]:
    """All systems on generated documents whose latent labels are known."""
    generator = Generator()
    test, truth = generator.draw(600, seed + 1)
    fine = generator.draw(labelled, seed + 2, fine=True)[0]
    model = DocumentModel(generator.features)
    supervised = DocumentSGD(1.0, FINE_EPOCHS, FINE_RATE, seed=seed)

    def score(own: DocumentModel, weights: NDArray[np.float64], batch: DocumentBatch = test) -> Simulated:
        labels = own.score(batch, weights).marginals().sentence.argmax(axis=1)
        inside = np.repeat(test.document, np.diff(test.offsets)) == POLARITIES.index("neg")
        both = (labels == 0) & (truth == 0) & inside
        found, gold = ((labels == 0) & inside).sum(), ((truth == 0) & inside).sum()
        return Simulated(100 * float(np.mean(labels == truth)), 100 * 2 * float(both.sum()) / float(found + gold))

    scores = {}
    if "fine" in methods:
        scores["fine"] = score(model, supervised.fit(model, fine, model.start()).weights)
    if "interpolated" in methods:
        learner = DocumentSGD(0.1, epochs, COARSE_RATE, seed=seed)
        weights = learner.fit(model, joined([rated_documents(rated, seed), fine]), model.start()).weights
        scores["interpolated"] = score(model, weights)
    weights = _coarse_weights(rated, epochs, seed)
    if "coarse" in methods:
        scores["coarse"] = score(model, weights)
    if "cascaded" in methods:
        seen, index = model.score(fine, weights).marginals(), FeatureIndex()
        index.add(
            np.unique(derived_keys(seen.label, seen.document[np.repeat(np.arange(len(fine)), np.diff(fine.offsets))]))
        )
        wider = DocumentModel(generator.features + len(index))
        learned = supervised.fit(wider, with_thoughts(fine, seen, index, generator.features), wider.start())
        thoughts = model.score(test, weights).marginals()
        scores["cascaded"] = score(wider, learned.weights, with_thoughts(test, thoughts, index, generator.features))
    return scores

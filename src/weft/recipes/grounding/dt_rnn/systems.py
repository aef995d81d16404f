"""The rows of the tables: networks with their settings, canonical correlation, and how they rank.

The settings of every network and loss are the best of eight (length of the word vectors, penalty, rate), those of the
correlation analyses the best of eight ridges and dimensions: by image search on the development images of two splits
that are not scored. An earlier search on the development images of two others had set the margin and these ranges. The
number of epochs is chosen on the development images of each split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.arrays import Bools, Floats, Ints
from weft.evaluate.retrieval import best_ranks
from weft.features.representations.ppmi import WordTable
from weft.learn.neural.correlation import CCA, KernelCCA
from weft.learn.neural.ranker import Ranker, RankingOptions, train_ranker
from weft.learn.neural.ranking import MARGIN, SQUARED
from weft.tasks.images.encoder import SentenceEncoder
from weft.tasks.images.trees import CaptionTree


@dataclass(frozen=True)
class Network:
    """A network and its settings; `length` is that of the word vectors, the last three those of the squared loss."""

    kind: str
    weighted: bool = True
    length: float = 6.0
    l2: float = 100.0
    rate: float = 0.02
    epochs: int = 20
    every: int = 2
    squared_length: float = 6.0
    squared_l2: float = 0.1
    squared_rate: float = 0.02

    def with_epochs(self, epochs: int) -> Network:
        """The same with another number of epochs."""
        return replace(self, epochs=epochs)

    def options(self, squared: bool, seed: int) -> RankingOptions:
        """The options of training."""
        loss, l2, rate = (SQUARED, self.squared_l2, self.squared_rate) if squared else (MARGIN, self.l2, self.rate)
        return RankingOptions(loss, 1.0, l2, rate, epochs=self.epochs, every=self.every, seed=seed)


@dataclass(frozen=True)
class Correlation:
    """A correlation analysis: a kernel, or none; the ridge, and the dimensions that are kept."""

    kernel: str = ""
    ridge: float = 100.0
    dimensions: int = 40


#: What image vectors are multiplied with before a ridge is added.
_SPREAD = 3.5


@dataclass
class Data:
    """Sentences with the images that they describe."""

    trees: Sequence[CaptionTree]
    owners: Ints
    images: Floats

    @property
    def correct(self) -> Bools:
        """For every sentence, which image it describes."""
        found: Bools = self.owners[:, None] == np.arange(len(self.images))
        return found


@dataclass
class Ranks:
    """The ranks of all queries of a test set."""

    search: Floats  #: of the image, per sentence
    describe: Floats  #: of the best sentence, per image
    similar: Floats  #: of the nearest sentence of the same image, per sentence


def ranks(sentences: Floats, images: Floats, data: Data, euclidean: bool = False) -> Ranks:
    """Rank images by sentences, sentences by images, and sentences by sentences."""
    scores, likeness = _scores(sentences, images, euclidean), _scores(sentences, sentences, euclidean)
    np.fill_diagonal(likeness, -np.inf)
    same = data.owners[:, None] == data.owners
    np.fill_diagonal(same, False)
    several = same.any(axis=1)
    return Ranks(
        best_ranks(scores, data.correct), best_ranks(scores.T, data.correct.T),
        best_ranks(likeness[several], same[several]),
    )  # fmt: skip


def _scores(a: Floats, b: Floats, euclidean: bool) -> Floats:
    inner: Floats = a @ b.T
    return 2 * inner - (a**2).sum(axis=1)[:, None] - (b**2).sum(axis=1) if euclidean else inner


@dataclass
class Trained:
    """A trained network that encodes trees."""

    encoder: SentenceEncoder
    ranker: Ranker
    vectors: Floats
    euclidean: bool = False

    def encode(self, trees: Sequence[CaptionTree]) -> Floats:
        """The vectors of sentences."""
        return self.ranker.encode(self.encoder.structures(trees), self.vectors)

    def ranks(self, data: Data) -> Ranks:
        """The ranks of a test set."""
        return ranks(self.encode(data.trees), self.ranker.project(data.images), data, self.euclidean)


def trained(
    network: Network, table: WordTable, train: Data, dev: Data, seed: int = 0, squared: bool = False
) -> Trained:
    """Train a network; the epoch is the best in image search on development data."""
    encoder = SentenceEncoder.fit(network.kind, table, train.trees, weighted=network.weighted)
    options = network.options(squared, seed)
    ranker = Ranker.new(encoder.new_network(seed=seed), train.images.shape[1], seed)
    vectors = (network.squared_length if squared else network.length) * table.vectors
    held_out = encoder.structures(dev.trees)

    def score(now: Ranker) -> float:
        scores = _scores(now.encode(held_out, vectors), now.project(dev.images), squared)
        return float(best_ranks(scores, dev.correct).mean())

    best, _ = train_ranker(ranker, encoder.structures(train.trees), vectors, train.images, train.owners, options, score)
    return Trained(encoder, best, vectors, squared)


def means(table: WordTable, trees: Sequence[CaptionTree]) -> Floats:
    """The mean word vector of every sentence."""
    return np.array([table.vectors[table.rows(tree.words)].mean(axis=0) for tree in trees])


def correlated(table: WordTable, train: Data, test: Data, setting: Correlation) -> Ranks:
    """Canonical correlation of mean word vectors and images; with a kernel, over images with all their sentences."""
    width = np.sqrt(table.vectors.shape[1])
    sentences, queries = width * means(table, train.trees), width * means(table, test.trees)
    images, items = _SPREAD * train.images, _SPREAD * test.images
    if not setting.kernel:
        found: CCA | KernelCCA = CCA.fit(sentences, images[train.owners], setting.dimensions, setting.ridge, 1.0)
    else:
        summed = np.zeros((len(images), sentences.shape[1]))
        np.add.at(summed, train.owners, sentences)
        by_image = summed / np.bincount(train.owners, minlength=len(images))[:, None]
        found = KernelCCA.fit(by_image, images, setting.dimensions, setting.ridge, 1.0, setting.kernel)
    return ranks(found.first(queries), found.second(items), test)

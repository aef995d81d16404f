"""Sentences and images in one space, trained to rank: y = network(sentence), v = W z, score = v . y.

    J = loss(V, Y) + lambda/2 (|theta|^2 + |W|^2)

An update takes a batch of images with all their sentences; within it all others are negatives. Word vectors and image
vectors stay as they are. The squared loss moves W and the network by turns, an epoch each (Socher et al. 2014).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.learn.neural.descent import ResettingAdaGrad
from weft.learn.neural.forests import Structures
from weft.learn.neural.networks import RecursiveNetwork
from weft.learn.neural.ranking import MARGIN, SQUARED, margin_loss, squared_loss

#: How many sentences are encoded at a time.
_BLOCK = 4096
IMAGES = "images"


@dataclass(frozen=True)
class RankingOptions:
    """Options of training; `batch` counts images, 0 takes all at once."""

    loss: str = MARGIN
    margin: float = 3.0
    l2: float = 0.08
    rate: float = 0.01
    reset: int = 5
    epochs: int = 60
    batch: int = 200
    every: int = 2  #: epochs between scores on dev data
    seed: int = 0

    def __post_init__(self) -> None:
        if self.loss not in (MARGIN, SQUARED):
            raise ConfigError(f"the loss must be {MARGIN} or {SQUARED}, got {self.loss!r}")
        if self.margin <= 0 or self.l2 < 0 or self.epochs < 1 or self.batch < 0 or self.every < 1:
            raise ConfigError("margin, epochs and every must be above 0, l2 and batch at least 0")


@dataclass
class Ranker:
    """A network for sentences and a linear map for images."""

    network: RecursiveNetwork
    image_map: Floats  #: [n, D]

    @classmethod
    def new(cls, network: RecursiveNetwork, width: int, seed: int = 0) -> Ranker:
        """A ranker with a small random map of images of `width` dimensions."""
        rng = np.random.default_rng([seed, 1])
        return cls(network, 0.01 * rng.standard_normal((network.size, width)))

    def encode(self, structures: Structures, vectors: Floats) -> Floats:
        """The vectors of sentences."""
        found = np.zeros((len(structures), self.network.size))
        for first in range(0, len(structures), _BLOCK):
            chosen = np.arange(first, min(first + _BLOCK, len(structures)))
            found[chosen] = self.network.encode(structures.batch(chosen), vectors)
        return found

    def project(self, images: Floats) -> Floats:
        """Images in the space of sentences."""
        found: Floats = images @ self.image_map.T
        return found

    def parameters(self) -> dict[str, Floats]:
        """All that is learned, by name."""
        return {**self.network.parameters, IMAGES: self.image_map}

    def copy(self) -> Ranker:
        """The same with its own arrays."""
        network = self.network
        kept = {name: value.copy() for name, value in network.parameters.items()}
        return Ranker(RecursiveNetwork(network.size, network.activation, kept), self.image_map.copy())

    def loss(
        self,
        structures: Structures,
        chosen: Ints,
        vectors: Floats,
        images: Floats,
        owners: Ints,
        options: RankingOptions,
    ) -> tuple[float, dict[str, Floats]]:
        """The loss of sentences that describe `images` (their rows: `owners`), and its gradients."""
        batch = structures.batch(chosen)
        sentences, projected = self.network.encode(batch, vectors), self.project(images)
        if options.loss == MARGIN:
            value, by_image, by_sentence = margin_loss(projected, sentences, owners, options.margin)
        else:
            value, by_image, by_sentence = squared_loss(projected, sentences, owners)
        found = self.network.gradients(batch, by_sentence)
        found[IMAGES] = by_image.T @ images
        for name, weights in self.parameters().items():
            value += 0.5 * options.l2 * float((weights**2).sum())
            found[name] += options.l2 * weights
        return value, found


def train_ranker(
    ranker: Ranker,
    structures: Structures,
    vectors: Floats,
    images: Floats,
    owners: Ints,
    options: RankingOptions,
    score: Callable[[Ranker], float] | None = None,
    step: Callable[[], None] | None = None,
) -> tuple[Ranker, list[float]]:
    """Train on sentences whose images are the rows `owners` of `images`; returns the ranker and the losses of epochs.

    With `score` (lower is better, such as a mean rank on dev data), the best of the scored epochs is kept. `step` is
    called after every epoch.
    """
    owners = np.asarray(owners, dtype=np.int64)
    if len(owners) != len(structures) or not len(owners):
        raise DataError(f"training needs one image per sentence, got {len(owners)} for {len(structures)} sentences")
    rng = np.random.default_rng([options.seed, 2])
    descent = ResettingAdaGrad(options.rate, options.reset)
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(len(images) + 1))
    present = np.unique(owners)
    best, least = ranker.copy(), np.inf
    losses = []
    for epoch in range(options.epochs):
        descent.begin_epoch(epoch)
        total = 0.0
        for picked in _batches(rng.permutation(present), options.batch):
            chosen = np.concatenate([order[starts[i] : starts[i + 1]] for i in picked.tolist()])
            own = np.repeat(np.arange(len(picked)), starts[picked + 1] - starts[picked])
            value, gradients = ranker.loss(structures, chosen, vectors, images[picked], own, options)
            if options.loss == SQUARED:  # by turns
                gradients = {name: each for name, each in gradients.items() if (name == IMAGES) == (epoch % 2 == 0)}
            total += value
            descent.step(ranker.parameters(), gradients)
        losses.append(total)
        if score is not None and ((epoch + 1) % options.every == 0 or epoch + 1 == options.epochs):
            found = score(ranker)
            if found < least:
                best, least = ranker.copy(), found
        if step is not None:
            step()
    return (best if score is not None else ranker), losses


def _batches(images: Ints, size: int) -> list[Ints]:
    """The images of each batch, about equally many."""
    count = max(1, round(len(images) / size)) if size else 1
    return [np.asarray(part, dtype=np.int64) for part in np.array_split(images, count)]

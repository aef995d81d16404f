"""Losses that bring pairs of vectors together: a margin in both directions, and squared distances.

With s_ij = v_i . y_j for images i and sentences j, each of which describes one image,

    margin    sum over pairs (i, j), sentences c of other images   max(0, D - s_ij + s_ic)
            + sum over pairs (i, j), images c other than i         max(0, D - s_ij + s_cj)
    squared   sum over pairs (i, j)                                |v_i - y_j|^2

All other sentences and images are negatives. The gradient of the margin loss passes through G_ij = dJ/ds_ij, which
counts violations: dJ/dV = G Y and dJ/dY = G' V.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Floats, Ints
from weft.kernel import kernel

#: Names of losses.
MARGIN, SQUARED = "margin", "squared"


def margin_loss(images: Floats, sentences: Floats, owners: Ints, margin: float) -> tuple[float, Floats, Floats]:
    """The loss, and its gradients by the vectors of images and of sentences; `owners` are the images of sentences.

    >>> value, by_image, by_sentence = margin_loss(np.eye(2), np.eye(2), np.array([0, 1]), 0.5)
    >>> value, by_image.tolist()  # all margins are met
    (0.0, [[0.0, 0.0], [0.0, 0.0]])
    >>> margin_loss(np.eye(2), np.eye(2), np.array([0, 1]), 1.5)[0]
    2.0
    """
    scores = images @ sentences.T
    by_score = np.zeros_like(scores)
    value = _violations(scores, np.asarray(owners, dtype=np.int64), float(margin), by_score, np.zeros(len(sentences)))
    return value, by_score @ sentences, by_score.T @ images


def squared_loss(images: Floats, sentences: Floats, owners: Ints) -> tuple[float, Floats, Floats]:
    """The loss, and its gradients by the vectors of images and of sentences.

    >>> squared_loss(np.eye(2), np.zeros((2, 2)), np.array([0, 1]))[0]
    2.0
    """
    difference = images[owners] - sentences
    by_image = np.zeros_like(images)
    np.add.at(by_image, owners, 2.0 * difference)
    return float((difference**2).sum()), by_image, -2.0 * difference


@kernel
def _violations(scores: Floats, owners: Ints, margin: float, by_score: Floats, own: Floats) -> float:
    """The loss; counts of violations go to `by_score`, less those of each pair."""
    images, sentences = scores.shape
    value = 0.0
    for j in range(sentences):
        own[j] = scores[owners[j], j] - margin
    for j in range(sentences):  # other sentences of the same image's row
        image, least, count = owners[j], own[j], 0
        for c in range(sentences):
            excess = scores[image, c] - least
            if excess > 0.0 and owners[c] != image:
                value += excess
                by_score[image, c] += 1.0
                count += 1
        by_score[image, j] -= count
    for c in range(images):
        for j in range(sentences):
            excess = scores[c, j] - own[j]
            if excess > 0.0 and owners[j] != c:
                value += excess
                by_score[c, j] += 1.0
                by_score[owners[j], j] -= 1.0
    return value

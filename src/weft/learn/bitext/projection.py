"""Annotation carried over links: what is known of a source word is evidence about the target words linked with it.

With A(j) the links (i, j, s) of target word j, y_i the label and p_i the label distribution of source word i:

    label        argmax_y  sum over A(j) of s [y_i = y]            (ties: the smallest label)
    posterior    mean over A(j) of p_i(y)                          (Wang and Manning 2014)
    counts       of target type t:  sum over its words j, over A(j), of s [y_i = y]   or   s p_i(y)

Words without a link get nothing: they are unconstrained, not "outside". Sentence s of a text is rows
`offsets[s]:offsets[s + 1]` of its arrays.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Bools, Floats
from weft.errors import WeftError
from weft.text.bitext import Links, check_links

Labels = NDArray[np.int64]


def project_labels(links: Links, labels: ArrayLike, source_offsets: ArrayLike, target_offsets: ArrayLike) -> Labels:
    """The label of every target word by the vote of its links, -1 where there is none; source labels of -1 don't vote.

    >>> links = Links.of([[(0, 1), (1, 0), (2, 0, 0.4)]])
    >>> project_labels(links, [7, 3, 5], [0, 3], [0, 3])
    array([ 3,  7, -1])
    """
    source, target = _words(links, source_offsets, target_offsets)
    given = _labels(labels, source_offsets)[source]
    voting = given >= 0
    target, given, score = target[voting], given[voting], links.score[voting]
    found = np.full(_size(target_offsets), -1, dtype=np.int64)
    # One row for each (target word, label), with the sum of its votes.
    width = int(given.max(initial=0)) + 1
    ballots, place = np.unique(target * width + given, return_inverse=True)
    votes = np.bincount(place, weights=score, minlength=len(ballots))
    word, label = np.divmod(ballots, width)
    last = np.lexsort((-label, votes, word))  # the last ballot of a word is its winner
    found[word[last]] = label[last]
    return found


def project_posteriors(
    links: Links, posteriors: ArrayLike, source_offsets: ArrayLike, target_offsets: ArrayLike
) -> tuple[Floats, Bools]:
    """The mean label distribution of every target word's links, and which target words have a link (others: zeros).

    >>> links = Links.of([[(0, 1), (1, 0), (2, 0)]])
    >>> mean, constrained = project_posteriors(links, [[1, 0], [0.5, 0.5], [0, 1]], [0, 3], [0, 3])
    >>> mean.tolist(), constrained.tolist()
    ([[0.25, 0.75], [1.0, 0.0], [0.0, 0.0]], [True, True, False])
    """
    source, target = _words(links, source_offsets, target_offsets)
    given = _distributions(posteriors, source_offsets)
    size = _size(target_offsets)
    sums = np.zeros((size, given.shape[1]))
    np.add.at(sums, target, given[source])
    n_links = np.bincount(target, minlength=size)
    return sums / np.maximum(n_links, 1)[:, None], n_links > 0


def project_scores(links: Links, source_offsets: ArrayLike, target_offsets: ArrayLike) -> Floats:
    """The score of every target word's best link, 0 where it has none.

    >>> project_scores(Links.of([[(0, 1, 0.5), (1, 1, 0.9)]]), [0, 2], [0, 2])
    array([0. , 0.9])
    """
    _, target = _words(links, source_offsets, target_offsets)
    best = np.zeros(_size(target_offsets))
    np.maximum.at(best, target, links.score)
    return best


def project_counts(
    links: Links,
    labels: ArrayLike,
    types: ArrayLike,
    source_offsets: ArrayLike,
    target_offsets: ArrayLike,
    *,
    n_types: int | None = None,
    n_labels: int | None = None,
) -> Floats:
    """How often the words of every target type are linked with every label, by score: `[type, label]`.

    `labels` holds a label a source word (-1: none) or a row of label probabilities. `types` numbers the target words;
    -1 is left out.

    >>> links = Links.of([[(0, 0), (1, 1, 0.5)], [(0, 0)]])
    >>> project_counts(links, [2, 0, 1], [4, 3, 4], [0, 2, 3], [0, 2, 3], n_labels=3)[3:].tolist()
    [[0.5, 0.0, 0.0], [0.0, 1.0, 1.0]]
    """
    source, target = _words(links, source_offsets, target_offsets)
    word_types = np.asarray(types, dtype=np.int64)
    if word_types.shape != (_size(target_offsets),):
        raise WeftError(f"types must name one type a target word, {_size(target_offsets)}; given: {word_types.shape}")
    rows = int(word_types.max(initial=-1)) + 1 if n_types is None else n_types
    kind = word_types[target]
    if np.ndim(labels) == 2:
        given = _distributions(labels, source_offsets)
        counts = np.zeros((rows, given.shape[1]))
        kept = kind >= 0
        np.add.at(counts, kind[kept], links.score[kept, None] * given[source[kept]])
        return counts
    label = _labels(labels, source_offsets)
    columns = int(label.max(initial=-1)) + 1 if n_labels is None else n_labels
    kept = (kind >= 0) & (label[source] >= 0)
    cells = kind[kept] * columns + label[source[kept]]
    sums = np.bincount(cells, weights=links.score[kept], minlength=rows * columns)
    return sums.astype(np.float64, copy=False).reshape(rows, columns)


def _words(links: Links, source_offsets: ArrayLike, target_offsets: ArrayLike) -> tuple[Labels, Labels]:
    """Every link's source word and target word, counted through the whole texts."""
    source, target = check_links(links, source_offsets, target_offsets)
    at = links.sentence()
    return source[at] + links.source, target[at] + links.target


def _size(offsets: ArrayLike) -> int:
    return int(np.asarray(offsets)[-1])


def _labels(labels: ArrayLike, source_offsets: ArrayLike) -> Labels:
    given = np.asarray(labels, dtype=np.int64)
    if given.shape != (_size(source_offsets),):
        raise WeftError(f"expected one label per source word, {_size(source_offsets)}; given: the shape {given.shape}")
    return given


def _distributions(posteriors: ArrayLike, source_offsets: ArrayLike) -> Floats:
    given = np.asarray(posteriors, dtype=np.float64)
    if given.ndim != 2 or len(given) != _size(source_offsets):
        raise WeftError(
            f"expected a row of label probabilities for each of {_size(source_offsets)} source words; "
            f"given: the shape {given.shape}"
        )
    return given

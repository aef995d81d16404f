"""Batches of sentences as one array: sentence `s` is rows `offsets[s]:offsets[s + 1]`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from weft.arrays import Floats
from weft.errors import InferenceError

Indices = NDArray[np.int64]
States = NDArray[np.int32]


def one_block(array: ArrayLike, dtype: DTypeLike) -> NDArray[Any]:
    """The array in one writable block of memory, copied only if needed, so that a kernel compiles for a single layout.

    >>> one_block(np.broadcast_to(np.int64(1), 2), np.float64)
    array([1., 1.])
    """
    return np.require(array, dtype, ["C", "W"])


def check_offsets(offsets: ArrayLike, size: int) -> Indices:
    """Offsets as int64, checked to begin at 0, never decrease, and end at `size`.

    >>> check_offsets([0, 2, 2, 5], 5)
    array([0, 2, 2, 5])
    """
    array = one_block(offsets, np.int64)
    if array.ndim != 1 or len(array) == 0 or array[0] != 0 or array[-1] != size or np.any(array[1:] < array[:-1]):
        raise InferenceError(
            f"offsets must rise from 0 to {size}, the number of positions, and number one more than the sentences; "
            f"given: {np.array2string(array, threshold=8)}"
        )
    return array


def check_scores(scores: ArrayLike, name: str) -> Floats:
    """Scores as float64 in one contiguous block; minus infinity is allowed, NaN and plus infinity are not.

    >>> check_scores([0, float("-inf")], "node scores")
    array([  0., -inf])
    """
    array = one_block(scores, np.float64)
    if array.size and not array.max() < np.inf:
        raise InferenceError(
            f"{name} contain NaN or plus infinity; scores must be finite, or minus infinity for forbidden parts: "
            "check the weights and features they were computed from"
        )
    return array


def check_shape(array: NDArray[Any], shape: tuple[int, ...], name: str) -> None:
    """Raise if an array does not have the expected shape."""
    if array.shape != shape:
        raise InferenceError(f"{name} must have the shape {shape} to match the scores; given: {array.shape}")


def sentence_of(offsets: Indices) -> Indices:
    """The sentence of every position.

    >>> sentence_of(np.array([0, 2, 2, 3]))
    array([0, 0, 2])
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def sum_by_sentence(values: Floats, offsets: Indices) -> Floats:
    """Sum the values of each sentence, given one value per position.

    >>> sum_by_sentence(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 4.])
    """
    sums = np.bincount(sentence_of(offsets), weights=values, minlength=len(offsets) - 1)
    return sums.astype(np.float64, copy=False)


def first_positions(offsets: Indices) -> Indices:
    """The first position of every sentence that is not empty.

    >>> first_positions(np.array([0, 2, 2, 3]))
    array([0, 2])
    """
    return offsets[:-1][offsets[1:] > offsets[:-1]]


def last_positions(offsets: Indices) -> Indices:
    """The last position of every sentence that is not empty.

    >>> last_positions(np.array([0, 2, 2, 3]))
    array([1, 2])
    """
    return offsets[1:][offsets[1:] > offsets[:-1]] - 1


def sentence_weights(weight: Floats | None, offsets: Indices) -> Floats:
    """One weight per sentence; all ones by default."""
    if weight is None:
        return np.ones(len(offsets) - 1)
    array = one_block(weight, np.float64)
    check_shape(array, (len(offsets) - 1,), "weight, one number per sentence,")
    return array


def one_factor(factor: float) -> float:
    """One factor for all sentences; arrays are rejected, because they would silently broadcast over states or labels.

    >>> one_factor(2)
    2.0
    """
    if np.ndim(factor) > 0:
        raise InferenceError(
            "parts are scaled by one number for the whole batch, because parts shared between sentences are sums; "
            "give factors per sentence as `weight` to parts(), marginals() or covariance()"
        )
    return float(factor)

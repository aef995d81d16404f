"""Lattices of type and token constraints: which labels every word may have in training.

    type constraint      T(x_i): the labels of the word's type, all of them where nothing is known of it
    token constraint     y~_i: the label of this occurrence, or none
    coupled              {y~_i} if y~_i is in T(x_i), else T(x_i)

A partially observed model learns from the coupled lattice (`allowed`) within the lattice of types (`space`), which is
the lattice it decodes in. Where the two sources disagree the types win; the other two ways to settle it, the union of
both and the token's label, widen the space in training so that it always contains what is allowed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from weft.arrays import Bools
from weft.errors import ConfigError, DataError

#: Who wins where a token's label is not among those of its type.
CONFLICTS = ("type", "union", "token")


class Lattices(NamedTuple):
    """Masks `[position, label]`: what training treats as true, and what it treats as possible."""

    allowed: Bools
    space: Bools


def couple(types: ArrayLike, tokens: ArrayLike, conflict: str = "type") -> Lattices:
    """Couple a mask of types with the label numbers of tokens (-1: none).

    >>> types = np.array([[True, False, False], [True, True, False], [True, True, True], [True, True, False]])
    >>> lattices = couple(types, [1, 1, 2, -1])  # a conflict, a choice, an unknown word, no projection
    >>> lattices.allowed.astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]]
    >>> couple(types, [1, 1, 2, -1], conflict="union").allowed[0].tolist()
    [True, True, False]
    """
    mask = np.array(types, dtype=np.bool_)
    labels = np.asarray(tokens, dtype=np.int64)
    if mask.ndim != 2 or labels.shape != (len(mask),):
        raise DataError(
            "types are a mask [position, label] and tokens one number per position; "
            f"given: {mask.shape} and {labels.shape}"
        )
    if conflict not in CONFLICTS:
        raise ConfigError(f"conflict must be one of {', '.join(CONFLICTS)}, got {conflict!r}")
    if labels.size and not -1 <= labels.min() <= labels.max() < mask.shape[1]:
        raise DataError(f"token labels are numbers below {mask.shape[1]}, or -1 for none")
    if len(mask) and not mask.any(axis=1).all():
        raise DataError(f"position {int(np.argmin(mask.any(axis=1)))} has no label left: its type must allow one")
    rows = np.flatnonzero(labels >= 0)
    columns = labels[rows]
    agree = mask[rows, columns]
    space = mask
    if conflict != "type":
        space = mask.copy()
        space[rows, columns] = True
    decided = rows if conflict == "token" else rows[agree]
    allowed = space.copy()
    allowed[decided] = False
    allowed[decided, labels[decided]] = True
    return Lattices(allowed, space)

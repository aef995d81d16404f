"""Cohen's kappa: agreement of two labellings beyond chance.

kappa = (p_o - p_e) / (1 - p_e),   p_o: share of equal labels,   p_e = sum over labels of  p_1(label) p_2(label)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from weft.errors import WeftError


def cohen_kappa(first: ArrayLike, second: ArrayLike) -> float:
    """Kappa of two labellings of the same items; 1 if both give all items one and the same label.

    >>> round(cohen_kappa(["a", "a", "b", "b"], ["a", "a", "b", "a"]), 3), cohen_kappa([0, 1], [1, 0])
    (0.5, -1.0)
    """
    one, other = np.asarray(first), np.asarray(second)
    if one.shape != other.shape or one.ndim != 1 or not len(one):
        raise WeftError("kappa compares two labellings of the same items, and of at least one")
    kinds, numbers = np.unique(np.concatenate([one, other]), return_inverse=True)
    a, b = numbers[: len(one)], numbers[len(one) :]
    observed = float(np.mean(a == b))
    expected = float(np.bincount(a, minlength=len(kinds)) @ np.bincount(b, minlength=len(kinds))) / len(one) ** 2
    return 1.0 if expected == 1.0 else (observed - expected) / (1 - expected)

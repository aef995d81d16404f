"""How far domains are apart, and which of them are worth labelling.

    d_A(D, D') = 2 sup over half-spaces A of |Pr_D[A] - Pr_D'[A]|

is estimated by how well a linear classifier tells the two domains apart (Blitzer et al. 2007): label every instance
with its domain, learn under the modified Huber loss L, and with its mean loss e on instances it has not seen

    proxy distance = 100 (1 - e),  at least 0          (0: nothing tells them apart, 100: everything does)

Always guessing costs L(0) = 1, which is where the 0 comes from. Domains to label are those that are near to all: of all
sets S of k domains the one with the least  sum over domains t of  min over s in S of  d(s, t).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Floats
from weft.errors import ConfigError, DataError
from weft.learn.linear.huber import fit_huber, huber_loss


def proxy_distance(one: Any, other: Any, l2: float = 1e-4, folds: int = 5, seed: int = 0) -> float:
    """The proxy A-distance of two domains, given as rows of instances (dense or sparse), from 0 to 100.

    Each domain weighs the same: the larger one is cut down to the size of the smaller. The loss is that of
    cross-validation with so many folds; `folds=1` takes it on the training instances themselves, which makes anything
    with more features than instances look far apart.

    >>> rng = np.random.default_rng(0)
    >>> same = proxy_distance(rng.normal(size=(200, 3)), rng.normal(size=(200, 3)))
    >>> far = proxy_distance(rng.normal(size=(200, 3)), rng.normal(size=(200, 3)) + 9.0)
    >>> same < 5, far > 95
    (True, True)
    """
    rng = np.random.default_rng(seed)
    size = min(one.shape[0], other.shape[0])
    if folds < 1 or size < max(2, folds):
        raise DataError(f"the distance of two domains needs at least {max(2, folds)} instances of each, got {size}")
    rows = [each[np.sort(rng.permutation(each.shape[0])[:size])] for each in (one, other)]
    fold = rng.permutation(size) % folds
    losses = []
    for held in range(folds):
        test = fold == held
        train = test if folds == 1 else ~test
        y = np.repeat([1.0, -1.0], int(train.sum()))
        fit = fit_huber(_stacked(rows, train), y, l2, intercept=True)
        losses.append(huber_loss(np.repeat([1.0, -1.0], int(test.sum())) * fit.scores(_stacked(rows, test))))
    return float(max(0.0, 100.0 * (1.0 - np.concatenate(losses).mean())))


@dataclass(frozen=True)
class DomainDistances:
    """Distances of all pairs of domains."""

    names: tuple[str, ...]
    matrix: Floats

    def of(self, one: str, other: str) -> float:
        """The distance of two domains by their names."""
        return float(self.matrix[self.names.index(one), self.names.index(other)])

    def sources(self, k: int, greedy: bool = False) -> tuple[str, ...]:
        """The k domains that are worth labelling, see `choose_sources`."""
        return tuple(self.names[i] for i in choose_sources(self.matrix, k, greedy))

    def as_dict(self) -> dict[str, Any]:
        return {one: {other: round(self.of(one, other), 2) for other in self.names} for one in self.names}


def domain_distances(domains: Mapping[str, Any], **options: Any) -> DomainDistances:
    """Distances of all pairs of domains whose instances lie in one space; options are those of `proxy_distance`.

    >>> rng = np.random.default_rng(0)
    >>> domains = {name: rng.normal(size=(50, 2)) + place for name, place in [("a", 0.0), ("b", 0.2), ("c", 9.0)]}
    >>> distances = domain_distances(domains)
    >>> distances.of("a", "b") < distances.of("a", "c"), distances.sources(2)
    (True, ('a', 'c'))
    """
    names = tuple(domains)
    matrix = np.zeros((len(names), len(names)))
    for (i, one), (j, other) in combinations(enumerate(names), 2):
        matrix[i, j] = matrix[j, i] = proxy_distance(domains[one], domains[other], **options)
    return DomainDistances(names, matrix)


def choose_sources(distances: ArrayLike, k: int, greedy: bool = False) -> tuple[int, ...]:
    """Which k domains to label so that every domain has one of them near: the k-medoids of a matrix of distances.

    All sets are tried where there are few; `greedy`, or more than 100,000 sets, adds one domain after the other.

    >>> choose_sources([[0, 1, 9, 9], [1, 0, 9, 9], [9, 9, 0, 2], [9, 9, 2, 0]], 2)
    (0, 2)
    """
    matrix = np.asarray(distances, dtype=np.float64)
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ConfigError(f"distances are a square matrix, one row and column a domain; got {matrix.shape}")
    if not 1 <= k <= n:
        raise ConfigError(f"of {n} domains, 1 to {n} can be chosen, not {k}")
    if greedy or comb(n, k) > 100_000:
        chosen: list[int] = []
        for _ in range(k):
            rest = [i for i in range(n) if i not in chosen]
            chosen.append(min(rest, key=lambda i: coverage(matrix, [*chosen, i])))
        return tuple(sorted(chosen))
    return min(combinations(range(n), k), key=lambda chosen: coverage(matrix, chosen))


def coverage(distances: NDArray[Any], chosen: Sequence[int]) -> float:
    """The sum over domains of the distance to the nearest chosen one.

    >>> coverage(np.array([[0, 1, 9], [1, 0, 9], [9, 9, 0]]), [0])
    10.0
    """
    return float(distances[list(chosen)].min(axis=0).sum())


def _stacked(rows: Sequence[Any], chosen: NDArray[np.bool_]) -> Any:
    parts = [each[np.flatnonzero(chosen)] for each in rows]
    if hasattr(parts[0], "tocsr"):
        from scipy.sparse import vstack

        return vstack(parts, format="csr")
    return np.concatenate(parts)

"""How far apart domains are, and which of them to label.

    d_A(D, D') = 2 sup over half-spaces A of |Pr_D[A] - Pr_D'[A]|

is estimated by how well a linear classifier separates the two domains (Blitzer et al. 2007): label every instance with
its domain, train with the modified Huber loss L, and with the mean loss e on unseen instances

    proxy distance = 100 (1 - e),  at least 0          (0: inseparable, 100: perfectly separable)

Guessing always costs L(0) = 1, which gives 0. The domains to label are those close to all others: among all sets S
of k domains the one that minimizes  sum over domains t of  min over s in S of  d(s, t).
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

    Both domains have equal weight: the larger one is subsampled to the size of the smaller. The loss is cross-validated
    with `folds` folds; `folds=1` uses the training instances themselves, which makes domains with more features than
    instances look far apart.

    >>> rng = np.random.default_rng(0)
    >>> same = proxy_distance(rng.normal(size=(200, 3)), rng.normal(size=(200, 3)))
    >>> far = proxy_distance(rng.normal(size=(200, 3)), rng.normal(size=(200, 3)) + 9.0)
    >>> same < 5, far > 95
    (True, True)
    """
    rng = np.random.default_rng(seed)
    size = min(one.shape[0], other.shape[0])
    if folds < 1 or size < max(2, folds):
        raise DataError(f"the distance of two domains needs at least {max(2, folds)} instances of each, but got {size}")
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
    """Distances between all pairs of domains."""

    names: tuple[str, ...]
    matrix: Floats

    def of(self, one: str, other: str) -> float:
        """The distance between two domains by name."""
        return float(self.matrix[self.names.index(one), self.names.index(other)])

    def sources(self, k: int, greedy: bool = False) -> tuple[str, ...]:
        """The k domains to label, see `choose_sources`."""
        return tuple(self.names[i] for i in choose_sources(self.matrix, k, greedy))

    def as_dict(self) -> dict[str, Any]:
        return {one: {other: round(self.of(one, other), 2) for other in self.names} for one in self.names}


def domain_distances(domains: Mapping[str, Any], **options: Any) -> DomainDistances:
    """Distances between all pairs of domains whose instances share one feature space; options as in `proxy_distance`.

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
    """The k domains to label so that every domain is close to one of them: the k-medoids of a distance matrix.

    All sets are tried if there are few; `greedy`, or more than 100,000 sets, adds one domain at a time.

    >>> choose_sources([[0, 1, 9, 9], [1, 0, 9, 9], [9, 9, 0, 2], [9, 9, 2, 0]], 2)
    (0, 2)
    """
    matrix = np.asarray(distances, dtype=np.float64)
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ConfigError(
            f"distances must be a square matrix with one row and column per domain, but got {matrix.shape}"
        )
    if not 1 <= k <= n:
        raise ConfigError(f"cannot choose {k} of {n} domains; choose 1 to {n}")
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

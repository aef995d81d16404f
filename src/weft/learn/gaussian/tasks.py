"""Covariances of tasks: how much what one annotator says tells of another.

    pooled        B = 1 1'                         all say the same
    independent   B = I                            none tells of another
    combined      B = 1 1' + a I                   a, learned: small is nearly pooled, large is nearly independent
    combined+     B = 1 1' + diag(a_1 .. a_D)      an outlier has a large a_d
    dense         B = W W' + diag(k)               any covariance of some rank (coregionalization)

Rows may have several descriptors (annotator, system, document); the covariance of two rows is then the product over
descriptors. An unseen value has the covariances of a new draw: off-diagonal 1, own variance 1 + a (the mean a).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.errors import ConfigError

SHARES = ("pooled", "independent", "combined", "combined+", "dense")
#: Rank of W of a dense covariance.
RANK = 2


@dataclass(frozen=True)
class Share:
    """How the values of one descriptor share: the form of B, its size, and its parameters (logarithms of a and k).

    >>> Share("combined", 2, np.log([0.5])).matrix().tolist()
    [[1.5, 1.0], [1.0, 1.5]]
    """

    kind: str
    size: int
    values: Floats

    @classmethod
    def of(cls, kind: str, size: int, a: float = 1.0, seed: int = 0) -> Share:
        """A covariance of tasks before learning; every a is given.

        >>> Share.of("combined+", 3, 0.1).matrix()[0].round(3).tolist()
        [1.1, 1.0, 1.0]
        """
        if kind not in SHARES:
            raise ConfigError(f"unknown covariance of tasks {kind!r}; it is one of {', '.join(SHARES)}")
        if kind == "dense":
            rank = min(RANK, size)
            # Columns of W differ at random: equal ones would stay equal.
            w = np.ones((size, rank)) / np.sqrt(rank) + 0.1 * np.random.default_rng(seed).normal(size=(size, rank))
            return cls(kind, size, np.concatenate([w.ravel(), np.full(size, np.log(a))]))
        count = {"combined": 1, "combined+": size}.get(kind, 0)
        return cls(kind, size, np.full(count, np.log(a)))

    def with_values(self, values: Floats) -> Share:
        return Share(self.kind, self.size, np.asarray(values, dtype=np.float64))

    @property
    def own(self) -> Floats:
        """What every value adds to its own variance: a_d, or k_d."""
        if self.kind in ("pooled", "independent"):
            return np.full(self.size, 0.0 if self.kind == "pooled" else np.inf)
        alone: Floats = np.exp(self.values[self._rank_size :])
        return np.broadcast_to(alone, self.size).copy() if self.kind == "combined" else alone

    @property
    def _rank_size(self) -> int:
        return self.size * min(RANK, self.size) if self.kind == "dense" else 0

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Bounds of the parameters for learning."""
        low = self._rank_size
        return [(-10.0, 10.0)] * low + [(-9.0, 9.0)] * (len(self.values) - low)

    @property
    def _w(self) -> Floats:
        return self.values[: self._rank_size].reshape(self.size, -1)

    def matrix(self) -> Floats:
        """B."""
        if self.kind == "independent":
            return np.eye(self.size)
        base = self._w @ self._w.T if self.kind == "dense" else np.ones((self.size, self.size))
        if self.kind != "pooled":
            base[np.diag_indices(self.size)] += self.own
        return base

    def extended(self) -> Floats:
        """B with a last row and column for an unseen value, which index -1 reaches."""
        known = self.matrix()
        full = np.empty((self.size + 1, self.size + 1))
        full[:-1, :-1] = known
        if self.kind == "dense":
            apart = (known.sum(axis=1) - np.diag(known)) / max(self.size - 1, 1)
            full[-1, :-1] = full[:-1, -1] = apart if self.size > 1 else known[0, 0]
            full[-1, -1] = np.diag(known).mean()
            return full
        full[-1, :] = full[:, -1] = 0.0 if self.kind == "independent" else 1.0
        full[-1, -1] = 1.0 if self.kind in ("pooled", "independent") else 1.0 + self.own.mean()
        return full

    def slopes(self, weights: Floats) -> Floats:
        """sum_ij weights_ij dB_ij/dt for every parameter t."""
        if not len(self.values):
            return np.zeros(0)
        diagonal = np.diag(weights) * self.own
        if self.kind == "combined":
            return diagonal.sum(keepdims=True)
        if self.kind == "combined+":
            return diagonal
        return np.concatenate([((weights + weights.T) @ self._w).ravel(), diagonal])

    def correlations(self) -> Floats:
        """B as correlations."""
        known = self.matrix()
        spread = np.sqrt(np.diag(known))
        correlations: Floats = known / spread[:, None] / spread[None, :]
        return correlations

    def refined(self, kind: str, seed: int = 0) -> Share:
        """The same covariance in a richer form, where learning of that form starts."""
        if kind == self.kind:
            return self
        if kind == "combined+" and self.kind == "combined":
            return Share(kind, self.size, np.full(self.size, self.values[0]))
        if kind == "dense" and self.kind in ("combined", "combined+"):
            new = Share.of("dense", self.size, seed=seed)
            return new.with_values(np.concatenate([new.values[: new._rank_size], np.log(self.own)]))
        return Share.of(kind, self.size, seed=seed)

    def described(self) -> dict[str, Any]:
        """For the header of a model."""
        return {"kind": self.kind, "size": self.size}

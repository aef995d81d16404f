"""Rows in which every annotator labels every item: the likelihood from two small eigenvalue problems.

Sorted by annotator, then item, the covariance is  K = B (x) K_I + D (x) I  with B the covariance of annotators, K_I
that of items (features and all other descriptors), D their noise. With

    D^-1/2 B D^-1/2 = U diag(s) U',   K_I = V diag(t) V'    =>    K^-1 = (D^-1/2 U (x) V) diag(1 / (s_k t_i + 1)) (..)'

a likelihood costs O(D^3 + N^3) for D annotators of N items, not O(D^3 N^3), and its gradient is that of two
contractions of  a a' - K^-1,  over annotators and over items (Bonilla, Chai and Williams 2008; Stegle et al. 2011).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weft.arrays import Floats, Ints
from weft.learn.gaussian.exact import JITTER, Fit
from weft.learn.gaussian.multitask import Covariance, Design, Noise


@dataclass(frozen=True)
class Blocks:
    """The order of rows: `order[d, i]` is the row in which value d of the descriptor labels item i."""

    descriptor: int
    order: Ints

    @classmethod
    def of(cls, rows: Design, noise: Noise, sizes: tuple[int, ...]) -> Blocks | None:
        """The blocks of rows, or None if some value lacks some item or has it twice.

        >>> x, who = np.array([[1.0], [2.0], [1.0], [2.0]]), np.array([[0], [0], [1], [1]])
        >>> Blocks.of(Design(x, who), Noise.by((), ()), (2,)).order.tolist()
        [[0, 1], [2, 3]]
        >>> Blocks.of(Design(x[:3], who[:3]), Noise.by((), ()), (2,))
        """
        for descriptor, size in enumerate(sizes):
            if size < 2 or len(rows) % size or noise.descriptors not in ((), (descriptor,)):
                continue
            others = np.delete(rows.tasks, descriptor, axis=1)
            keys = np.concatenate([rows.x, others], axis=1)
            _, item = np.unique(keys, axis=0, return_inverse=True)
            item = item.ravel()
            items = len(rows) // size
            if item.max() + 1 != items:
                continue
            order = np.full((size, items), -1, dtype=np.int64)
            order[rows.tasks[:, descriptor], item] = np.arange(len(rows))
            if (order >= 0).all():
                return cls(descriptor, order)
        return None

    def items(self, rows: Design) -> Design:
        """One row per item."""
        return rows.rows(self.order[0])


class BlockPosterior:
    """The posterior from all rows of complete blocks."""

    def __init__(self, covariance: Covariance, blocks: Blocks, rows: Design, y: Floats) -> None:
        self.blocks = blocks
        items = blocks.items(rows)
        self.share = covariance.shares[blocks.descriptor].matrix()
        self.data = _without(covariance, blocks.descriptor).matrix(items, items)
        values = np.zeros((len(self.share), rows.tasks.shape[1]), dtype=np.int64)
        values[:, blocks.descriptor] = np.arange(len(self.share))
        self.spread = np.sqrt(covariance.noise.variances(values) + JITTER)
        s, u = np.linalg.eigh(self.share / self.spread[:, None] / self.spread[None, :])
        t, v = np.linalg.eigh(self.data)
        self.s, self.t, self.v = np.maximum(s, 0.0), np.maximum(t, 0.0), v
        self.u = u / self.spread[:, None]  # D^-1/2 U
        self.sizes = 1.0 / (self.s[:, None] * self.t[None, :] + 1.0)
        self.y = y[blocks.order]
        self.half = self.u.T @ self.y @ self.v
        self.weights = self.u @ (self.half * self.sizes) @ self.v.T

    def mean(self, covariances: Floats) -> Floats:
        return covariances[:, self.blocks.order.ravel()] @ self.weights.ravel()

    def explained(self, covariances: Floats) -> Floats:
        count, (size, items) = len(covariances), self.blocks.order.shape
        grid = covariances[:, self.blocks.order.ravel()].reshape(count, size, items)
        turned = np.einsum("dk,pdi->pki", self.u, grid @ self.v)
        explained: Floats = np.einsum("pki,ki->p", turned * turned, self.sizes)
        return explained

    def value(self) -> float:
        """The log marginal likelihood."""
        size, items = self.blocks.order.shape
        logs = -float(np.log(self.sizes).sum()) + 2 * items * float(np.log(self.spread).sum())
        fit = float((self.half * self.half * self.sizes).sum())
        return -0.5 * fit - 0.5 * logs - 0.5 * size * items * float(np.log(2 * np.pi))


def likelihood(covariance: Covariance, blocks: Blocks, rows: Design, y: Floats) -> Fit:
    """The log marginal likelihood of complete blocks and its gradient, as `weft.learn.gaussian.exact` gives them."""
    known, items = BlockPosterior(covariance, blocks, rows, y), blocks.items(rows)
    weights, v, u, sizes = known.weights, known.v, known.u, known.sizes
    # a a' - K^-1 summed over annotators, with B as weights, and over items, with K_I.
    by_item = weights.T @ known.share @ weights - (v * (known.s[:, None] * sizes).sum(axis=0)) @ v.T
    by_value = weights @ known.data @ weights.T - (u * (known.t[None, :] * sizes).sum(axis=1)) @ u.T
    diagonal = (weights * weights).sum(axis=1) - (u * u) @ sizes.sum(axis=1)
    own = covariance.shares[blocks.descriptor].slopes(0.5 * by_value)
    rest = _without(covariance, blocks.descriptor).slopes(items, items, 0.5 * by_item)
    before = len(covariance.kernel.logs) + sum(len(share.values) for share in covariance.shares[: blocks.descriptor])
    values = np.zeros((len(diagonal), rows.tasks.shape[1]), dtype=np.int64)
    values[:, blocks.descriptor] = np.arange(len(diagonal))
    noise = covariance.noise.slopes(values, 0.5 * diagonal)
    return Fit(known.value(), np.concatenate([rest[:before], own, rest[before:], noise]))


def _without(covariance: Covariance, descriptor: int) -> Covariance:
    """The covariance of items: this descriptor says nothing."""
    shares = list(covariance.shares)
    shares[descriptor] = replace(shares[descriptor], kind="pooled", values=np.zeros(0))
    return replace(covariance, shares=tuple(shares))

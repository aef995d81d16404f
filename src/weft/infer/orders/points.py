"""The closure of points in time under *before* and *equal*, in bit sets.

    p < q, q < r  =>  p < r          p = q, q < r  =>  p < r          p < q, q = r  =>  p < r

Equal points are merged into classes (union-find); Warshall's algorithm closes *before* over the classes, 64 of them at
a time. A conjunction of such constraints has no solution if and only if a class is before itself, and the closure then
has exactly what holds in all solutions. Inconsistent constraints are closed by the same rules, so that they can be
compared with others all the same.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Bools, Ints, Keys
from weft.errors import InferenceError
from weft.kernel import inner_kernel, kernel

_ONE = np.uint64(1)


@dataclass(frozen=True)
class PointClosure:
    """What follows of n points: the class of every point, and the order of classes as rows of bits."""

    classes: Ints
    rows: Keys

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def class_order(self) -> Bools:
        """Which class is before which."""
        n = len(self.rows)
        bits = np.unpackbits(self.rows.view(np.uint8), axis=1, bitorder="little")
        return bits[:, :n].astype(np.bool_)

    @property
    def less(self) -> Bools:
        """`less[p, q]`: p is before q."""
        order: Bools = self.class_order[np.ix_(self.classes, self.classes)]
        return order

    @property
    def equal(self) -> Bools:
        """`equal[p, q]`: both are one point in time."""
        same: Bools = self.classes[:, None] == self.classes[None, :]
        return same

    @property
    def consistent(self) -> bool:
        """Whether the constraints have a solution: no class is before itself."""
        return not bool(self.class_order.diagonal().any())

    def ranks(self, late: ArrayLike = ()) -> Ints:
        """Places of all points in an order that agrees with the constraints; an error if there is none.

        A point stands at the length of the longest chain before it: as early as possible. Points of `late` stand as
        late as the others allow, unless they equal one that is not late.

        >>> closed = close_points(4, [(0, 1), (1, 2), (3, 2)])
        >>> closed.ranks().tolist(), closed.ranks(late=[3]).tolist()
        ([0, 1, 2, 0], [0, 1, 2, 1])
        """
        if not self.consistent:
            raise InferenceError("points that are before themselves have no ranks; leave out links of a cycle first")
        order = self.class_order
        found = np.zeros(len(order), dtype=np.int64)
        rising = np.argsort(order.sum(axis=0), kind="stable").tolist()
        for each in rising:
            earlier = np.flatnonzero(order[:, each])
            found[each] = found[earlier].max() + 1 if len(earlier) else 0
        fixed = np.ones(len(self), dtype=np.bool_)
        fixed[np.asarray(late, dtype=np.int64)] = False
        movable = np.ones(len(order), dtype=np.bool_)
        movable[self.classes[fixed]] = False
        for each in reversed(rising):
            following = np.flatnonzero(order[each])
            if movable[each] and len(following):
                found[each] = found[following].min() - 1
        ranks: Ints = found[self.classes]
        return ranks


def close_points(n: int, less: ArrayLike, equal: ArrayLike = ()) -> PointClosure:
    """The closure of n points: pairs `less` of which the first is before the second, and pairs that are `equal`.

    >>> closed = close_points(4, [(0, 1), (2, 3)], [(1, 2)])
    >>> closed.less.astype(int).tolist()
    [[0, 1, 1, 1], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    >>> closed.consistent, close_points(2, [(0, 1)], [(1, 0)]).consistent
    (True, False)
    """
    before, same = (_pairs(each, n) for each in (less, equal))
    parent = np.arange(n, dtype=np.int64)
    _merge(parent, same)
    names, classes = np.unique(parent, return_inverse=True)
    rows = np.zeros((len(names), max(1, (len(names) + 63) // 64)), dtype=np.uint64)
    _close(rows, np.ascontiguousarray(classes.reshape(-1)[before]))
    return PointClosure(np.ascontiguousarray(classes, dtype=np.int64).reshape(-1), rows)


def _pairs(given: ArrayLike, n: int) -> Ints:
    pairs: NDArray[np.int64] = np.array(given, dtype=np.int64, order="C").reshape(-1, 2)
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < n):
        raise InferenceError(f"points are numbered from 0 to {n - 1}; given: {pairs.min()} to {pairs.max()}")
    return pairs


@inner_kernel
def _root(parent: Ints, point: int) -> int:
    while parent[point] != point:
        parent[point] = parent[parent[point]]
        point = parent[point]
    return point


@kernel
def _merge(parent: Ints, same: Ints) -> None:
    """Union-find: afterwards, every point has the smallest one of its class as its parent."""
    for i in range(len(same)):
        a, b = _root(parent, same[i, 0]), _root(parent, same[i, 1])
        if a < b:
            parent[b] = a
        else:
            parent[a] = b
    for point in range(len(parent)):
        parent[point] = _root(parent, point)


@kernel
def _close(rows: Keys, less: Ints) -> None:
    """Set the bits of pairs of classes, then Warshall's algorithm on whole rows."""
    for i in range(len(less)):
        a, b = less[i, 0], less[i, 1]
        rows[a, b >> 6] |= _ONE << np.uint64(b & 63)
    n, width = rows.shape
    for via in range(n):
        word, bit = via >> 6, _ONE << np.uint64(via & 63)
        for a in range(n):
            if rows[a, word] & bit:
                for k in range(width):
                    rows[a, k] |= rows[via, k]


@kernel
def choose_consistent(n: int, offsets: Ints, constraints: Ints, at_most: Keys, before: Keys, keep: Bools) -> None:
    """Keep each item, in order, whose constraints are consistent with those of all items kept so far.

    Item i owns rows `offsets[i]:offsets[i + 1]` of `constraints`: first point, second point, 1 for *before* and 0 for
    *equal*. `at_most` and `before` are empty bit sets [n, words] twice over: the second halves hold a copy to return
    to when the second constraint of an item fails.
    """
    width = at_most.shape[1]
    for p in range(n):
        at_most[p, p >> 6] |= _ONE << np.uint64(p & 63)
    for i in range(len(keep)):
        for p in range(n):
            for k in range(width):
                at_most[n + p, k] = at_most[p, k]
                before[n + p, k] = before[p, k]
        fits = True
        for c in range(offsets[i], offsets[i + 1]):
            p, q, strict = constraints[c, 0], constraints[c, 1], constraints[c, 2] == 1
            fits = _add(n, at_most, before, p, q, strict)
            if fits and not strict:
                fits = _add(n, at_most, before, q, p, False)
            if not fits:
                break
        keep[i] = fits
        if not fits:
            for p in range(n):
                for k in range(width):
                    at_most[p, k] = at_most[n + p, k]
                    before[p, k] = before[n + p, k]


@inner_kernel
def _add(n: int, at_most: Keys, before: Keys, p: int, q: int, strict: bool) -> bool:
    """Add p <= q, or p < q, and what follows from it; false if it contradicts what is known."""
    word, bit = p >> 6, _ONE << np.uint64(p & 63)
    if (at_most[q, word] & bit) if strict else (before[q, word] & bit):
        return False
    for x in range(n):
        if at_most[x, word] & bit:
            stricter = strict or (before[x, word] & bit) != 0
            for k in range(at_most.shape[1]):
                before[x, k] |= at_most[q, k] if stricter else before[q, k]
                at_most[x, k] |= at_most[q, k]
    return True

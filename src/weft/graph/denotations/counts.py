"""How denotations overlap: probabilities and normalized mutual information of nodes, from sets of items.

    P(a) = |[[a]]| / N      P(a, b) = |[[a]] n [[b]]| / N      P(a | b) = |[[a]] n [[b]]| / |[[b]]|
    nPMI(a, b) = log(P(a, b) / (P(a) P(b))) / -log P(a, b)

A denotation is a sorted array of items; all of them are one sparse matrix, and overlaps of many nodes are products.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError
from weft.kernel import kernel


class Pairs(NamedTuple):
    """Pairs of nodes with the sizes of their overlaps; `a < b`."""

    a: Ids
    b: Ids
    joint: Ids


class Denotations:
    """Sets of items per node; `items` is how many items there are in all.

    >>> sets = Denotations.of([0, 0, 0, 1, 1], [4, 5, 6, 5, 6], 2, 8)
    >>> sets.size(1), sets.joint(0, 1), sets.p(0, 1), sets.p(1, 0), round(sets.npmi(0, 1), 3)
    (2, 2, 1.0, 0.6666666666666666, 0.708)
    """

    def __init__(self, offsets: Ints, members: Ids, items: int) -> None:
        self.offsets, self.members, self.items = offsets, members, items
        self._matrix: csr_array | None = None

    @classmethod
    def of(cls, nodes: object, members: object, n: int, items: int) -> Denotations:
        """From pairs of nodes and items, in any order."""
        keys = np.unique(np.asarray(nodes, dtype=np.int64) << 32 | np.asarray(members, dtype=np.int64))
        rows = keys >> 32
        offsets = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=n), out=offsets[1:])
        return cls(offsets, (keys & 0xFFFFFFFF).astype(np.int32), items)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> Ints:
        return np.diff(self.offsets)

    def size(self, node: int) -> int:
        """The number of items of a node."""
        return int(self.offsets[node + 1] - self.offsets[node])

    def __getitem__(self, node: int) -> Ids:
        return self.members[self.offsets[node] : self.offsets[node + 1]]

    def joint(self, a: int, b: int) -> int:
        """The number of items of two nodes."""
        return len(np.intersect1d(self[a], self[b], assume_unique=True))

    def p(self, a: int, given: int | None = None) -> float:
        """P(a), or P(a | given)."""
        if given is None:
            return self.size(a) / max(self.items, 1)
        if a == given:
            return 1.0
        return self.joint(a, given) / max(self.size(given), 1)

    def npmi(self, a: int, b: int) -> float:
        """Normalized pointwise mutual information, from -1 to 1; 0 if nothing is shared."""
        if a == b:
            return 1.0
        found = npmi(np.array([self.joint(a, b)]), np.array([self.size(a)]), np.array([self.size(b)]), self.items)
        return float(found[0])

    def within(self, items: Ids) -> Denotations:
        """The same nodes over some of the items only."""
        kept = np.isin(self.members, items)
        offsets = np.concatenate([[0], np.cumsum(kept)])[self.offsets].astype(np.int64)
        return Denotations(offsets, self.members[kept], len(np.unique(items)))

    def common(self, least: int) -> Ids:
        """The nodes of at least so many items."""
        return np.flatnonzero(self.sizes >= least).astype(np.int32)

    def matrix(self, nodes: Ids | None = None) -> csr_array:
        """Nodes by items, as ones."""
        top = int(self.members.max(initial=-1)) + 1
        whole = csr_array((np.ones(len(self.members), np.int32), self.members, self.offsets), shape=(len(self), top))
        return whole if nodes is None else whole[nodes]

    def pairs(self, least: int = 10, joint: int = 2, rows: int = 2000) -> Iterator[Pairs]:
        """Pairs of nodes of `least` items that share `joint` items, by products of `rows` nodes at a time.

        >>> sets = Denotations.of([0, 0, 0, 1, 1, 2], [4, 5, 6, 5, 6, 4], 3, 8)
        >>> [(p.a.tolist(), p.b.tolist(), p.joint.tolist()) for p in sets.pairs(least=2)]
        [([0], [1], [2])]
        """
        if joint < 1:
            raise ConfigError(f"pairs share at least one item, got {joint}")
        nodes = self.common(least)
        matrix = self.matrix(nodes)
        columns = matrix.T.tocsr()
        for start in range(0, len(nodes), rows):
            product = (matrix[start : start + rows] @ columns).tocoo()
            a = product.row + start
            kept = (a < product.col) & (product.data >= joint)
            yield Pairs(nodes[a[kept]], nodes[product.col[kept]], product.data[kept].astype(np.int32))


def npmi(joint: NDArray[Any], a: NDArray[Any], b: NDArray[Any], items: int) -> Floats:
    """nPMI of counts; 0 where nothing is shared, 1 where both describe every item.

    >>> npmi(np.array([2, 0, 4]), np.array([2, 3, 4]), np.array([2, 3, 4]), 4).tolist()
    [1.0, 0.0, 1.0]
    """
    both = np.asarray(joint, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(both * items / (np.asarray(a, np.float64) * np.asarray(b, np.float64))) / -np.log(both / items)
    found = np.where(both == items, 1.0, found)
    clipped: Floats = np.clip(np.where(both > 0, found, 0.0), -1.0, 1.0)
    return clipped


class Overlaps:
    """Overlaps of one node with all others, over an index from items to common nodes.

    >>> sets = Denotations.of([0, 0, 0, 1, 1, 2], [4, 5, 6, 5, 6, 4], 3, 8)
    >>> Overlaps(sets, least=1).of(0).tolist()
    [3, 2, 1]
    """

    def __init__(self, sets: Denotations, least: int) -> None:
        self.sets, self.nodes = sets, sets.common(least)
        columns = sets.matrix(self.nodes).T.tocsr()
        self._offsets, self._nodes = columns.indptr.astype(np.int64), self.nodes[columns.indices]

    def of(self, node: int) -> Ids:
        """The number of items that each node shares with a node; 0 for nodes that are not common."""
        counts = np.zeros(len(self.sets), dtype=np.int32)
        _overlaps(self.sets[node], self._offsets, self._nodes, counts)
        return counts


@kernel
def _overlaps(items: Ids, offsets: Ints, nodes: Ids, counts: Ids) -> None:
    for item in items:
        for k in range(offsets[item], offsets[item + 1]):
            counts[nodes[k]] += 1

"""Groups of clusters that are sampled together, drawn anew for every round.

Every item has a key, the same in all states of the chain. A cluster goes to the group of one of its items, drawn at
random; within a group, clusters exchange items. A cluster of n items, c of which have the key, comes to a group with
probability c / n: sampling multiplies by the ratio of these numbers (`weft.infer.sampling.moves`) and so keeps the
distribution of one chain without groups.

Keys decide what is proposed. Random keys spread clusters over N groups, as the machines of Singh et al. (2011); keys of
a coarser partition keep its clusters together, as their super-entities do. Keys by `shared_columns` bring together
items that have columns in common: with h a random order of columns,

    key(i) = argmin over the columns c of i of h(c),    P(key(i) = key(j)) = |columns in common| / |columns of both|
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.arrays import Bools, Ids, Ints, Keys
from weft.hashing import avalanche, join
from weft.kernel import kernel


@dataclass(frozen=True)
class Groups:
    """Groups of at least two items: `rows[offsets[k]:offsets[k + 1]]` rise, and `anchored` have the group's key."""

    rows: Ints
    offsets: Ints
    anchored: Bools
    keys: Keys

    def __len__(self) -> int:
        return len(self.keys)

    def shares(self, count: int, reach: int) -> list[Groups]:
        """The groups in at most so many shares of about equally many proposals."""
        sizes = np.diff(self.offsets)
        work = np.cumsum(sizes * np.minimum(sizes, reach))
        wanted = (work[-1] if len(work) else 0) * np.arange(1, count) / count
        cuts = np.unique(np.concatenate([[0], np.searchsorted(work, wanted), [len(self)]])).tolist()
        return [self._part(a, b) for a, b in pairwise(cuts)]

    def _part(self, a: int, b: int) -> Groups:
        lo, hi = self.offsets[a], self.offsets[b]
        return Groups(self.rows[lo:hi], self.offsets[a : b + 1] - lo, self.anchored[lo:hi], self.keys[a:b])


def place(labels: Ints, keys: Keys, random: np.random.Generator) -> Groups:
    """Draw the group of every cluster.

    >>> labels = np.array([0, 0, 2, 3, 2])
    >>> keys = np.array([8, 9, 9, 5, 9], dtype=np.uint64)
    >>> groups = place(labels, keys, np.random.default_rng(2))
    >>> groups.rows.tolist(), groups.offsets.tolist(), groups.anchored.tolist(), groups.keys.tolist()
    ([0, 1, 2, 4], [0, 4], [False, True, True, True], [9])
    """
    n = len(labels)
    order = np.argsort(random.random(n))
    leader = np.zeros(n, dtype=np.int64)
    leader[labels[order]] = order  # the last of a random order wins: each item of a cluster equally often
    of_item = keys[leader[labels]]
    rows = np.argsort(of_item, kind="stable")
    starts = (
        np.flatnonzero(np.concatenate([[True], of_item[rows][1:] != of_item[rows][:-1]])) if n else np.zeros(0, int)
    )
    sizes = np.diff(np.concatenate([starts, [n]]))
    kept = np.repeat(sizes > 1, sizes)
    rows, sizes = rows[kept], sizes[sizes > 1]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Groups(rows.astype(np.int64), offsets, keys[rows] == of_item[rows], of_item[rows[offsets[:-1]]])


def random_keys(n: int, groups: int, random: np.random.Generator) -> Keys:
    """Keys of so many groups, each equally probable for every item."""
    return random.integers(0, groups, n).astype(np.uint64)


def shared_columns(sets: Sequence[tuple[Ints, Ids]], seed: int, largest: int = 2000) -> Keys:
    """Keys by which items with similar sets of columns often meet; a set has offsets per item, and columns.

    Keys come from the first set of columns. Where more than `largest` items have one key, the next set tells them apart
    (the last one twice), and at last chance does. An item without columns has a key of its own.

    >>> columns = np.array([0, 2, 4, 5, 5]), np.array([1, 2, 2, 1, 7], dtype=np.int32)
    >>> keys = shared_columns([columns], seed=0)
    >>> bool(keys[0] == keys[1]), len(set(keys.tolist()))
    (True, 3)
    """
    n = len(sets[0][0]) - 1
    keys = np.zeros(n, dtype=np.uint64)
    crowded, sizes = np.arange(n), np.zeros(n, dtype=np.int64)
    for turn, (offsets, columns) in enumerate([*sets, sets[-1]]):
        _smallest(offsets, columns, crowded, np.uint64(seed), np.uint64(turn), keys)
        _, number, counts = np.unique(keys[crowded], return_inverse=True, return_counts=True)
        sizes = counts[number]
        crowded, sizes = crowded[sizes > largest], sizes[sizes > largest]
    _scatter(crowded, sizes, largest, np.uint64(seed), keys)
    return keys


@kernel
def _smallest(offsets: Ints, columns: Ids, items: Ints, seed: np.uint64, turn: np.uint64, keys: Keys) -> None:
    """Join the smallest hash of its columns to the key of every item of a list."""
    start = join(avalanche(seed), turn)
    for at in range(len(items)):
        i = items[at]
        smallest = avalanche(join(start, np.uint64(i) << np.uint64(32)))
        if offsets[i + 1] > offsets[i]:
            smallest = np.uint64(0xFFFFFFFFFFFFFFFF)
        for k in range(offsets[i], offsets[i + 1]):
            hashed = avalanche(join(start, np.uint64(columns[k])))
            if hashed < smallest:
                smallest = hashed
        keys[i] = avalanche(join(keys[i], smallest))


@kernel
def _scatter(items: Ints, sizes: Ints, largest: int, seed: np.uint64, keys: Keys) -> None:
    """Spread items with one key over as many as it takes to have about `largest` each."""
    for at in range(len(items)):
        i = items[at]
        parts = np.uint64((sizes[at] + largest - 1) // largest)
        drawn = avalanche(join(avalanche(seed), np.uint64(i))) % parts
        keys[i] = avalanche(join(keys[i], drawn))

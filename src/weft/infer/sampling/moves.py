"""Metropolis-Hastings over the partitions of groups of items: moves of one item, splits and merges of clusters.

A proposal is accepted with probability

    min(1, exp( (log p(new) - log p(old)) / temperature ) q(old | new) / q(new | old) D(new) / D(old))

*Move*: a random item goes to one of the other clusters of its group or to a new one, all equally probable; their number
is the same on the way back, so q cancels. With vector sums (`weft.infer.sampling.items`) the change costs as many steps
as the item has columns:

    log p(new) - log p(old) = 2 ( g(item, target) - g(item, the rest of its cluster) )

*Split and merge*: two random items; if they share a cluster, they become the first of two, and the others join one or
the other in random order, with the probability that their gains give them (Dahl 2005); otherwise their two clusters
merge, and q is the probability of the split that would undo it.

D is the probability that the clusters came to be in this group (`weft.infer.sampling.placement`): a cluster of n items,
c of which have the key of the group, came here with probability c / n. It keeps sampling in groups exact, however the
groups were drawn.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints, Keys, Singles
from weft.draws import uniform
from weft.kernel import inlined, inner_kernel, kernel

#: Splits and merges leave clusters alone that have more items than this together; so does the way back.
MOST_SPLIT = 2000
#: What D can multiply a probability with, at most, when one item moves: 2 for each of the two clusters.
_MOST_PLACED = 2 * math.log(2.0)
_K = np.uint64(0x9E3779B97F4A7C15)
_HALF = np.uint64(32)
_FULL = np.uint64(64)
_ONE = np.uint64(1)
_LOW = np.uint64(63)
#: Words of marks per cluster; a cache line.
_MARKS = 8


class Vectors(NamedTuple):
    """The arrays of `Items`, for kernels."""

    offsets: Ints
    columns: Ids
    values: Singles
    mass: Floats
    norms: Floats


class Board(NamedTuple):
    """What a group of items is worked on with; clusters have numbers of their own here."""

    cluster: Ints  # of every item
    best: Ints  # the same at the best moment
    own: Floats  # g between an item and the rest of its cluster, as of `stamp`
    stamp: Ints
    order: Ints  # items of a split or merge
    size: Ints  # of every cluster
    anchors: Ints  # its items that have the key of the group
    mass: Floats
    version: Ints  # when a cluster last changed
    live: Ints  # the clusters in use
    place: Ints  # where a cluster stands in `live`
    free: Ints  # the clusters not in use
    keys: Keys  # of the table of sums: cluster and column, plus 1; 0 for a free slot
    sums: Floats
    marks: Keys  # 512 bits per cluster: a column whose bit is 0 is not in the cluster, which saves most look-ups
    counts: Ints  # clusters in use, clusters not in use, slots taken, slots, bits of the number of slots, changes


LIVE, FREE, TAKEN, SLOTS, BITS, CLOCK = 0, 1, 2, 3, 4, 5


def board(items: int, entries: int) -> Board:
    """A board with room for groups of up to so many items with so many entries in all."""
    slots = 1 << _bits(entries, 2 * entries)
    of_items = [np.zeros(items, dtype=np.int64) for _ in range(4)]
    of_clusters = [np.zeros(items + 2, dtype=np.int64) for _ in range(6)]
    return Board(
        cluster=of_items[0], best=of_items[1], own=np.zeros(items), stamp=of_items[2], order=of_items[3],
        size=of_clusters[0], anchors=of_clusters[1], mass=np.zeros(items + 2), version=of_clusters[2],
        live=of_clusters[3], place=of_clusters[4], free=of_clusters[5],
        keys=np.zeros(slots, dtype=np.uint64), sums=np.zeros(slots),
        marks=np.zeros(_MARKS * (items + 2), dtype=np.uint64), counts=np.zeros(6, dtype=np.int64),
    )  # fmt: skip


@inlined
def _bits(entries: int, added: int) -> int:
    """The table has 2 to the power of this many slots: a quarter stays free when so many are added to all entries."""
    bits = 4
    while 3 * (1 << bits) <= 4 * (entries + added):
        bits += 1
    return bits


@inlined
def _slot(board: Board, cluster: int, column: int) -> np.int64:
    """The slot of a cluster's sum in a column, or the free one where it would go."""
    key = ((np.uint64(cluster) << _HALF) | np.uint64(column)) + _ONE
    at = np.int64((key * _K) >> (_FULL - np.uint64(board.counts[BITS])))
    last = board.counts[SLOTS] - 1
    while board.keys[at] != key and board.keys[at] != 0:
        at = (at + 1) & last
    return at


@inlined
def _hashed(column: int) -> np.uint64:
    """Nine bits of a column: three for the word of its mark, six for the bit."""
    return (np.uint64(column) * _K) >> np.uint64(55)


@inner_kernel
def _add(vectors: Vectors, board: Board, row: int, cluster: int, sign: float) -> None:
    """Add an item's vector and mass to the sums of a cluster, or subtract them."""
    for k in range(vectors.offsets[row], vectors.offsets[row + 1]):
        at = _slot(board, cluster, vectors.columns[k])
        if board.keys[at] == 0:
            board.keys[at] = ((np.uint64(cluster) << _HALF) | np.uint64(vectors.columns[k])) + _ONE
            board.sums[at] = 0.0
            board.counts[TAKEN] += 1
        if sign > 0:
            mark = _hashed(vectors.columns[k])
            board.marks[_MARKS * cluster + np.int64(mark >> np.uint64(6))] |= _ONE << (mark & _LOW)
        board.sums[at] += sign * vectors.values[k]
    board.mass[cluster] += sign * vectors.mass[row]


@inner_kernel
def _gain(vectors: Vectors, board: Board, row: int, cluster: int, bias: float) -> float:
    """The sum of g between an item and a cluster that it is not in."""
    total = 0.0
    for k in range(vectors.offsets[row], vectors.offsets[row + 1]):
        mark = _hashed(vectors.columns[k])
        if (board.marks[_MARKS * cluster + np.int64(mark >> np.uint64(6))] >> (mark & _LOW)) & _ONE == 0:
            continue
        at = _slot(board, cluster, vectors.columns[k])
        if board.keys[at] != 0:
            total += vectors.values[k] * board.sums[at]
    return total - bias * vectors.mass[row] * board.mass[cluster]


@inner_kernel
def _own_gain(vectors: Vectors, board: Board, i: int, row: int, bias: float) -> float:
    """The sum of g between an item and the rest of its cluster, remembered until the cluster changes."""
    cluster = board.cluster[i]
    if board.size[cluster] == 1:
        return 0.0
    if board.stamp[i] != board.version[cluster]:
        mass = vectors.mass[row]
        board.own[i] = _gain(vectors, board, row, cluster, bias) - vectors.norms[row] + bias * mass * mass
        board.stamp[i] = board.version[cluster]
    return board.own[i]


@inlined
def _open(board: Board) -> int:
    """Take a cluster into use, empty."""
    board.counts[FREE] -= 1
    cluster = board.free[board.counts[FREE]]
    board.place[cluster] = board.counts[LIVE]
    board.live[board.counts[LIVE]] = cluster
    board.counts[LIVE] += 1
    board.size[cluster], board.anchors[cluster], board.mass[cluster] = 0, 0, 0.0
    for k in range(_MARKS):
        board.marks[_MARKS * cluster + k] = 0
    return cluster


@inlined
def _close(board: Board, cluster: int) -> None:
    """Put a cluster out of use; its sums are zero by now."""
    board.counts[LIVE] -= 1
    last = board.live[board.counts[LIVE]]
    board.live[board.place[cluster]] = last
    board.place[last] = board.place[cluster]
    board.free[board.counts[FREE]] = cluster
    board.counts[FREE] += 1


@inlined
def _touch(board: Board, cluster: int) -> None:
    """Note that a cluster has changed; no two versions of any clusters have the same number."""
    board.counts[CLOCK] += 1
    board.version[cluster] = board.counts[CLOCK]


@inner_kernel
def _fill(vectors: Vectors, board: Board, rows: Ints, lo: int, hi: int) -> None:
    """Compute all sums from the clusters of the items."""
    for at in range(board.counts[SLOTS]):
        board.keys[at] = 0
    board.counts[TAKEN] = 0
    for at in range(board.counts[LIVE]):
        board.mass[board.live[at]] = 0.0
        for k in range(_MARKS):
            board.marks[_MARKS * board.live[at] + k] = 0
    for i in range(hi - lo):
        _add(vectors, board, rows[lo + i], board.cluster[i], 1.0)


@inner_kernel
def _lay_out(
    vectors: Vectors, board: Board, rows: Ints, lo: int, hi: int, anchored: Bools, labels: Ints, slots: int, bits: int
) -> None:
    """Put a group on the board; its rows rise, so that the first item of a cluster has the cluster's label."""
    n = hi - lo
    board.counts[LIVE], board.counts[FREE] = 0, 0
    board.counts[SLOTS], board.counts[BITS], board.counts[CLOCK] = slots, bits, n + 2
    for c in range(n + 1, -1, -1):
        board.free[board.counts[FREE]] = c
        board.counts[FREE] += 1
        board.version[c] = c + 1
    for i in range(n):
        board.stamp[i] = 0
        label = labels[rows[lo + i]]
        first, after = 0, i
        while first < after:  # where the item that gives the label stands
            middle = (first + after) // 2
            if rows[lo + middle] < label:
                first = middle + 1
            else:
                after = middle
        cluster = _open(board) if first == i else board.cluster[first]
        board.cluster[i] = cluster
        board.size[cluster] += 1
        board.anchors[cluster] += anchored[lo + i]
    _fill(vectors, board, rows, lo, hi)


@inlined
def _placed(anchors: int, size: int) -> float:
    """The logarithm of the probability that a cluster came to this group."""
    return -np.inf if anchors == 0 else math.log(anchors / size)


@inner_kernel
def _move(
    vectors: Vectors, board: Board, rows: Ints, lo: int, n: int, anchored: Bools, bias: float, tau: float, random: Keys
) -> float:
    """Propose to move one item; the change of log p, 0 if it stays, for which NaN tells a rejected proposal apart."""
    i = int(uniform(random) * n)
    source, anchor = board.cluster[i], int(anchored[lo + i])
    alone = board.size[source] == 1
    others = board.counts[LIVE] - 1
    if alone:
        if others == 0:
            return np.nan
        at = int(uniform(random) * others)
        target = board.live[at if at < board.place[source] else at + 1]
    else:
        at = int(uniform(random) * (others + 1))
        target = -1 if at == board.place[source] else board.live[at]
        if board.anchors[source] == anchor or (target < 0 and anchor == 0):
            return np.nan  # a cluster without an item that has the key of the group cannot have come here
    row = rows[lo + i]
    change = -2 * _own_gain(vectors, board, i, row, bias)
    if target >= 0:
        change += 2 * _gain(vectors, board, row, target, bias)
    threshold = math.log(1.0 - uniform(random)) - change / tau
    if threshold >= _MOST_PLACED:
        return np.nan
    placed = 0.0
    if not alone:
        placed += _placed(board.anchors[source] - anchor, board.size[source] - 1)
        placed -= _placed(board.anchors[source], board.size[source])
    if target >= 0:
        placed += _placed(board.anchors[target] + anchor, board.size[target] + 1)
        placed -= _placed(board.anchors[target], board.size[target])
    if threshold >= placed:
        return np.nan
    if target < 0:
        target = _open(board)
    _add(vectors, board, row, source, -1.0)
    _add(vectors, board, row, target, 1.0)
    board.size[source] -= 1
    board.size[target] += 1
    board.anchors[source] -= anchor
    board.anchors[target] += anchor
    _touch(board, source)
    _touch(board, target)
    board.cluster[i] = target
    if alone:
        _close(board, source)
    return change


@inner_kernel
def _split_or_merge(
    vectors: Vectors, board: Board, rows: Ints, lo: int, n: int, anchored: Bools, bias: float, tau: float, random: Keys
) -> float:
    """Propose to split the cluster of two random items, or to merge their clusters; returns what `_move` does."""
    if n < 2:
        return np.nan
    i = int(uniform(random) * n)
    j = int(uniform(random) * (n - 1))
    j += j >= i
    first, second = board.cluster[i], board.cluster[j]
    splits = first == second
    total = board.size[first] + (0 if splits else board.size[second])
    if total > MOST_SPLIT:
        return np.nan
    order, count = board.order, 0
    for p in range(n):
        if p != i and p != j and (board.cluster[p] == first or board.cluster[p] == second):
            order[count] = p
            count += 1
    for p in range(count - 1, 0, -1):
        q = int(uniform(random) * (p + 1))
        order[p], order[q] = order[q], order[p]
    a, b = _open(board), _open(board)
    row = rows[lo + j]
    _add(vectors, board, row, b, 1.0)
    between = _gain(vectors, board, rows[lo + i], b, bias)
    _add(vectors, board, rows[lo + i], a, 1.0)
    board.size[a], board.size[b] = 1, 1
    board.anchors[a], board.anchors[b] = int(anchored[lo + i]), int(anchored[lo + j])
    proposed = 0.0
    for k in range(count):
        p = order[k]
        row = rows[lo + p]
        to_a, to_b = _gain(vectors, board, row, a, bias), _gain(vectors, board, row, b, bias)
        odds = 2 * (to_a - to_b) / tau
        in_a = uniform(random) < 1 / (1 + math.exp(-odds)) if splits else board.cluster[p] == first
        proposed -= math.log1p(math.exp(-odds)) if in_a else math.log1p(math.exp(odds))
        side = a if in_a else b
        between += to_b if in_a else to_a
        _add(vectors, board, row, side, 1.0)
        board.size[side] += 1
        board.anchors[side] += int(anchored[lo + p])
        order[k] = p if in_a else -p - 1
    change = -2 * between if splits else 2 * between
    placed = _placed(board.anchors[a], board.size[a]) + _placed(board.anchors[b], board.size[b])
    placed -= _placed(board.anchors[a] + board.anchors[b], total)
    ratio = change / tau + (placed - proposed if splits else proposed - placed)
    accepted = math.log(1.0 - uniform(random)) < ratio
    if accepted and not splits:
        # `first` takes over the items of `second`, and the two trial clusters go.
        for k in range(count):
            if order[k] < 0:
                p = -order[k] - 1
                _add(vectors, board, rows[lo + p], first, 1.0)
                _add(vectors, board, rows[lo + p], second, -1.0)
                board.cluster[p] = first
        _add(vectors, board, rows[lo + j], first, 1.0)
        _add(vectors, board, rows[lo + j], second, -1.0)
        board.cluster[j] = first
        board.size[first] = total
        board.anchors[first] += board.anchors[second]
        _touch(board, first)
        _touch(board, second)
        _close(board, second)
    if accepted and splits:
        # The two trial clusters stay, and the old one goes.
        for k in range(count):
            p, side = (order[k], a) if order[k] >= 0 else (-order[k] - 1, b)
            _add(vectors, board, rows[lo + p], first, -1.0)
            board.cluster[p] = side
        _add(vectors, board, rows[lo + i], first, -1.0)
        _add(vectors, board, rows[lo + j], first, -1.0)
        board.cluster[i], board.cluster[j] = a, b
        _touch(board, a)
        _touch(board, b)
        _touch(board, first)
        _close(board, first)
        return change
    for k in range(count):
        p, side = (order[k], a) if order[k] >= 0 else (-order[k] - 1, b)
        _add(vectors, board, rows[lo + p], side, -1.0)
    _add(vectors, board, rows[lo + i], a, -1.0)
    _add(vectors, board, rows[lo + j], b, -1.0)
    _touch(board, a)
    _touch(board, b)
    _close(board, b)
    _close(board, a)
    return change if accepted else np.nan


@kernel
def sample_groups(
    vectors: Vectors, rows: Ints, groups: Ints, anchored: Bools, labels: Ints, best: Ints, seeds: Keys, bias: float,
    tau: float, reach: int, share: float, board: Board, random: Keys, figures: Floats,
) -> None:  # fmt: skip
    """Sample groups one after the other; `labels` become those at the end, `best` those of each group's best moment.

    Group k is `rows[groups[k]:groups[k + 1]]`, in rising order, and gets as many proposals as items times the smaller
    of their number and `reach`; a `share` of them are splits and merges. `figures` has a row per group: change of
    log p, the same at the best moment, proposals, accepted ones.
    """
    for k in range(len(groups) - 1):
        lo, hi = groups[k], groups[k + 1]
        n = hi - lo
        if n < 2:
            continue
        entries = 0
        longest = 0
        for at in range(lo, hi):
            size = vectors.offsets[rows[at] + 1] - vectors.offsets[rows[at]]
            entries += size
            longest = max(longest, size)
        bits = _bits(entries, 2 * entries if share > 0 else longest)
        _lay_out(vectors, board, rows, lo, hi, anchored, labels, 1 << bits, bits)
        random[0] = seeds[k]
        for i in range(n):
            board.best[i] = board.cluster[i]
        score, highest, accepted = 0.0, 0.0, 0
        most = 3 * (1 << bits) // 4
        proposals = n * min(n, reach)
        for step in range(proposals):
            splits = share > 0 and uniform(random) < share
            if board.counts[TAKEN] + (2 * entries if splits else longest) > most:
                _fill(vectors, board, rows, lo, hi)
            if splits:
                change = _split_or_merge(vectors, board, rows, lo, n, anchored, bias, tau, random)
            else:
                change = _move(vectors, board, rows, lo, n, anchored, bias, tau, random)
            if not math.isnan(change):
                score += change
                accepted += 1
            if (step + 1) % n == 0 and score > highest + 1e-9:
                highest = score
                for i in range(n):
                    board.best[i] = board.cluster[i]
        _take_off(board.best, board.live, rows, lo, hi, best)
        _take_off(board.cluster, board.live, rows, lo, hi, labels)
        figures[k, 0], figures[k, 1], figures[k, 2], figures[k, 3] = score, highest, proposals, accepted


@inner_kernel
def _take_off(cluster: Ints, first: Ints, rows: Ints, lo: int, hi: int, labels: Ints) -> None:
    """Label the items of a group by the first item of each cluster."""
    for i in range(hi - lo + 2):
        first[i] = -1
    for i in range(hi - lo):
        if first[cluster[i]] < 0:
            first[cluster[i]] = rows[lo + i]
        labels[rows[lo + i]] = first[cluster[i]]

"""The order in which expansions are tried: cubes of hypotheses and options, best first by an estimate.

Hypotheses with the same coverage, end and class form a group; options with the same span and class form a cell. A group
and a cell that may follow it are a cube of expansions (hypothesis i, option j), with the estimate

    score(i) + estimate(j) + distortion + future cost of what is then uncovered

of which only the first two vary within the cube. Both are sorted, so a heap over all cubes yields expansions in the
order of their estimates without looking at most of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.arrays import Bools, Floats, Ids, Ints
from weft.kernel import inner_kernel, kernel

#: Source positions per whole number of a coverage vector.
BITS = 63


class Groups(NamedTuple):
    """Groups of hypotheses; those of group g are first[g] ... first[g + 1] - 1, best first."""

    first: Ints
    step: Ids  #: the stack they are in
    kind: Ids  #: their class
    end: Ids  #: where their last source span ended
    cover: Ints  #: which positions are covered, `BITS` per column


class Cells(NamedTuple):
    """Cells of options; those of cell c are first[c] ... first[c + 1] - 1, best first."""

    first: Ints
    start: Ids
    end: Ids
    kind: Ids


class Search(NamedTuple):
    """What stays the same for a sentence."""

    length: int
    by_words: bool  #: stacks count covered source positions, else actions
    limit: int  #: of distortion
    distortion: float  #: its weight
    allowed: Bools  #: cells by class of hypotheses and of options; moves are the last columns
    future: Floats  #: of spans: future[i, j]


@inner_kernel
def is_covered(cover: Ints, row: int, position: int) -> bool:
    return (cover[row, position // BITS] >> (position % BITS)) & 1 == 1


@kernel
def future_costs(length: int, start: Ids, end: Ids, best: Floats, future: Floats) -> None:
    """The best total estimate of every span, 0 for an empty one, minus infinity if it cannot be covered."""
    for i in range(length + 1):
        for j in range(length + 1):
            future[i, j] = 0.0 if i >= j else -np.inf
    for o in range(len(start)):
        if end[o] > start[o] and best[o] > future[start[o], end[o]]:
            future[start[o], end[o]] = best[o]
    for size in range(2, length + 1):
        for i in range(length - size + 1):
            for k in range(i + 1, i + size):
                total = future[i, k] + future[k, i + size]
                if total > future[i, i + size]:
                    future[i, i + size] = total


@inner_kernel
def uncovered_future(search: Search, cover: Ints, row: int, start: int, end: int) -> float:
    """The future cost of a hypothesis, once the span is covered as well."""
    total, begin = 0.0, -1
    for i in range(search.length):
        if is_covered(cover, row, i) or start <= i < end:
            if begin >= 0:
                total += search.future[begin, i]
                begin = -1
        elif begin < 0:
            begin = i
    if begin >= 0:
        total += search.future[begin, search.length]
    return total


@kernel
def futures_of(search: Search, cover: Ints, out: Floats) -> None:
    """The future costs of hypotheses."""
    for row in range(len(out)):
        out[row] = uncovered_future(search, cover, row, 0, 0)


@inner_kernel
def _may_cover(search: Search, groups: Groups, g: int, start: int, end: int) -> bool:
    """Whether a span is free and within the limit, with no gap before it that could not be reached again."""
    jump = start - groups.end[g]
    if jump > search.limit or -jump > search.limit:
        return False
    for i in range(start, end):
        if is_covered(groups.cover, g, i):
            return False
    for i in range(start):
        if not is_covered(groups.cover, g, i):
            return end - i <= search.limit
    return True


@kernel
def find_cubes(
    search: Search, groups: Groups, cells: Cells, step: int, since: int, until: int, score: Floats, estimate: Floats,
    cube_group: Ids, cube_cell: Ids, cube_base: Floats, sizes: Ints,
) -> None:  # fmt: skip
    """The cubes whose expansions belong to a stack, of groups since ... until - 1: sizes[0] cubes, sizes[1] expansions.

    Only those for which there is room are written, so the caller may have to come again with more of it.
    """
    n, total = 0, 0
    for g in range(since, until):
        for c in range(len(cells.start)):
            start, end = int(cells.start[c]), int(cells.end[c])
            if not search.allowed[groups.kind[g], cells.kind[c]]:
                continue
            if search.by_words and groups.step[g] + end - start != step:
                continue
            jump = 0
            if end > start:
                if not _may_cover(search, groups, g, start, end):
                    continue
                jump = abs(start - int(groups.end[g]))
            future = uncovered_future(search, groups.cover, g, start, end)
            if future == -np.inf:
                continue
            if n < len(cube_group):
                cube_group[n], cube_cell[n] = g, c
                cube_base[n] = future - search.distortion * jump
            n += 1
            total += (groups.first[g + 1] - groups.first[g]) * (cells.first[c + 1] - cells.first[c])
    sizes[0], sizes[1] = n, total


@kernel
def best_first(
    groups: Groups, cells: Cells, score: Floats, estimate: Floats, cube_group: Ids, cube_cell: Ids, cube_base: Floats,
    heap: Floats, entry: Ids, previous: Ids, option: Ids,
) -> int:  # fmt: skip
    """The expansions of cubes in the order of their estimates, as many as there is room for; returns their number."""
    size = 0
    for k in range(len(cube_group)):
        i, j = groups.first[cube_group[k]], cells.first[cube_cell[k]]
        _push(heap, entry, size, score[i] + estimate[j] + cube_base[k], k, 0, 0)
        size += 1
    n = 0
    while size > 0 and n < len(previous):
        k, i, j = entry[0, 0], entry[0, 1], entry[0, 2]
        g, c = cube_group[k], cube_cell[k]
        first, low = groups.first[g], cells.first[c]
        previous[n], option[n] = first + i, low + j
        n += 1
        _pop(heap, entry, size)
        size -= 1
        # Each (i, j) has one way to it: along j from (i, 0), and there along i.
        if low + j + 1 < cells.first[c + 1]:
            value = score[first + i] + estimate[low + j + 1] + cube_base[k]
            _push(heap, entry, size, value, k, i, j + 1)
            size += 1
        if j == 0 and first + i + 1 < groups.first[g + 1]:
            value = score[first + i + 1] + estimate[low] + cube_base[k]
            _push(heap, entry, size, value, k, i + 1, 0)
            size += 1
    return n


@inner_kernel
def _push(heap: Floats, entry: Ids, size: int, value: float, k: int, i: int, j: int) -> None:
    at = size
    while at > 0:
        up = (at - 1) // 2
        if heap[up] >= value:
            break
        heap[at] = heap[up]
        entry[at, 0], entry[at, 1], entry[at, 2] = entry[up, 0], entry[up, 1], entry[up, 2]
        at = up
    heap[at] = value
    entry[at, 0], entry[at, 1], entry[at, 2] = k, i, j


@inner_kernel
def _pop(heap: Floats, entry: Ids, size: int) -> None:
    last = size - 1
    value, k, i, j = heap[last], entry[last, 0], entry[last, 1], entry[last, 2]
    at, below = 0, 1
    while below < last:
        if below + 1 < last and heap[below + 1] > heap[below]:
            below += 1
        if heap[below] <= value:
            break
        heap[at] = heap[below]
        entry[at, 0], entry[at, 1], entry[at, 2] = entry[below, 0], entry[below, 1], entry[below, 2]
        at, below = below, 2 * below + 1
    heap[at] = value
    entry[at, 0], entry[at, 1], entry[at, 2] = k, i, j

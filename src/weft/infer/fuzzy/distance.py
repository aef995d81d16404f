"""Edit distance of sequences of numbers:  D(i, j) = min { D(i-1, j-1) + [a_i != b_j],  D(i-1, j) + 1,  D(i, j-1) + 1 }.

A fuzzy match score compares lengths, too:  score(a, b) = 1 - D(a, b) / max(|a|, |b|).

`banded` computes D only where it can be at most a limit. `bit_distance` is the method of Myers (1999) for a query of
up to 63 numbers: a column of D is two machine words, the bits of its vertical differences +1 and -1.
"""

from __future__ import annotations

import numpy as np

from weft.arrays import Ids, Ints
from weft.kernel import inner_kernel, kernel

#: The longest query that fits into the bits of a signed machine word.
BITS = 63


def edit_distance(a: Ids, b: Ids) -> int:
    """The edit distance.

    >>> edit_distance(np.array([1, 2, 3]), np.array([2, 3, 4]))
    2
    """
    one, other = np.ascontiguousarray(a, np.int32), np.ascontiguousarray(b, np.int32)
    return int(_distance_within(one, other, max(len(one), len(other)), np.empty(len(other) + 1, np.int64)))


def fuzzy_score(a: Ids, b: Ids) -> float:
    """The fuzzy match score; two empty sequences are equal.

    >>> fuzzy_score(np.array([1, 2, 3]), np.array([1, 2, 4]))
    0.6666666666666667
    """
    longest = max(len(a), len(b))
    return 1.0 if longest == 0 else 1 - edit_distance(a, b) / longest


def edit_links(a: Ids, b: Ids) -> Ids:
    """For every element of `a` the place in `b` that it matches or is substituted by, -1 if it is inserted.

    Of several cheapest alignments it is one with the most matches; of these, that which links late elements.

    >>> edit_links(np.array([1, 9, 3, 4]), np.array([1, 2, 3])).tolist()
    [0, 1, 2, -1]
    """
    one, other = np.ascontiguousarray(a, np.int32), np.ascontiguousarray(b, np.int32)
    links = np.full(len(one), -1, np.int32)
    _link(one, other, np.empty((len(one) + 1, len(other) + 1), np.int32), links)
    return links


@inner_kernel
def banded(
    a: Ids, a_first: int, a_end: int, b: Ids, b_first: int, b_end: int, limit: int, row: Ints
) -> int:  # fmt: skip
    """The edit distance of two parts if it is at most `limit`, else limit + 1; `row` has room for |b| + 1 numbers."""
    n, m = a_end - a_first, b_end - b_first
    if n - m > limit or m - n > limit:
        return limit + 1
    over = limit + 1
    for j in range(m + 1):
        row[j] = j if j <= limit else over
    for i in range(1, n + 1):
        low, high = max(1, i - limit), min(m, i + limit)
        diagonal = row[low - 1]
        row[low - 1] = i if low == 1 and i <= limit else over
        best = row[low - 1]
        word = a[a_first + i - 1]
        for j in range(low, high + 1):
            above = row[j]
            # Beyond the band of the row above nothing was computed.
            value = diagonal if word == b[b_first + j - 1] else diagonal + 1
            if j < i + limit and above + 1 < value:
                value = above + 1
            if row[j - 1] + 1 < value:
                value = row[j - 1] + 1
            diagonal = above
            row[j] = min(value, over)
            best = min(best, row[j])
        if best > limit:
            return over
    return int(row[m])


@kernel
def _distance_within(a: Ids, b: Ids, limit: int, row: Ints) -> int:
    return banded(a, 0, len(a), b, 0, len(b), limit, row)


@kernel
def _link(a: Ids, b: Ids, table: Ids, links: Ids) -> None:
    n, m = len(a), len(b)
    # An edit costs more than all matches can give back.
    edit = min(n, m) + 1
    for i in range(n + 1):
        table[i, 0] = i * edit
    for j in range(m + 1):
        table[0, j] = j * edit
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            value = table[i - 1, j - 1] + (-1 if a[i - 1] == b[j - 1] else edit)
            value = min(value, table[i - 1, j] + edit, table[i, j - 1] + edit)
            table[i, j] = value
    i, j = n, m
    while i > 0 and j > 0:
        if table[i, j] == table[i - 1, j - 1] + (-1 if a[i - 1] == b[j - 1] else edit):
            i, j = i - 1, j - 1
            links[i] = j
        elif table[i, j] == table[i - 1, j] + edit:
            i -= 1
        else:
            j -= 1


@inner_kernel
def mark(bits: Ints, query: Ids) -> None:
    """Set the bits of a query; `clear` removes them again."""
    for i in range(len(query)):
        if query[i] >= 0:
            bits[query[i]] |= np.int64(1) << np.int64(i)


@inner_kernel
def clear(bits: Ints, query: Ids) -> None:
    """Remove the bits of a query."""
    for i in range(len(query)):
        if query[i] >= 0:
            bits[query[i]] = 0


@inner_kernel
def bit_distance(bits: Ints, length: int, b: Ids, first: int, end: int, limit: int) -> int:
    """The edit distance of a marked query and a part, limit + 1 or more as soon as it must exceed the limit."""
    full = (np.int64(1) << np.int64(length)) - np.int64(1)
    last = np.int64(1) << np.int64(length - 1)
    plus, minus = full, np.int64(0)
    distance = length
    for j in range(first, end):
        equal = bits[b[j]]
        diagonal = ((((equal & plus) + plus) ^ plus) | equal | minus) & full
        across_plus = (minus | ~(diagonal | plus)) & full
        across_minus = plus & diagonal
        if across_plus & last:
            distance += 1
        elif across_minus & last:
            distance -= 1
        # All that is left can lower the distance by one each.
        if distance - (end - 1 - j) > limit:
            return limit + 1
        across_plus = ((across_plus << np.int64(1)) | np.int64(1)) & full
        across_minus = (across_minus << np.int64(1)) & full
        plus = (across_minus | ~(diagonal | across_plus)) & full
        minus = across_plus & diagonal
    return distance

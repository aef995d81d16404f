"""What citations alone say: counts, h-index, i10, impact factor, and networks of citations between groups.

    h        the largest h such that h members of a group have h citations or more
    i10      members with 10 citations or more
    impact   citations in year t of members of years t - 1 and t - 2, per member of those years

Memberships are pairs of an item and a group, such as a paper and its author; an item may be in several groups.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import DataError
from weft.graph.network import Network, Nodes, network_of


def sums_by_group(values: Floats | Ints | Sequence[float], items: Nodes, groups: Nodes, count: int) -> Floats:
    """The sum of the values of every group's items, as of the citations of an author's papers.

    >>> sums_by_group([5, 3], [0, 1, 1], [0, 0, 1], 2).tolist()
    [8.0, 3.0]
    """
    own = np.asarray(values, dtype=np.float64)[np.asarray(items, dtype=np.int64)]
    return np.bincount(np.asarray(groups, dtype=np.int64), own, minlength=count).astype(np.float64)


def h_indexes(citations: Floats | Ints | Sequence[float], items: Nodes, groups: Nodes, count: int) -> Ints:
    """The h-index of every group.

    >>> h_indexes([9, 4, 3, 1], [0, 1, 2, 3, 0], [0, 0, 0, 0, 1], 2).tolist()
    [3, 1]
    """
    own, home = np.asarray(citations)[np.asarray(items, dtype=np.int64)], np.asarray(groups, dtype=np.int64)
    order = np.lexsort((-own, home))
    own, home = own[order], home[order]
    starts = np.searchsorted(home, np.arange(count))
    rank = np.arange(len(home)) - starts[home] + 1
    return np.bincount(home[own >= rank], minlength=count).astype(np.int64)


def i10_indexes(citations: Floats | Ints | Sequence[float], items: Nodes, groups: Nodes, count: int) -> Ints:
    """How many items of every group have ten citations or more.

    >>> i10_indexes([12, 9], [0, 1], [0, 0], 1).tolist()
    [1]
    """
    often = np.asarray(citations) >= 10
    return sums_by_group(often.astype(np.int64), items, groups, count).astype(np.int64)


def impact_factors(
    citing: Nodes, cited: Nodes, years: Nodes, items: Nodes, groups: Nodes, count: int, year: int
) -> Floats:
    """The impact factor of every group in a year; 0 for groups without items in the two years before.

    >>> impact_factors([2, 2], [0, 1], [2010, 2009, 2011], [0, 1], [0, 0], 1, 2011).tolist()
    [1.0]
    """
    when = np.asarray(years, dtype=np.int64)
    sources, targets = np.asarray(citing, dtype=np.int64), np.asarray(cited, dtype=np.int64)
    if not len(sources) == len(targets):
        raise DataError(f"citations are pairs, got {len(sources)} citing and {len(targets)} cited items")
    recent = (when == year - 1) | (when == year - 2)
    counted = np.bincount(targets[(when[sources] == year) & recent[targets]], minlength=len(when))
    received = sums_by_group(counted, items, groups, count)
    published = sums_by_group(recent.astype(np.int64), items, groups, count)
    return np.divide(received, published, out=np.zeros(count), where=published > 0)


def group_citations(citing: Nodes, cited: Nodes, items: Nodes, groups: Nodes, count: int) -> Network:
    """The directed network in which groups cite each other through their items.

    >>> group_citations([1, 1], [0, 2], [0, 1, 2], [0, 1, 0], 2).weights.tolist()
    [2.0]
    """
    n = 1 + max((int(np.max(part)) for part in (citing, cited, items) if len(part)), default=-1)
    from scipy.sparse import csr_matrix

    joined = csr_matrix((np.ones(len(items)), (np.asarray(items), np.asarray(groups))), shape=(n, count))
    links = csr_matrix((np.ones(len(citing)), (np.asarray(citing), np.asarray(cited))), shape=(n, n))
    between = (joined.T @ links @ joined).tocoo()
    return network_of(count, between.row, between.col, between.data, directed=True)

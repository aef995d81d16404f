"""The state of a minimum label cover on some sentences: which tags each token may still have, and what labels cover.

A token is one of a few *sets* of tags; set t < K is {t} alone, the others are those of ambiguous types of words, the
set of all tags among them once. Neighbours whose sets are equal are counted together, so that

    M(t', t) = sum over pairs of sets A, B with t' in A and t in B of  n(A, B)

costs as many steps as there are pairs of sets, however long the text is and however many tags unknown words may have.
The places of each pair of sets stand in a list of their own; a pair of fixed tokens stands in none. Sentences never
meet: a text may be cut into shards anywhere between sentences, and the coins that tokens toss are hashes of

    (seed, round, place of the token in the whole text)

so that they fall the same way in whatever process the token is.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools
from weft.hashing import avalanche, join
from weft.infer.chains.label_lists import LabelLists
from weft.kernel import kernel
from weft.ragged import Indices, States


@dataclass(frozen=True)
class TagSets:
    """Sets of tags: set s is `listed[begin[s]:begin[s + 1]]`, the first K of them being {0}, {1}, ...; two tags beyond
    those of words are the start (K - 2) and the end (K - 1) of sentences."""

    begin: Indices
    listed: States

    @property
    def n_tags(self) -> int:
        """K: how many tags there are, start and end included."""
        return int(self.listed.max()) + 1

    @classmethod
    def from_lists(cls, lists: LabelLists) -> tuple[TagSets, States]:
        """The sets that types of words have, and the number of the set of every type.

        >>> sets, of_type = TagSets.from_lists(LabelLists.from_types([[True, True], [False, True]], [0, 1], [0, 2]))
        >>> of_type.tolist(), sets.begin.tolist(), sets.listed.tolist()
        ([4, 1], [0, 1, 2, 3, 4, 6], [0, 1, 2, 3, 0, 1])
        """
        size = lists.n_labels + 2
        number: dict[bytes, int] = {np.int32(t).tobytes(): t for t in range(size)}
        bounds = lists.begin.tolist()
        of_type = np.fromiter(
            (number.setdefault(lists.listed[a:b].tobytes(), len(number)) for a, b in pairwise(bounds)),
            dtype=np.int32,
            count=len(bounds) - 1,
        )
        sets = [np.frombuffer(each, dtype=np.int32) for each in number]
        begin = np.concatenate([[0], np.cumsum([len(each) for each in sets])])
        return cls(begin, np.concatenate(sets)), of_type

    def members(self) -> Bools:
        """Which set has which tag, `[set, tag]`."""
        found = np.zeros((len(self.begin) - 1, self.n_tags), dtype=np.bool_)
        found[np.repeat(np.arange(len(found)), np.diff(self.begin)), self.listed] = True
        return found


def padded(lists: LabelLists, of_type: States) -> States:
    """The sets of all tokens, each sentence between its start and its end; empty sentences are left out.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 1, 2])
    >>> padded(lists, TagSets.from_lists(lists)[1]).tolist()
    [2, 4, 3, 2, 4, 3]
    """
    sizes = np.diff(lists.offsets)
    sizes = sizes[sizes > 0]
    found = np.empty(len(lists) + 2 * len(sizes), dtype=np.int32)
    start = np.concatenate([[0], np.cumsum(sizes + 2)])[:-1]
    inside = np.ones(len(found), dtype=np.bool_)
    inside[start] = inside[start + sizes + 1] = False
    found[start], found[start + sizes + 1] = lists.n_labels, lists.n_labels + 1
    found[inside] = of_type[lists.types]
    return found


class LabelShard:
    """Some sentences of a text; `first` is the place of their first token in the whole of it.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> sets, of_type = TagSets.from_lists(lists)
    >>> shard = LabelShard(sets, padded(lists, of_type))
    >>> shard.count(np.array([0 * 4 + 1, 2 * 4 + 0])).tolist()  # of the labels (0, 1) and (start, 0)
    [1, 1]
    >>> shard.apply(0 * 4 + 1, round=0, seed=0).tolist()  # it fixes both words, and so the labels at both ends
    [1, 7, 8]
    >>> shard.tags().tolist()
    [0, 1]
    """

    def __init__(self, sets: TagSets, tokens: States, first: int = 0) -> None:
        self.sets, self.first = sets, first
        self.tokens = np.array(tokens, dtype=np.int32)
        self.size = sets.n_tags
        self.member = sets.members()
        tag, holder = np.nonzero(self.member.T)
        self.holders_begin, self.holders = np.searchsorted(tag, np.arange(self.size + 1)), holder.astype(np.int32)
        n_sets, n_places = len(sets.begin) - 1, len(self.tokens)
        # A pair of places moves once, to a pair with one fixed token, before it is fixed as a whole.
        capacity = min(n_places, n_sets**2) + min(n_places, 2 * n_sets * self.size)
        self.left, self.right = np.zeros(capacity, dtype=np.int32), np.zeros(capacity, dtype=np.int32)
        self.n = np.zeros(capacity, dtype=np.int64)
        self.head, self.next_in_row = np.full(capacity, -1, dtype=np.int32), np.full(capacity, -1, dtype=np.int32)
        self.row = np.full(n_sets, -1, dtype=np.int32)
        self.table = np.full(1 << int(2 * capacity + 1).bit_length(), -1, dtype=np.int32)
        self.pair_of, self.after, self.before = (np.full(n_places, -1, dtype=np.int32) for _ in range(3))
        self.matched = np.zeros(n_places + 1, dtype=np.bool_)
        self.used = np.zeros(1, dtype=np.int64)
        forced = np.zeros(self.size**2, dtype=np.bool_)
        _fill(self.tokens, self.size, self.left, self.right, self.n, self.head, self.next_in_row, self.row, self.table,
              self.pair_of, self.after, self.before, self.used, forced)  # fmt: skip
        self.forced = np.flatnonzero(forced)

    def forced_labels(self) -> NDArray[np.int64]:
        """The labels of neighbours that have one tag each from the start."""
        return self.forced

    def all_counts(self) -> NDArray[np.int64]:
        """How many pairs of tokens not yet fixed each label could cover; label (t', t) is number t' K + t."""
        found = np.zeros(self.size**2, dtype=np.int64)
        _all_counts(
            self.sets.begin, self.sets.listed, self.left, self.right, self.n, int(self.used[0]), self.size, found
        )
        return found

    def count(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """The same of some labels."""
        found = np.zeros(len(labels), dtype=np.int64)
        _count(labels, self.size, self.holders_begin, self.holders, self.row, self.next_in_row, self.right, self.n,
               self.member, found)  # fmt: skip
        return found

    def apply(self, label: int, round: int, seed: int) -> NDArray[np.int64]:
        """Give a label to the pairs that can have it, coins deciding between pairs that share a token; the labels of
        all pairs that are fixed by it."""
        one, other = divmod(label, self.size)
        fixed = _apply(one, other, np.uint64(seed), np.uint64(round), self.first, self.tokens, self.size,
                       self.holders_begin, self.holders, self.row, self.next_in_row, self.left, self.right, self.n,
                       self.head, self.table, self.pair_of, self.after, self.before, self.member, self.matched,
                       self.used)  # fmt: skip
        return np.unique(fixed)

    def tags(self) -> States:
        """The tags of all words, once all are fixed."""
        return self.tokens[self.tokens < self.size - 2]

    def __reduce__(self) -> Any:
        return LabelShard, (self.sets, self.tokens, self.first)


def cut(tokens: States, end: int, n_shards: int) -> list[tuple[int, States]]:
    """Padded tokens in that many pieces of whole sentences and about one length, with the places of their first tokens.

    >>> [(first, piece.tolist()) for first, piece in cut(np.array([2, 4, 3, 2, 4, 3], dtype=np.int32), 3, 2)]
    [(0, [2, 4, 3]), (3, [2, 4, 3])]
    """
    ends = np.flatnonzero(tokens == end) + 1
    wanted = np.arange(1, n_shards) * len(tokens) / n_shards
    bounds = [0, *(int(ends[k]) for k in np.searchsorted(ends, wanted) if k < len(ends)), len(tokens)]
    return [(a, tokens[a:b]) for a, b in pairwise(bounds) if a < b]


@kernel
def toss(seed: np.uint64, round: np.uint64, place: int) -> bool:
    """A coin: whether a token that two pairs want goes with the one on its left."""
    return (avalanche(join(join(seed, round), np.uint64(place))) & np.uint64(1)) == np.uint64(1)


@kernel
def _slot(table: States, left: States, right: States, a: int, b: int) -> np.int64:
    """Where the pair of sets (a, b) stands in the table, or where it would stand."""
    mask = len(table) - 1
    at = np.int64(avalanche(join(np.uint64(a), np.uint64(b)))) & mask
    while table[at] >= 0 and not (left[table[at]] == a and right[table[at]] == b):
        at = (at + 1) & mask
    return at


@kernel
def _fill(
    tokens: States, size: int, left: States, right: States, n: Indices, head: States, next_in_row: States, row: States,
    table: States, pair_of: States, after: States, before: States, used: Indices, forced: Bools,
) -> None:  # fmt: skip
    """Enter all pairs of tokens, from the last to the first, so that their lists run from the first to the last."""
    for p in range(len(tokens) - 1, 0, -1):
        a, b = tokens[p - 1], tokens[p]
        if a == size - 1:
            continue
        if a < size and b < size:
            forced[a * size + b] = True
            continue
        _enter(p, a, b, left, right, n, head, next_in_row, row, table, pair_of, after, before, used)


@kernel
def _enter(
    p: int, a: int, b: int, left: States, right: States, n: Indices, head: States, next_in_row: States, row: States,
    table: States, pair_of: States, after: States, before: States, used: Indices,
) -> None:  # fmt: skip
    """Put the pair of tokens that ends at place p into the list of its pair of sets."""
    at = _slot(table, left, right, a, b)
    e = table[at]
    if e < 0:
        e = used[0]
        used[0] += 1
        table[at] = e
        left[e], right[e] = a, b
        next_in_row[e] = row[a]
        row[a] = e
    n[e] += 1
    pair_of[p], after[p] = e, head[e]
    if head[e] >= 0:
        before[head[e]] = p
    head[e] = p


@kernel
def _all_counts(
    begin: Indices, listed: States, left: States, right: States, n: Indices, used: int, size: int, out: Indices
) -> None:
    for e in range(used):
        if n[e] > 0:
            for a in range(begin[left[e]], begin[left[e] + 1]):
                for b in range(begin[right[e]], begin[right[e] + 1]):
                    out[listed[a] * size + listed[b]] += n[e]


@kernel
def _count(
    labels: Indices, size: int, holders_begin: Indices, holders: States, row: States, next_in_row: States,
    right: States, n: Indices, member: Bools, out: Indices,
) -> None:  # fmt: skip
    for k in range(len(labels)):
        one, other = labels[k] // size, labels[k] % size
        for h in range(holders_begin[one], holders_begin[one + 1]):
            e = row[holders[h]]
            while e >= 0:
                if n[e] > 0 and member[right[e], other]:
                    out[k] += n[e]
                e = next_in_row[e]


@kernel
def _apply(
    one: int, other: int, seed: np.uint64, round: np.uint64, first: int, tokens: States, size: int,
    holders_begin: Indices, holders: States, row: States, next_in_row: States, left: States, right: States, n: Indices,
    head: States, table: States, pair_of: States, after: States, before: States, member: Bools, matched: Bools,
    used: Indices,
) -> Indices:  # fmt: skip
    total = 0
    for h in range(holders_begin[one], holders_begin[one + 1]):
        e = row[holders[h]]
        while e >= 0:
            if n[e] > 0 and member[right[e], other]:
                total += n[e]
            e = next_in_row[e]
    places = np.empty(total, dtype=np.int64)
    total = 0
    for h in range(holders_begin[one], holders_begin[one + 1]):
        e = row[holders[h]]
        while e >= 0:
            if n[e] > 0 and member[right[e], other]:
                p = head[e]
                while p >= 0:
                    matched[p] = True
                    places[total] = p
                    total += 1
                    p = after[p]
            e = next_in_row[e]
    wins = np.zeros(total, dtype=np.bool_)
    for k in range(total):
        p = places[k]
        # Its left token may also end the pair before, its right one begin the next.
        goes = not (one != other and matched[p - 1] and toss(seed, round, first + p - 1))
        if goes and one != other and matched[p + 1]:
            goes = toss(seed, round, first + p)
        wins[k] = goes
    for k in range(total):
        matched[places[k]] = False
    fixed, n_fixed = np.empty(4 * total, dtype=np.int64), 0
    for k in range(total):
        if wins[k]:
            for side in range(2):
                q = places[k] - 1 + side
                tag = one if side == 0 else other
                if tokens[q] >= size:
                    n_fixed = _fix(q, tag, tokens, size, row, next_in_row, left, right, n, head, table, pair_of, after,
                                   before, used, fixed, n_fixed)  # fmt: skip
    return fixed[:n_fixed]


@kernel
def _fix(
    q: int, tag: int, tokens: States, size: int, row: States, next_in_row: States, left: States, right: States,
    n: Indices, head: States, table: States, pair_of: States, after: States, before: States, used: Indices,
    fixed: Indices, n_fixed: int,
) -> int:  # fmt: skip
    """Fix the tag of a token, and move the two pairs it is part of; how many labels are fixed so far."""
    for p in range(q, q + 2):
        e = pair_of[p]
        n[e] -= 1
        if before[p] >= 0:
            after[before[p]] = after[p]
        else:
            head[e] = after[p]
        if after[p] >= 0:
            before[after[p]] = before[p]
        pair_of[p] = after[p] = before[p] = -1
    tokens[q] = tag
    for p in range(q, q + 2):
        a, b = tokens[p - 1], tokens[p]
        if a < size and b < size:
            fixed[n_fixed] = a * size + b
            n_fixed += 1
            continue
        _enter(p, a, b, left, right, n, head, next_in_row, row, table, pair_of, after, before, used)
    return n_fixed

"""Minimum label cover: as few distinct pairs of neighbouring tags as can explain a text.

    minimize  | union over sentences i and places j of {(t_{i,j-1}, t_ij)} |      over t_ij in T_ij,  t_i0 = start

A *label* is a pair of tags. The problem is as hard as set cover; the greedy search of Ravi, Vassilvitskii and Rastogi
(2014) adds one label after the other:

    repeat   M(t', t) = number of neighbouring tokens, not both fixed, with t' in T_{j-1} and t in T_j
             choose the label with the largest M; of those in L already, if any can still cover something, else of all
             every pair that can have it asks for it; a token that both its pairs ask for tosses a coin
             pairs whose two tokens agree are fixed: T_{j-1} = {t'}, T_j = {t}
             labels of neighbours that are both fixed now are forced: they join L at once
    until    all tokens are fixed

so that the labels of the tagging found are L exactly. Of equal counts the label of the lower number wins. Three ways to
run it choose the same labels in the same order: `plain` recounts everything in every round; `lazy` keeps labels in a
queue by their last known count, which never grows, and recounts only what comes out first; shards of the text in other
processes or on a Dask cluster (`weft.learn.label_cover.cluster`) send their counts to one queue. Labels may have
weights: then the largest count times weight wins.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weft.arrays import Bools, Floats
from weft.errors import ConfigError
from weft.infer.chains.label_lists import LabelLists
from weft.kernel import kernel
from weft.learn.label_cover.shards import LabelShard, TagSets, padded, toss
from weft.progress import progress
from weft.ragged import Indices, States, check_shape

METHODS = ("lazy", "plain")
#: So many labels are counted at once where counting them means asking other processes.
BATCH = 32


@dataclass(frozen=True)
class LabelCover:
    """What a search found: the labels `[T + 2, T + 2]` (row T: start, column T + 1: end), a tagging that has these
    labels and no others, the labels in the order in which they were given to pairs, and how many were forced at the
    start."""

    labels: Bools
    tags: States
    chosen: list[tuple[int, int]]
    forced: int

    def __len__(self) -> int:
        """The number of labels."""
        return int(self.labels.sum())


class Counter(Protocol):
    """Sentences that labels are counted in and given to: one shard, or several of them elsewhere."""

    size: int

    def forced_labels(self) -> Indices: ...
    def all_counts(self) -> Indices: ...
    def count(self, labels: Indices) -> Indices: ...
    def apply(self, label: int, round: int, seed: int) -> Indices: ...
    def tags(self) -> States: ...


def cover_labels(
    lists: LabelLists, method: str = "lazy", *, weights: ArrayLike | None = None, seed: int = 0
) -> LabelCover:
    """Find a small set of labels and a tagging with them; `weights` `[T + 2, T + 2]` prefer some labels to others.

    >>> allowed = [[True, False, False], [False, True, True], [False, False, True]]  # the, can, rusts: D, N or V, V
    >>> lists = LabelLists.from_types(allowed, [0, 1, 2, 0, 2, 0, 1], [0, 3, 5, 7])  # the can rusts; the rusts; the can
    >>> found = cover_labels(lists)
    >>> found.tags.tolist(), len(found), found.forced
    ([0, 2, 2, 0, 2, 0, 2], 4, 3)
    """
    if method not in METHODS:
        raise ConfigError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    sets, of_type = TagSets.from_lists(lists)
    tokens = padded(lists, of_type)
    if method == "plain":
        return _plain(sets, tokens, _checked(weights, sets.n_tags), seed)
    return greedy_cover(LabelShard(sets, tokens), weights=weights, seed=seed)


def greedy_cover(text: Counter, *, weights: ArrayLike | None = None, seed: int = 0, batch: int = 1) -> LabelCover:
    """The search with a queue of labels, `batch` of them recounted at once; the batch changes nothing but the time.

    >>> lists = LabelLists.from_types([[True, True]], [0, 0], [0, 2])
    >>> sets, of_type = TagSets.from_lists(lists)
    >>> greedy_cover(LabelShard(sets, padded(lists, of_type))).chosen
    [(0, 0)]
    """
    size = text.size
    weight = _checked(weights, size)
    inside = np.zeros(size**2, dtype=np.bool_)
    forced = text.forced_labels()
    inside[forced] = True
    free = LazyQueue(weight, text, batch)
    for label in forced.tolist():
        free.push(label)
    new = LazyQueue(weight, text, batch, text.all_counts())
    chosen: list[tuple[int, int]] = []
    with progress("Minimizing labels", None, unit="rounds") as bar:
        while True:
            label = free.best()
            if label < 0:
                label = new.best(inside)
            if label < 0:
                break
            fixed = text.apply(label, len(chosen), seed)
            chosen.append((label // size, label % size))
            joined = np.union1d(fixed, [label])
            for each in joined[~inside[joined]].tolist():
                free.push(each)
            inside[joined] = True
            free.stale()
            new.stale()
            bar.advance()
    return LabelCover(inside.reshape(size, size), text.tags(), chosen, len(forced))


class LazyQueue:
    """Labels by their counts as last seen, which are bounds of what they are now: the best one is recounted until its
    count is fresh. Labels known from the start are sorted once; only those recounted enter the heap."""

    def __init__(self, weight: Floats | None, text: Counter, batch: int, counts: Indices | None = None) -> None:
        self.weight, self.text, self.batch = weight, text, batch
        known = np.zeros(0, dtype=np.int64) if counts is None else np.flatnonzero(counts)
        keys = np.zeros(0) if counts is None else counts[known] * (1.0 if weight is None else weight[known])
        order = np.lexsort((known, -keys))
        self.labels, self.keys, self.at = known[order], -keys[order], 0
        self.heap: list[tuple[float, int]] = []
        self.fresh: set[int] = set()

    def push(self, label: int) -> None:
        """Add a label of which no count is known."""
        heapq.heappush(self.heap, (-math.inf, label))

    def stale(self) -> None:
        """Say that counts may have fallen."""
        self.fresh.clear()

    def best(self, without: Bools | None = None) -> int:
        """The label with the largest count times weight, left in the queue; -1 if none has any. Labels `without` are
        dropped for good."""
        batch = self.batch
        while True:
            asked: list[int] = []
            while len(asked) < batch and (top := self._top()) is not None:
                if without is not None and without[top[1]]:
                    self._drop()
                elif top[1] in self.fresh:
                    if not asked:
                        return top[1]
                    break
                else:
                    asked.append(top[1])
                    self._drop()
            if not asked:
                return -1
            batch *= 2  # among many equal counts, most have fallen
            for label, count in zip(asked, self.text.count(np.array(asked)).tolist(), strict=True):
                if count:
                    heapq.heappush(self.heap, (-count * (1.0 if self.weight is None else self.weight[label]), label))
                    self.fresh.add(label)

    def _top(self) -> tuple[float, int] | None:
        first = (float(self.keys[self.at]), int(self.labels[self.at])) if self.at < len(self.labels) else None
        if self.heap and (first is None or self.heap[0] < first):
            return self.heap[0]
        return first

    def _drop(self) -> None:
        if self.at < len(self.labels) and (
            not self.heap or (float(self.keys[self.at]), int(self.labels[self.at])) <= self.heap[0]
        ):
            self.at += 1
        else:
            heapq.heappop(self.heap)


def label_names(labels: Bools, tags: Sequence[str]) -> list[tuple[str, str]]:
    """Labels as pairs of names, `<s>` and `</s>` for start and end.

    >>> label_names(np.array([[0, 0, 1], [1, 0, 0], [0, 0, 0]], dtype=bool), ["N"])
    [('N', '</s>'), ('<s>', 'N')]
    """
    names = [*tags, "<s>", "</s>"]
    return [(names[a], names[b]) for a, b in np.argwhere(labels).tolist()]


def _checked(weights: ArrayLike | None, size: int) -> Floats | None:
    if weights is None:
        return None
    found = np.asarray(weights, dtype=np.float64)
    check_shape(found, (size, size), "weights")
    if not (np.isfinite(found).all() and (found > 0).all()):
        raise ConfigError("weights of labels must be finite and above 0")
    return found.ravel()


def _plain(sets: TagSets, tokens: States, weight: Floats | None, seed: int) -> LabelCover:
    """The search as it is written down: every round looks at every pair."""
    size = sets.n_tags
    member = sets.members()
    inside = np.zeros(size**2, dtype=np.bool_)
    counts = np.zeros(size**2, dtype=np.int64)
    chosen: list[tuple[int, int]] = []
    _plain_count(sets.begin, sets.listed, tokens, size, counts, inside)
    forced = int(inside.sum())
    while counts.any():
        keys = counts if weight is None else counts * weight
        free = np.where(inside, keys, 0)
        label = int(free.argmax() if free.any() else keys.argmax())
        _plain_apply(label // size, label % size, seed, len(chosen), tokens, member)
        chosen.append((label // size, label % size))
        _plain_count(sets.begin, sets.listed, tokens, size, counts, inside)
    return LabelCover(inside.reshape(size, size), tokens[tokens < size - 2], chosen, forced)


@kernel
def _plain_count(
    begin: Indices, listed: States, tokens: States, size: int, counts: NDArray[np.int64], inside: Bools
) -> None:
    counts[:] = 0
    for p in range(1, len(tokens)):
        one, other = tokens[p - 1], tokens[p]
        if one == size - 1:
            continue
        if one < size and other < size:
            inside[one * size + other] = True
            continue
        for a in range(begin[one], begin[one + 1]):
            for b in range(begin[other], begin[other + 1]):
                counts[listed[a] * size + listed[b]] += 1


@kernel
def _plain_apply(one: int, other: int, seed: int, round: int, tokens: States, member: Bools) -> None:
    size = member.shape[1]
    asks = np.zeros(len(tokens) + 1, dtype=np.bool_)  # of the pair that ends at a place
    for p in range(1, len(tokens)):
        inside = tokens[p - 1] != size - 1 and not (tokens[p - 1] < size and tokens[p] < size)
        asks[p] = inside and member[tokens[p - 1], one] and member[tokens[p], other]
    wish = np.full(len(tokens), -1)
    for q in range(len(tokens)):
        if asks[q] and asks[q + 1]:
            wish[q] = other if toss(np.uint64(seed), np.uint64(round), q) else one
        elif asks[q]:
            wish[q] = other
        elif asks[q + 1]:
            wish[q] = one
    for p in range(1, len(tokens)):
        if asks[p] and wish[p - 1] == one and wish[p] == other:
            tokens[p - 1], tokens[p] = one, other

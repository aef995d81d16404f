"""Word clusters by the predictive exchange algorithm (Uszkoreit and Brants 2008).

    p(text) = prod_i p(w_i | C(w_i)) p(C(w_i) | w_{i-1})

conditions a class on the previous *word*, where Brown et al. condition it on the previous class
(`weft.lexical.clusters.monolingual`).
With relative frequencies, and f(x) = x log x, the part of the log-likelihood that depends on the classes is

    F(C) = sum_{v, c} f(N(v, c)) - sum_c f(N(c)),

and moving the word w from class c to class d changes it by

    sum_v [f(N(v,c) - n) - f(N(v,c)) + f(N(v,d) + n) - f(N(v,d))]
        - [f(N(c) - N(w)) - f(N(c)) + f(N(d) + N(w)) - f(N(d))],      n = N(v, w),

where v ranges over the words that precede w. No other word's class enters, so a move is cheap and the vocabulary can
be distributed. Where N(v, d) is zero the bracket is f(n): all classes are scored at once by one sum over the
predecessors plus corrections at the nonzero cells N(v, d), stored as one sparse row per predecessor.

Words are moved one after the other (serial), or in shards: each shard works on its own copy of the counts and moves
only its own words, and the moves are merged after every sweep. Similar words in different shards tend to move at once,
and F may then decrease from sweep to sweep (on a million words of novels, two shards ended 2% below the serial F, four
6%): so a shard's move is made only if it still increases F after the moves before it. F never decreases, and shards
give the same classes on any number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError
from weft.kernel import kernel
from weft.lexical.clusters.monolingual import (
    WordClusters,
    class_counts,
    count_bigrams,
    log_table,
    merge_order,
    tree_paths,
    x_log_x,
)

Small = NDArray[np.int32]

#: A move must increase F by more than this: sums of logarithms are inexact, and words must not move in circles.
LEAST = 1e-7


@dataclass(frozen=True)
class Sweep:
    """One pass over the vocabulary: how many words moved, and F after it."""

    moves: int
    objective: float


@dataclass(frozen=True)
class Exchange:
    """The class of every word, and the history of the sweeps."""

    classes: Ints
    sweeps: list[Sweep]


class _Neighbours(NamedTuple):
    """The predecessors (or successors) of every word with their counts: rows `at[w]:at[w + 1]`."""

    at: Ints
    word: Small
    times: Small

    @classmethod
    def of(cls, words: Ints, others: Ints, times: Ints, size: int) -> _Neighbours:
        order = np.argsort(words, kind="stable")
        at = np.concatenate([[0], np.cumsum(np.bincount(words, minlength=size))]).astype(np.int64)
        return cls(at, others[order].astype(np.int32), times[order].astype(np.int32))


class _Cells(NamedTuple):
    """N(v, c) and N(c).

    A word with fewer distinct successors than there are classes lists its cells, `used[v]` of them with the `name` of
    their class; the others have one cell per class, and `used` is -1.
    """

    at: Ints
    used: Small
    name: Small
    times: Small
    totals: Ints

    def copy(self) -> _Cells:
        return _Cells(self.at, self.used.copy(), self.name.copy(), self.times.copy(), self.totals.copy())


class PredictiveModel:
    """Counts of a text for the exchange: the predecessors and successors of each word.

    `bigrams` are rows `left, right, count` from `count_bigrams`: words are 0..n_words-1; numbers from `n_words` on
    (rare words, sentence starts) precede others but never move.

    >>> words, counts, bigrams = count_bigrams([["the", "cat"], ["the", "dog"], ["a", "dog"], ["a", "cat"]], 1)
    >>> model = PredictiveModel(bigrams, len(words))
    >>> words, [round(model.objective(np.array(classes), 2), 2) for classes in ([0, 1, 1, 0], [0, 1, 0, 1])]
    (['the', 'cat', 'dog', 'a'], [-2.77, -8.32])
    """

    def __init__(self, bigrams: Ints, n_words: int) -> None:
        if n_words < 1:
            raise DataError("there are no words to cluster; provide more text or lower min_count")
        rows = bigrams[bigrams[:, 1] < n_words]
        if len(rows) and int(rows[:, 2].max()) > np.iinfo(np.int32).max // 2:
            raise DataError("a pair of words occurs more than a billion times; provide less text")
        n_left = int(bigrams[:, 0].max(initial=n_words - 1)) + 1
        self.n_words = n_words
        self.counts = np.bincount(rows[:, 1], weights=rows[:, 2], minlength=n_words).astype(np.int64)
        self._after = _Neighbours.of(rows[:, 0], rows[:, 1], rows[:, 2], n_left)
        self._before = _Neighbours.of(rows[:, 1], rows[:, 0], rows[:, 2], n_words)
        self._logs = log_table()

    def objective(self, classes: Ints, n_classes: int) -> float:
        """F of a clustering."""
        return _objective(self._count(self._checked(classes, n_classes), n_classes), self._logs)

    def gains(self, classes: Ints, n_classes: int) -> Floats:
        """`[word, class]`: how much F increases when one word moves there and all others stay."""
        classes = self._checked(classes, n_classes)
        gains = np.zeros((self.n_words, n_classes))
        _all_gains(classes, self._before, self.counts, self._count(classes, n_classes), self._logs, gains)
        return gains

    def exchange(
        self,
        n_classes: int,
        initial: Ints | None = None,
        fixed: NDArray[np.bool_] | None = None,
        sweeps: int = 15,
        shards: int = 1,
        workers: int = 1,
        until: float = 0.0,
    ) -> Exchange:
        """Move words until at most a fraction `until` of them moves, or for `sweeps` sweeps.

        `initial` are the initial classes (by default, words are assigned in turn, by frequency); words where `fixed` is
        true do not move. The vocabulary is split into `shards`, processed by `workers` threads.
        """
        if n_classes < 1 or sweeps < 0 or shards < 1 or workers < 1 or not 0 <= until <= 1:
            raise ConfigError(
                "an exchange needs at least one class, shard and worker, no negative sweeps and `until` between 0 and "
                f"1, but got {n_classes}, {shards}, {workers}, {sweeps} and {until}"
            )
        classes = np.arange(self.n_words) % n_classes if initial is None else self._checked(initial, n_classes).copy()
        movable = np.ones(self.n_words, dtype=bool) if fixed is None else ~np.asarray(fixed, dtype=bool)
        if len(movable) != self.n_words:
            raise ConfigError(f"the mask of fixed words has {len(movable)} entries for {self.n_words} words")
        order = np.flatnonzero(movable)
        order = order[np.argsort(-self.counts[order], kind="stable")]
        cells = self._count(classes, n_classes)
        history: list[Sweep] = []
        for _ in range(sweeps if len(order) else 0):
            if shards == 1:
                moves = _sweep(order, classes, self._before, self.counts, cells, self._logs)
            else:
                wanted = self._wanted(order, classes, cells, shards, workers)
                moves = _agree(order, wanted, classes, self._before, self.counts, cells, self._logs)
            history.append(Sweep(moves, _objective(cells, self._logs)))
            if moves <= until * self.n_words:
                break
        return Exchange(classes, history)

    def _wanted(self, order: Ints, classes: Ints, cells: _Cells, shards: int, workers: int) -> Ints:
        """Where the words of every shard would move if the others stayed."""
        wanted = classes.copy()

        def sweep(shard: int) -> None:
            words = np.ascontiguousarray(order[shard::shards])
            _sweep(words, wanted, self._before, self.counts, cells.copy(), self._logs)

        with ThreadPoolExecutor(min(workers, shards)) as pool:
            list(pool.map(sweep, range(shards)))
        return wanted

    def _checked(self, classes: Ints, n_classes: int) -> Ints:
        classes = np.asarray(classes, dtype=np.int64)
        if len(classes) != self.n_words or (len(classes) and not 0 <= classes.min() <= classes.max() < n_classes):
            raise ConfigError(
                f"expected a class between 0 and {n_classes - 1} for each of {self.n_words} words; got {len(classes)} "
                f"classes up to {classes.max(initial=0)}"
            )
        return classes

    def _count(self, classes: Ints, n_classes: int) -> _Cells:
        room = np.minimum(np.diff(self._after.at), n_classes)
        at = np.concatenate([[0], np.cumsum(room)]).astype(np.int64)
        totals = np.bincount(classes, weights=self.counts, minlength=n_classes).astype(np.int64)
        used, name, count = (np.zeros(size, dtype=np.int32) for size in (len(room), at[-1], at[-1]))
        cells = _Cells(at, used, name, count, totals)
        _fill(classes, self._after, cells)
        return cells


def predictive_clusters(
    sentences: Iterable[Sequence[str]],
    n_classes: int = 256,
    min_count: int = 3,
    sweeps: int = 15,
    lower: bool = False,
    shards: int = 1,
    workers: int = 1,
    seed: int | None = None,
    most: int = 1_000_000,
) -> WordClusters:
    """Cluster the words that occur at least `min_count` times (of those, the `most` frequent).

    Words are initially assigned in turn by frequency, or with a `seed` to random classes. The classes are merged into
    a tree like Brown clusters, so prefixes of their paths are coarser clusters.

    >>> text = [["the", noun, verb] for noun in ("cat", "dog") for verb in ("runs", "sits")] * 3
    >>> paths = predictive_clusters(text, n_classes=3).paths()
    >>> paths["cat"] == paths["dog"], paths["runs"] == paths["sits"], paths["cat"] == paths["runs"]
    (True, True, False)
    """
    if n_classes < 1 or min_count < 1 or most < 1:
        raise ConfigError(
            f"need n_classes, most and min_count of at least 1, but got {n_classes}, {most} and {min_count}"
        )
    words, counts, bigrams = count_bigrams(sentences, min_count, lower, most)
    if not words:
        raise DataError(f"no word occurs {min_count} times; provide more text or lower min_count")
    n_classes = min(n_classes, len(words))
    initial = None if seed is None else np.random.default_rng(seed).integers(0, n_classes, len(words))
    classes = PredictiveModel(bigrams, len(words)).exchange(n_classes, initial, None, sweeps, shards, workers).classes
    used, classes = np.unique(classes, return_inverse=True)
    return WordClusters(words, classes, class_paths([(bigrams, classes)], len(used)), counts)


def class_paths(texts: Sequence[tuple[Ints, Ints]], n_classes: int) -> list[str]:
    """Paths of classes in the merge tree that loses least, over one text or several with the same classes.

    A text is its bigrams and the classes of its words, not including those of rare words and sentence boundaries.
    """
    table = np.zeros((n_classes + 2, n_classes + 2), dtype=np.int64)
    for bigrams, classes in texts:
        table += class_counts(bigrams, np.concatenate([classes, [n_classes, n_classes + 1]]), n_classes + 2)
    return tree_paths(merge_order(table, n_classes), n_classes)


@kernel
def _fill(classes: Ints, after: _Neighbours, cells: _Cells) -> None:
    for v in range(len(cells.used)):
        if cells.at[v + 1] - cells.at[v] < after.at[v + 1] - after.at[v]:
            cells.used[v] = -1
        for k in range(after.at[v], after.at[v + 1]):
            _add(v, classes[after.word[k]], after.times[k], cells)


@kernel
def _add(v: int, c: int, n: int, cells: _Cells) -> None:
    """N(v, c) += n."""
    first, used, name, count = cells.at[v], cells.used, cells.name, cells.times
    if used[v] < 0:
        count[first + c] += n
        return
    end = first + used[v]
    for k in range(first, end):
        if name[k] == c:
            count[k] += n
            if count[k] == 0:  # the last cell takes its place
                name[k], count[k] = name[end - 1], count[end - 1]
                count[end - 1] = 0
                used[v] -= 1
            return
    name[end] = c
    count[end] = n
    used[v] += 1


@kernel
def _cell(v: int, c: int, cells: _Cells) -> int:
    """N(v, c)."""
    first = cells.at[v]
    if cells.used[v] < 0:
        return cells.times[first + c]
    for k in range(first, first + cells.used[v]):
        if cells.name[k] == c:
            return cells.times[k]
    return 0


@kernel
def _put(w: int, c: int, sign: int, before: _Neighbours, n_w: int, cells: _Cells) -> None:
    """Add a word to a class, or remove it."""
    for k in range(before.at[w], before.at[w + 1]):
        _add(before.word[k], c, sign * before.times[k], cells)
    cells.totals[c] += sign * n_w


@kernel
def _score(w: int, before: _Neighbours, n_w: int, cells: _Cells, logs: Floats, gain: Floats) -> None:
    """How much F increases when a word in no class joins each class."""
    alone = 0.0
    gain[:] = 0.0
    name, count, totals = cells.name, cells.times, cells.totals
    for k in range(before.at[w], before.at[w + 1]):
        v, n = before.word[k], before.times[k]
        log_term = x_log_x(n, logs)
        alone += log_term
        first = cells.at[v]
        if cells.used[v] < 0:
            for c in range(len(gain)):
                x = count[first + c]
                if x:
                    gain[c] += x_log_x(x + n, logs) - x_log_x(x, logs) - log_term
        else:
            for i in range(first, first + cells.used[v]):
                x = count[i]
                gain[name[i]] += x_log_x(x + n, logs) - x_log_x(x, logs) - log_term
    for c in range(len(gain)):
        gain[c] += alone - x_log_x(totals[c] + n_w, logs) + x_log_x(totals[c], logs)


@kernel
def _sweep(words: Ints, classes: Ints, before: _Neighbours, counts: Ints, cells: _Cells, logs: Floats) -> int:
    """Move each word to its best class, the lowest among ties except for its current one; return how many moved."""
    gain = np.zeros(len(cells.totals))
    moved = 0
    for w in words:
        old = classes[w]
        _put(w, old, -1, before, counts[w], cells)
        _score(w, before, counts[w], cells, logs, gain)
        best = old
        for c in range(len(gain)):
            if gain[c] > gain[best] + LEAST:
                best = c
        _put(w, best, 1, before, counts[w], cells)
        if best != old:
            classes[w] = best
            moved += 1
    return moved


@kernel
def _agree(
    words: Ints, wanted: Ints, classes: Ints, before: _Neighbours, counts: Ints, cells: _Cells, logs: Floats
) -> int:
    """Make the moves that shards propose if they still increase F after those before; return how many were made."""
    totals = cells.totals
    moved = 0
    for w in words:
        old, new, n_w = classes[w], wanted[w], counts[w]
        if old == new:
            continue
        _put(w, old, -1, before, n_w, cells)
        gain = 0.0
        for k in range(before.at[w], before.at[w + 1]):
            v, n = before.word[k], before.times[k]
            x, y = _cell(v, new, cells), _cell(v, old, cells)
            gain += x_log_x(x + n, logs) - x_log_x(x, logs) - x_log_x(y + n, logs) + x_log_x(y, logs)
        gain -= x_log_x(totals[new] + n_w, logs) - x_log_x(totals[new], logs)
        gain += x_log_x(totals[old] + n_w, logs) - x_log_x(totals[old], logs)
        if gain > LEAST:
            classes[w] = new
            moved += 1
        _put(w, classes[w], 1, before, n_w, cells)
    return moved


@kernel
def _all_gains(classes: Ints, before: _Neighbours, counts: Ints, cells: _Cells, logs: Floats, gains: Floats) -> None:
    for w in range(len(gains)):
        old = classes[w]
        _put(w, old, -1, before, counts[w], cells)
        _score(w, before, counts[w], cells, logs, gains[w])
        _put(w, old, 1, before, counts[w], cells)
        gains[w] -= gains[w, old]


@kernel
def _objective(cells: _Cells, logs: Floats) -> float:
    total = 0.0
    for x in cells.times:
        if x:
            total += x_log_x(x, logs)
    for x in cells.totals:
        total -= x_log_x(x, logs)
    return total

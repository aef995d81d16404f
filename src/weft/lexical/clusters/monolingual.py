"""Word clusters learned from plain text: words that occur in the same contexts share a cluster.

    F(c) = sum_{c, d} N(c, d) log N(c, d)  -  sum_c N(c, .) log N(c, .)  -  sum_d N(., d) log N(., d)

is the part of the likelihood of a class bigram model that depends on the classes; N(c, d) counts how often a word of
class d follows one of class c. The exchange algorithm (Kneser and Ney 1993) moves one word at a time to the class where
F is highest, until no word moves: O(classes x neighbour classes) per word, where Brown et al. (1992) need O(classes^2).
The classes are then merged two by two, each time with the least loss of F, as in Brown et al.: the merges form a binary
tree, and a class is named by its path from the root, so prefixes of paths are coarser classes.

Rare words and sentence boundaries count as neighbours, in separate classes that never move.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.arrays import Floats, Ints
from weft.errors import ConfigError, DataError, FormatError
from weft.kernel import kernel

TABLE = 1 << 15  # x log x is looked up below this: the table fits the CPU cache


@dataclass(frozen=True)
class WordClusters:
    """Words with their clusters; `path_of[cluster]` is the cluster's path in the merge tree.

    >>> clusters = WordClusters(["cat", "dog", "sees"], np.array([0, 0, 1]), ["0", "1"], np.array([7, 5, 3]))
    >>> clusters.paths()
    {'cat': '0', 'dog': '0', 'sees': '1'}
    """

    words: list[str]
    classes: Ints
    path_of: list[str]
    counts: Ints

    def paths(self) -> dict[str, str]:
        """The path of every word, as `weft.features.lexicon.WordClasses` expects it."""
        return {word: self.path_of[c] for word, c in zip(self.words, self.classes.tolist(), strict=True)}

    def save(self, path: str | Path) -> None:
        """Write lines `path TAB word TAB count`, the usual format of Brown clusters, sorted by path, then frequency."""
        from weft.formats.streams import open_output

        rows = zip(self.paths().items(), self.counts.tolist(), strict=True)
        lines = sorted(((bits, -count, word) for (word, bits), count in rows))
        with open_output(str(path)) as file:
            for bits, count, word in lines:
                file.write(f"{bits}\t{word}\t{-count}\n".encode())


def load_clusters(path: str | Path) -> dict[str, str]:
    """The path of every word in a file that `WordClusters.save` or another Brown tool wrote.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "paths").write_text("00\\tcat\\t7\\n01\\tsees\\t3\\n")
    ...     load_clusters(Path(folder, "paths"))
    {'cat': '00', 'sees': '01'}
    """
    from weft.formats.streams import read_text

    path_of: dict[str, str] = {}
    for number, line in enumerate(read_text(str(path)).splitlines(), 1):
        fields = line.split("\t")
        if len(fields) not in (2, 3) or not fields[0]:
            raise FormatError(str(path), number, "a path, a word and a count, separated by tabs", repr(line[:60]))
        path_of[fields[1]] = fields[0]
    return path_of


def cluster_words(
    sentences: Iterable[Sequence[str]],
    n_classes: int = 500,
    min_count: int = 10,
    rounds: int = 15,
    lower: bool = False,
) -> WordClusters:
    """Cluster the words that occur at least `min_count` times, in at most `rounds` passes over them.

    >>> text = [["the", noun, verb] for noun in ("cat", "dog") for verb in ("runs", "sits")] * 3
    >>> clusters = cluster_words(text, n_classes=3, min_count=2)
    >>> paths = clusters.paths()
    >>> paths["cat"] == paths["dog"], paths["runs"] == paths["sits"], paths["cat"] == paths["runs"]
    (True, True, False)
    """
    if n_classes < 1 or min_count < 1 or rounds < 0:
        raise ConfigError(
            f"need n_classes and min_count of at least 1 and rounds of at least 0, but got {n_classes}, "
            f"{min_count} and {rounds}"
        )
    words, counts, bigrams = count_bigrams(sentences, min_count, lower)
    if not words:
        raise DataError(f"no word occurs {min_count} times; provide more text or lower min_count")
    n_classes = min(n_classes, len(words))
    classes = exchange(bigrams, len(words), n_classes, rounds)
    _, classes[: len(words)] = np.unique(classes[: len(words)], return_inverse=True)  # some classes may be empty
    used = int(classes[: len(words)].max()) + 1
    classes[len(words) :] = [used, used + 1]
    table = class_counts(bigrams, classes, used + 2)
    return WordClusters(words, classes[: len(words)], tree_paths(merge_order(table, used), used), counts)


def count_bigrams(
    sentences: Iterable[Sequence[str]], min_count: int, lower: bool = False, most: int | None = None
) -> tuple[list[str], Ints, Ints]:
    """Frequent words (most frequent first), their counts, and rows `left, right, count` of all pairs.

    With n words, n stands for all rare words and n + 1 for sentence boundaries. At most `most` words are kept.

    >>> words, counts, bigrams = count_bigrams([["a", "a", "b"]], min_count=2)
    >>> words, bigrams.tolist()
    (['a'], [[0, 0, 1], [0, 1, 1], [1, 2, 1], [2, 0, 1]])
    """
    numbers: dict[str, int] = {}
    stream: list[int] = []
    for sentence in sentences:
        stream.append(-1)
        for word in sentence:
            stream.append(numbers.setdefault(word.lower() if lower else word, len(numbers)))
    stream.append(-1)
    ids = np.array(stream, dtype=np.int64)
    total = np.bincount(ids[ids >= 0], minlength=len(numbers))
    order = np.argsort(-total, kind="stable")
    kept = order[: int((total >= min_count).sum())][:most]
    rank = np.full(len(numbers) + 1, len(kept), dtype=np.int64)
    rank[kept] = np.arange(len(kept))
    rank[-1] = len(kept) + 1
    new = rank[ids]
    size = len(kept) + 2
    pairs, times = np.unique(new[:-1] * size + new[1:], return_counts=True)
    inside = pairs != size * size - 1  # skip empty sentences
    names = list(numbers)
    rows = np.stack([pairs // size, pairs % size, times], axis=1)[inside]
    return [names[k] for k in kept], total[kept].astype(np.int64), rows.astype(np.int64)


def exchange(bigrams: Ints, n_words: int, n_classes: int, rounds: int = 15) -> Ints:
    """The class of every word, and of the two fixed neighbours (`n_classes` and `n_classes + 1`).

    Initially, words are assigned to the classes in turn, in order of frequency.
    """
    classes = np.concatenate([np.arange(n_words) % n_classes, [n_classes, n_classes + 1]]).astype(np.int64)
    right_at, right_of, right_n = _by_word(bigrams[:, 0], bigrams[:, 1], bigrams[:, 2], n_words + 2)
    left_at, left_of, left_n = _by_word(bigrams[:, 1], bigrams[:, 0], bigrams[:, 2], n_words + 2)
    table = class_counts(bigrams, classes, n_classes + 2)
    logs = log_table()
    for _ in range(rounds):
        moved = _exchange_once(
            classes, n_words, n_classes, right_at, right_of, right_n, left_at, left_of, left_n,
            table, np.ascontiguousarray(table.T), table.sum(axis=1), table.sum(axis=0), logs,
        )  # fmt: skip
        table = class_counts(bigrams, classes, n_classes + 2)
        if not moved:
            break
    return classes


def class_counts(bigrams: Ints, classes: Ints, size: int) -> Ints:
    """N(c, d) for all classes."""
    table = np.zeros((size, size), dtype=np.int64)
    np.add.at(table, (classes[bigrams[:, 0]], classes[bigrams[:, 1]]), bigrams[:, 2])
    return table


def likelihood(table: Ints) -> float:
    """F of a table of class counts.

    >>> round(likelihood(np.array([[0, 2], [2, 0]])), 4)
    -2.7726
    """

    def total(numbers: Ints) -> float:
        positive = numbers[numbers > 0].astype(np.float64)
        return float(positive @ np.log(positive))

    return total(table) - total(table.sum(axis=0)) - total(table.sum(axis=1))


def merge_order(table: Ints, n_classes: int) -> list[tuple[int, int]]:
    """The pairs to merge (the second into the first), each time the pair that costs least; the rows of `table`
    after `n_classes` are neighbours that are never merged.

    >>> merge_order(np.array([[0, 4, 0], [2, 0, 2], [0, 4, 0]]), 3)[0]
    (0, 2)
    """
    pairs = np.zeros((max(0, n_classes - 1), 2), dtype=np.int64)
    _merge(np.ascontiguousarray(table, dtype=np.int64).copy(), n_classes, pairs, log_table())
    return [(int(a), int(b)) for a, b in pairs]


def tree_paths(merges: Sequence[tuple[int, int]], n_classes: int) -> list[str]:
    """The path of every class in the merge tree; the last merge is the root.

    >>> tree_paths([(0, 2), (0, 1)], 3)
    ['00', '1', '01']
    """
    path = [""] * n_classes
    members = [[c] for c in range(n_classes)]
    for a, b in merges:
        for c in members[a]:
            path[c] = "0" + path[c]
        for c in members[b]:
            path[c] = "1" + path[c]
        members[a] += members[b]
    return [bits or "0" for bits in path]


def _by_word(of: Ints, other: Ints, times: Ints, size: int) -> tuple[Ints, Ints, Ints]:
    order = np.argsort(of, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=size))]).astype(np.int64)
    return starts, np.ascontiguousarray(other[order]), np.ascontiguousarray(times[order])


def log_table() -> Floats:
    """x log x for small numbers, for `x_log_x`."""
    numbers = np.arange(TABLE, dtype=np.float64)
    numbers[1:] *= np.log(numbers[1:])
    return numbers


@kernel
def x_log_x(x: int, logs: Floats) -> float:
    """x log x; small numbers are looked up in `log_table()`."""
    if x < TABLE:
        return logs[x]
    return x * np.log(x)


@kernel
def _exchange_once(
    classes: Ints,
    n_words: int,
    n_classes: int,
    right_at: Ints,
    right_of: Ints,
    right_n: Ints,
    left_at: Ints,
    left_of: Ints,
    left_n: Ints,
    table: Ints,
    turned: Ints,
    lefts: Ints,
    rights: Ints,
    logs: Floats,
) -> int:
    """Visit every word once; `turned` is the transposed table, `lefts` and `rights` its sums."""
    size = table.shape[0]
    after = np.zeros(size, dtype=np.int64)  # how often each class follows and precedes the word
    before = np.zeros(size, dtype=np.int64)
    gain = np.zeros(n_classes)
    members = np.zeros(size, dtype=np.int64)
    for w in range(n_words):
        members[classes[w]] += 1
    moved = 0
    for w in range(n_words):
        old = classes[w]
        if members[old] == 1:
            continue  # a singleton class cannot gain by losing its word: F never rises with fewer classes
        after[:] = 0
        before[:] = 0
        itself = 0
        n_left = 0
        n_right = 0
        for k in range(right_at[w], right_at[w + 1]):
            n_left += right_n[k]
            if right_of[k] == w:
                itself = right_n[k]
            else:
                after[classes[right_of[k]]] += right_n[k]
        for k in range(left_at[w], left_at[w + 1]):
            n_right += left_n[k]
            if left_of[k] != w:
                before[classes[left_of[k]]] += left_n[k]
        _shift(table, turned, lefts, rights, old, after, before, itself, n_left, n_right, -1)
        for b in range(n_classes):
            inside = table[b, b]
            gain[b] = (
                x_log_x(inside + after[b] + before[b] + itself, logs) - x_log_x(inside, logs)
                - x_log_x(lefts[b] + n_left, logs) + x_log_x(lefts[b], logs)
                - x_log_x(rights[b] + n_right, logs) + x_log_x(rights[b], logs)
            )  # fmt: skip
        for c in range(size):
            if after[c]:
                for b in range(n_classes):
                    if b != c:
                        gain[b] += x_log_x(turned[c, b] + after[c], logs) - x_log_x(turned[c, b], logs)
            if before[c]:
                for b in range(n_classes):
                    if b != c:
                        gain[b] += x_log_x(table[c, b] + before[c], logs) - x_log_x(table[c, b], logs)
        best = old
        for b in range(n_classes):
            if gain[b] > gain[best] + 1e-7:
                best = b
        _shift(table, turned, lefts, rights, best, after, before, itself, n_left, n_right, 1)
        if best != old:
            classes[w] = best
            members[old] -= 1
            members[best] += 1
            moved += 1
    return moved


@kernel
def _shift(
    table: Ints,
    turned: Ints,
    lefts: Ints,
    rights: Ints,
    c: int,
    after: Ints,
    before: Ints,
    itself: int,
    n_left: int,
    n_right: int,
    sign: int,
) -> None:
    """Add a word's counts to a class, or remove them."""
    for d in range(table.shape[0]):
        if after[d]:
            table[c, d] += sign * after[d]
            turned[d, c] += sign * after[d]
        if before[d]:
            table[d, c] += sign * before[d]
            turned[c, d] += sign * before[d]
    table[c, c] += sign * itself
    turned[c, c] += sign * itself
    lefts[c] += sign * n_left
    rights[c] += sign * n_right


@kernel
def _loss(table: Ints, alive: Ints, a: int, b: int, logs: Floats) -> float:
    """What F loses by merging two classes, except for the row and column sums."""
    together = table[a, a] + table[a, b] + table[b, a] + table[b, b]
    loss = (
        x_log_x(table[a, a], logs)
        + x_log_x(table[a, b], logs)
        + x_log_x(table[b, a], logs)
        + x_log_x(table[b, b], logs)
    )
    loss -= x_log_x(together, logs)
    for c in range(table.shape[0]):
        if alive[c] and c != a and c != b:
            loss += _one(table, a, b, c, logs)
    return loss


@kernel
def _one(table: Ints, a: int, b: int, c: int, logs: Floats) -> float:
    """The contribution of one neighbour class to the loss of merging a and b."""
    total = 0.0
    x, y = table[a, c], table[b, c]
    if x and y:
        total += x_log_x(x, logs) + x_log_x(y, logs) - x_log_x(x + y, logs)
    x, y = table[c, a], table[c, b]
    if x and y:
        total += x_log_x(x, logs) + x_log_x(y, logs) - x_log_x(x + y, logs)
    return total


@kernel
def _merge(table: Ints, n: int, pairs: Ints, logs: Floats) -> None:
    """Merge n classes into one; pair losses are kept and updated for the two classes that became one."""
    size = table.shape[0]
    alive = np.ones(size, dtype=np.int64)
    lefts = table.sum(axis=1)
    rights = table.sum(axis=0)
    loss = np.zeros((n, n))
    for a in range(n):
        for b in range(a + 1, n):
            loss[a, b] = _loss(table, alive, a, b, logs)
    for step in range(n - 1):
        best = np.inf
        first, second = 0, 0
        for a in range(n):
            if not alive[a]:
                continue
            for b in range(a + 1, n):
                if not alive[b]:
                    continue
                total = (
                    loss[a, b]
                    + x_log_x(lefts[a] + lefts[b], logs) - x_log_x(lefts[a], logs) - x_log_x(lefts[b], logs)
                    + x_log_x(rights[a] + rights[b], logs) - x_log_x(rights[a], logs) - x_log_x(rights[b], logs)
                )  # fmt: skip
                if total < best - 1e-9:
                    best = total
                    first, second = a, b
        pairs[step, 0] = first
        pairs[step, 1] = second
        for a in range(n):
            if not alive[a] or a in (first, second):
                continue
            for b in range(a + 1, n):
                if alive[b] and b != first and b != second:
                    loss[a, b] -= _one(table, a, b, first, logs) + _one(table, a, b, second, logs)
        for c in range(size):
            table[first, c] += table[second, c]
        for c in range(size):
            table[c, first] += table[c, second]
        lefts[first] += lefts[second]
        rights[first] += rights[second]
        alive[second] = 0
        for a in range(n):
            if not alive[a] or a == first:
                continue
            for b in range(a + 1, n):
                if alive[b] and b != first:
                    loss[a, b] += _one(table, a, b, first, logs)
        for a in range(n):
            if alive[a] and a != first:
                low, high = min(a, first), max(a, first)
                loss[low, high] = _loss(table, alive, low, high, logs)

"""Counting n-grams of any amount of text in bounded memory.

    text       words become numbers in the order of their first occurrence, which are spooled to disk
    runs       chunks of the spool: n-grams of full order, sorted, equal ones summed up; on disk if there are several
    merge      runs are cut at common keys; the parts between two cuts fit into memory, are sorted and summed up
    trie       one pass over the merged n-grams counts their prefixes, which are all shorter n-grams

Where a sentence ends, n-grams are padded, so that every position begins exactly one n-gram of full order. Chunks are
sorted and parts merged by several threads: sorting holds no lock.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from weft.arrays import Floats, Ids, Ints, Keys
from weft.errors import ConfigError, DataError
from weft.learn.ngrams.trie import Trie
from weft.learn.ngrams.vocabulary import BEGIN_ID, END_ID, UNKNOWN_ID, Vocabulary

#: Bytes that sorting one chunk takes per word.
_PER_WORD = 96
#: How many sentences become numbers at a time.
_BATCH = 10_000


@dataclass(frozen=True)
class Counts:
    """A closed set of n-grams with the number of times that each occurs."""

    trie: Trie
    counts: Floats  #: per node

    @property
    def order(self) -> int:
        return self.trie.order


def count(
    sentences: Iterable[Sequence[str]],
    order: int,
    least: int = 1,
    vocabulary: Vocabulary | None = None,
    memory: int = 400_000_000,
    workers: int = 1,
    folder: Path | None = None,
) -> tuple[Vocabulary, Counts]:
    """Count the n-grams of sentences up to an order; words with fewer than `least` occurrences become `<unk>`.

    Chunks take `memory` bytes at a time; runs and the spool are in a temporary folder, below `folder` if it is given.

    >>> vocabulary, counted = count([["a", "b"], ["a"]], order=2)
    >>> counted.trie.counts(), int(counted.counts[1 + vocabulary.ids["a"]])
    ([5, 4], 2)
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix="weft-ngrams-") as place:
        spool = Spool(Path(place, "text"))
        spool.add(sentences)
        if not spool.n_sentences:
            raise DataError("there is no sentence to count n-grams of")
        chosen = Vocabulary.counted(spool.counts(), least) if vocabulary is None else vocabulary
        with spool.numbered(chosen) as text:
            return chosen, count_ids(text, order, len(chosen), memory, workers, Path(place))


class Spool:
    """Text on disk as numbers of words, in the order in which words first occur."""

    def __init__(self, path: Path) -> None:
        self.path, self.n_sentences = path, 0
        self._ids: dict[str, int] = {}
        self._sizes = np.zeros(1 << 12, dtype=np.int64)

    def add(self, sentences: Iterable[Sequence[str]]) -> None:
        """Append sentences, each between `<s>` and `</s>`."""
        rest = iter(sentences)
        with self.path.open("ab") as file:
            while batch := list(islice(rest, _BATCH)):
                self._write(batch, file)

    def _write(self, batch: list[Sequence[str]], file: IO[bytes]) -> None:
        ids = self._ids
        for word in set(chain.from_iterable(batch)) - ids.keys():
            ids[word] = 0  # numbered below, in an order that does not depend on the hash of strings
        fresh = [word for word in dict.fromkeys(chain.from_iterable(batch)) if not ids[word]]
        ids.update(zip(fresh, range(len(ids) - len(fresh) + 1, len(ids) + 1), strict=True))
        sizes = np.fromiter(map(len, batch), np.int64, len(batch))
        ends = np.cumsum(sizes + 2)
        found = np.full(int(ends[-1]), -1, dtype=np.int32)
        found[ends - 1] = -2
        inside = np.ones(len(found), dtype=np.bool_)
        inside[ends - 1] = inside[np.concatenate([[0], ends[:-1]])] = False
        words = np.fromiter(map(ids.__getitem__, chain.from_iterable(batch)), np.int32, int(sizes.sum()))
        found[inside] = words
        file.write(found.tobytes())
        if len(self._sizes) <= len(ids):
            self._sizes = np.concatenate([self._sizes, np.zeros(max(len(ids), len(self._sizes)), np.int64)])
        self._sizes += np.bincount(words, minlength=len(self._sizes))
        self.n_sentences += len(batch)

    def counts(self) -> dict[str, int]:
        """How often each word occurs."""
        return dict(zip(self._ids, self._sizes[list(self._ids.values())].tolist(), strict=True))

    @contextmanager
    def numbered(self, vocabulary: Vocabulary) -> Iterator[Ids]:
        """The text in the numbers of a vocabulary, mapped from disk."""
        table = np.zeros(len(self._ids) + 3, dtype=np.int32)
        table[-1], table[-2] = BEGIN_ID, END_ID
        known = vocabulary.ids.get
        for word, number in self._ids.items():
            new = known(word, UNKNOWN_ID)
            table[number] = UNKNOWN_ID if new in (BEGIN_ID, END_ID) else new
        text = np.memmap(self.path, np.int32, "r+")
        for begin in range(0, len(text), 1 << 22):
            part = text[begin : begin + (1 << 22)]
            part[:] = table[part]
        yield text
        del text


def count_ids(
    text: Ids, order: int, n_words: int, memory: int = 400_000_000, workers: int = 1, folder: Path | None = None
) -> Counts:
    """Count the n-grams of numbered sentences, each of which begins with `<s>` and ends with `</s>`.

    >>> count_ids(np.array([1, 3, 3, 2], dtype=np.int32), 3, 4).trie.counts()
    [4, 3, 2]
    """
    if order < 1:
        raise ConfigError(f"the order of a language model must be at least 1, got {order}")
    bits = int(n_words).bit_length()
    if (per := 64 // bits) * 2 < order:
        raise ConfigError(f"n-grams of {order} words out of {n_words:,} are too long; at most {2 * per} words can be")
    size = max(1 << 12, memory // _PER_WORD // max(1, workers))
    begins = range(0, len(text), size)

    def run(begin: int) -> tuple[Any, Any]:
        keys, counts = _summed(*_keys(text, begin, min(len(text), begin + size), order, bits))
        if len(begins) == 1:
            return keys, counts
        with tempfile.NamedTemporaryFile(dir=folder, suffix=".npy", delete=False) as own:
            np.save(own, np.column_stack([keys, counts.astype(np.uint64)]))
        return Path(own.name), None

    with ThreadPoolExecutor(max(1, workers)) as pool:
        runs = list(pool.map(run, begins))
        if len(runs) == 1:
            return _counted(iter(runs), order, n_words, bits)
        paths = [path for path, _ in runs]
        try:
            return _counted(_merged(paths, size, pool), order, n_words, bits)
        finally:
            for path in paths:
                path.unlink()


def _keys(text: Ids, begin: int, end: int, order: int, bits: int) -> tuple[Keys, None]:
    """The n-grams of full order that begin at some positions, packed into one or two numbers of 64 bits."""
    here = np.asarray(text[begin : end + order - 1]).astype(np.uint64)
    n = end - begin
    per = 64 // bits
    keys = np.zeros((n, 1 if order <= per else 2), dtype=np.uint64)
    alive = np.ones(n, dtype=np.bool_)
    for k in range(order):
        word = np.zeros(n, dtype=np.uint64)
        there = here[k : k + n]
        word[: len(there)] = there + np.uint64(1)
        alive[len(there) :] = False
        word[~alive] = 0  # no word begins here any more: padding sorts before all words
        column, place = divmod(k, per)
        keys[:, column] |= word << np.uint64(bits * (per - 1 - place))
        alive &= word != END_ID + 1
    return keys, None


def _summed(keys: Keys, counts: Ints | None) -> tuple[Keys, Ints]:
    """Distinct keys in order with the sums of their counts; every key counts once if there are no counts."""
    if keys.shape[1] == 1 and counts is None:
        keys = np.sort(keys, axis=0)
    else:
        order = np.lexsort(keys.T[::-1])
        keys = keys[order]
        counts = None if counts is None else counts[order]
    new = np.ones(len(keys), dtype=np.bool_)
    new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    places = np.flatnonzero(new)
    if counts is None:
        return keys[places], np.diff(np.append(places, len(keys)))
    return keys[places], np.add.reduceat(counts, places) if len(places) else counts


def _merged(paths: Sequence[Path], size: int, pool: ThreadPoolExecutor) -> Iterator[tuple[Keys, Ints]]:
    """The n-grams of all runs in order, in parts of about `size` rows; equal keys are always in one part."""
    runs = [np.load(path, mmap_mode="r") for path in paths]
    total = sum(len(run) for run in runs)
    n_parts = max(1, -(-2 * total // size))
    samples = np.sort(np.concatenate([run[:: max(1, len(run) // (4 * n_parts)), 0] for run in runs]))
    cuts = np.unique(samples[np.linspace(0, len(samples) - 1, n_parts + 1).astype(np.int64)[1:-1]])
    places = [np.concatenate([[0], np.searchsorted(run[:, 0], cuts), [len(run)]]) for run in runs]

    def part(number: int) -> tuple[Keys, Ints]:
        rows = np.concatenate([run[own[number] : own[number + 1]] for run, own in zip(runs, places, strict=True)])
        return _summed(np.ascontiguousarray(rows[:, :-1]), rows[:, -1].astype(np.int64))

    waiting: list[Any] = []
    for number in range(len(cuts) + 1):
        waiting.append(pool.submit(part, number))
        if len(waiting) > pool._max_workers:
            yield waiting.pop(0).result()
    for future in waiting:
        yield future.result()


def _counted(parts: Iterator[tuple[Keys, Ints]], order: int, n_words: int, bits: int) -> Counts:
    """The trie of all prefixes of sorted n-grams, with their counts."""
    per = 64 // bits
    mask = np.uint64((1 << bits) - 1)
    words: list[list[Ids]] = [[] for _ in range(order)]
    parents: list[list[Ids]] = [[] for _ in range(order)]
    counts: list[list[Floats]] = [[] for _ in range(order)]
    sizes = [1, *([0] * order)]
    last = np.full(order, -1, dtype=np.int64)
    unigrams = np.zeros(n_words)
    for keys, times in parts:
        if not len(keys):
            continue
        rows = np.empty((len(keys), order), dtype=np.int64)
        for k in range(order):
            column, place = divmod(k, per)
            rows[:, k] = (keys[:, column] >> np.uint64(bits * (per - 1 - place))) & mask
        rows -= 1  # -1 is padding
        same = np.empty((len(rows), order), dtype=np.bool_)
        same[0] = rows[0] == last
        same[1:] = rows[1:] == rows[:-1]
        weights = times.astype(np.float64)
        unigrams += np.bincount(rows[:, 0], weights=weights, minlength=n_words)
        equal = same[:, 0]
        above = rows[:, 0]
        for k in range(1, order):
            equal = equal & same[:, k]
            there = rows[:, k] >= 0
            new = ~equal & there
            index = np.cumsum(new) + sizes[k] - 1
            counted = np.bincount(index[there] - (sizes[k] - 1), weights=weights[there], minlength=int(new.sum()) + 1)
            if sizes[k] and counted[0]:
                counts[k][-1][-1] += counted[0]  # goes on with the last n-gram of the part before
            words[k].append(rows[new, k].astype(np.int32))
            parents[k].append(above[new].astype(np.int32))
            if new.any():
                counts[k].append(counted[1:].astype(np.float64))
            sizes[k] += int(new.sum())
            above = index
        last = rows[-1]
    trie = Trie.of_rows(n_words, [])
    every = [np.zeros(1), unigrams]
    for k in range(1, order):
        begin = int(trie.levels[k])
        own = np.concatenate(words[k]) if words[k] else np.zeros(0, np.int32)
        histories = np.concatenate(parents[k]) + np.int32(begin) if parents[k] else np.zeros(0, np.int32)
        words[k], parents[k] = [], []
        trie = trie.grown(own, histories)
        every.append(np.concatenate(counts[k]) if counts[k] else np.zeros(0))
    every[0] = np.array([unigrams.sum()])
    return Counts(trie, np.concatenate(every))

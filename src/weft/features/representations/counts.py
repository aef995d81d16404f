"""Words as counts of their neighbours: distributional vectors that grow with every text that is read.

    left(w)_i   = tf(freq(c_i w)),  i = 1..n,     left(w)_n+1  = tf(sum over all other words c of freq(c w))
    right(w)_i  = tf(freq(w c_i)),  i = 1..n,     right(w)_n+1 = tf(sum over all other words c of freq(w c))
    tf(x) = 1 + ln x  for x > 0,  0 for x = 0;    left and right are each scaled to length 1

The indicators c_1, c_2, ... are the most frequent words of the text counted, the boundary of sentences among them; ties
go by the alphabet. The last entry takes all other neighbours, so that the vector of a word that occurs is never zero
(Schnabel and Schütze 2014). Counts are whole numbers: in whatever order and in however many pieces text is read or
counts are merged, the vectors are the same to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Ints
from weft.declared import Array, Stored
from weft.errors import ConfigError, ModelError, WeftError
from weft.text.doc import Doc
from weft.text.strings import StringTable

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Stands before and after every sentence.
BOUNDARY = "\N{MATHEMATICAL LEFT ANGLE BRACKET}BOUNDARY\N{MATHEMATICAL RIGHT ANGLE BRACKET}"
_SHIFT = 32
#: What a file holds of counts, beside the words.
ARRAYS = (
    Array("frequency", "uint32", ("words",)),
    Array("tokens", "int64", (1,)),
    Array("indicators", "uint32", ("indicators",), below="words", optional=True),
    Array("right.pairs", "uint64", ("right",), rising=True),
    Array("right.counts", "uint32", ("right",)),
    Array("left.pairs", "uint64", ("left",), rising=True),
    Array("left.counts", "uint32", ("left",)),
)


class NeighbourCounts:
    """How often words stand next to each other, and vectors of words made of it.

    Words are counted in lower case unless `lower` is false. `freeze` chooses the indicators; after it only pairs with
    an indicator are kept, and counting goes on with the same indicators.

    >>> counts = NeighbourCounts()
    >>> counts.add([["The", "dog", "barks"], ["the", "cat"]])
    >>> counts.frequency("the"), counts.most_frequent(2) == ["the", BOUNDARY]
    (2, True)
    >>> counts.freeze(2)
    >>> counts.vectors(["dog"]).toarray().round(3).tolist()  # left: the, boundary, others; right: the same
    [[1.0, 0.0, 0.0, 0.0, 0.0, 1.0]]
    """

    def __init__(self, lower: bool = True) -> None:
        self.lower = lower
        self.indicators: tuple[str, ...] | None = None
        self.tokens = 0  # words counted so far, boundaries not included
        self._table = StringTable([BOUNDARY])
        self._frequency = np.zeros(2, dtype=np.int64)
        self._by_right = _PairCounts()  # right << 32 | left
        self._by_left = _PairCounts()  # left << 32 | right
        self._column = np.zeros(0, dtype=np.int32)  # the indicator's number of a word, -1 for others

    def __len__(self) -> int:
        """How many different words were counted."""
        return int(np.count_nonzero(self._frequency)) - int(self._frequency[1] > 0)

    def add(self, sentences: Iterable[Sequence[str]]) -> None:
        """Count the words of sentences."""
        rows = [list(map(str.lower, words)) if self.lower else list(words) for words in sentences]
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        ids = self._table.ids([word for words in rows for word in words]).astype(np.int64)
        self._count(ids, np.concatenate([[0], np.cumsum(lengths)]))

    def add_docs(self, docs: Iterable[Doc]) -> None:
        """Count the words of documents; a document without sentences counts as one.

        >>> counts = NeighbourCounts()
        >>> counts.add_docs([Doc.from_words([["Dogs", "bark"]])])
        >>> counts.frequency("dogs")
        1
        """
        for strings, group in groupby(docs, key=lambda doc: doc.strings):
            own = list(group)
            forms, numbers = np.unique(np.concatenate([doc.columns["form"] for doc in own]), return_inverse=True)
            words = strings.strings(forms)
            ids = self._table.ids(list(map(str.lower, words)) if self.lower else words).astype(np.int64)
            offsets = [np.zeros(1, dtype=np.int64)]
            for doc in own:
                bounds = doc.sentence_offsets if doc.n_sentences else np.array([0, doc.n_words])
                offsets.append(bounds[1:].astype(np.int64) + offsets[-1][-1])
            self._count(ids[numbers], np.concatenate(offsets))

    def merge(self, other: NeighbourCounts) -> None:
        """Take in what another has counted: the counts of two shards are the counts of both texts.

        >>> one, two = NeighbourCounts(), NeighbourCounts()
        >>> one.add([["dogs", "bark"]]), two.add([["dogs", "sleep"]])
        (None, None)
        >>> one.merge(two)
        >>> one.frequency("dogs")
        2
        """
        if (self.lower, self.indicators) != (other.lower, other.indicators):
            raise ConfigError("counts can be merged only where both have the same case and the same indicators")
        ours = self._table.ids(other._table.since(0)).astype(np.int64)
        codes, counts = other._by_left.all()
        pairs = ours[codes >> _SHIFT], ours[codes & 0xFFFFFFFF]
        self._grow()
        np.add.at(self._frequency, ours[: len(other._frequency)], other._frequency)
        self._add_pairs(*pairs, counts)
        self.tokens += other.tokens

    def frequency(self, word: str) -> int:
        """How often a word was counted; of the boundary, how many sentences."""
        number = self._table.find(word.lower() if self.lower and word != BOUNDARY else word)
        return int(self._frequency[number]) if 0 <= number < len(self._frequency) else 0

    def most_frequent(self, n: int) -> list[str]:
        """The `n` most frequent words, the boundary counted once per sentence; ties are broken alphabetically."""
        met = np.flatnonzero(self._frequency)
        if n < len(met):  # sort only those that can be among them
            least = -np.partition(-self._frequency[met], n)[n]
            met = met[self._frequency[met] >= least]
        words = self._table.strings(met)
        return [word for _, word in sorted(zip((-self._frequency[met]).tolist(), words, strict=True))[:n]]

    def freeze(self, n: int = 500) -> None:
        """Choose the `n` most frequent words as indicators, for good."""
        if n < 0:
            raise ConfigError(f"the number of indicators must be at least 0, got {n}")
        if self.indicators is not None:
            raise WeftError("the indicators are chosen already: count anew to choose others")
        self._fix(self.most_frequent(n))

    def _fix(self, indicators: Sequence[str]) -> None:
        self.indicators = tuple(indicators)
        ids = self._table.ids(self.indicators)
        self._grow()
        self._column = np.full(len(self._table), -1, dtype=np.int32)
        self._column[ids] = np.arange(len(ids))
        kept: list[tuple[_PairCounts, Ints, Ints]] = []
        for pairs in (self._by_right, self._by_left):
            codes, counts = pairs.all()
            wanted = self._column_of(codes & 0xFFFFFFFF) >= 0
            kept.append((_PairCounts(), codes[wanted], counts[wanted]))
            kept[-1][0].add(*kept[-1][1:])
        self._by_right, self._by_left = (pairs for pairs, _, _ in kept)

    def vectors(self, words: Sequence[str]) -> csr_matrix:
        """One row per word: left neighbours, all other left ones, right neighbours, all other right ones.

        The row of a word that was never counted is empty. `BOUNDARY` is a word like others.
        """
        from scipy.sparse import csr_matrix, hstack

        if self.indicators is None:
            raise WeftError("choose the indicators first: call freeze(n)")
        n = len(self.indicators)
        asked = [word.lower() if self.lower and word != BOUNDARY else word for word in words]
        ids = np.fromiter(map(self._table.find, asked), dtype=np.int64, count=len(asked))
        ids = np.where(ids < len(self._frequency), ids, -1)
        total = np.where(ids >= 0, self._frequency[ids], 0)
        sides = []
        for pairs in (self._by_right, self._by_left):
            rows, neighbours, counts = pairs.of(ids)
            counted = csr_matrix((counts, (rows, self._column_of(neighbours))), shape=(len(asked), n + 1))
            rest = total - np.asarray(counted.sum(axis=1)).ravel()
            others = np.flatnonzero(rest)
            last = csr_matrix((rest[others], (others, np.full(len(others), n))), shape=counted.shape)
            sides.append(_unit_rows(counted + last))
        return csr_matrix(hstack(sides, format="csr"))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What a model file keeps: words in the order of the alphabet, their counts, and the pairs."""
        met = np.flatnonzero(self._frequency)
        words = self._table.strings(met)
        order = np.array(sorted(range(len(words)), key=words.__getitem__), dtype=np.int64)
        place = np.full(len(self._table), -1, dtype=np.int64)
        place[met[order]] = np.arange(len(met))
        found: dict[str, NDArray[Any]] = {
            "words": strings_to_bytes([words[i] for i in order]),
            "frequency": self._frequency[met[order]].astype(np.uint32),
            "tokens": np.array([self.tokens], dtype=np.int64),
        }
        if self.indicators is not None:
            found["indicators"] = place[self._table.ids(self.indicators)].astype(np.uint32)
        for name, pairs in (("right", self._by_right), ("left", self._by_left)):
            codes, counts = pairs.all()
            codes = place[codes >> _SHIFT] << _SHIFT | place[codes & 0xFFFFFFFF]
            rising = np.argsort(codes)
            found[f"{name}.pairs"] = codes[rising].astype(np.uint64)
            found[f"{name}.counts"] = counts[rising].astype(np.uint32)
        return found

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]], lower: bool = True) -> NeighbourCounts:
        """The counts that `arrays` described.

        >>> counts = NeighbourCounts()
        >>> counts.add([["dogs", "bark"]])
        >>> counts.freeze(1)
        >>> NeighbourCounts.from_arrays(counts.arrays()).vectors(["bark"]).toarray().tolist()
        [[0.0, 1.0, 0.0, 1.0]]
        """
        found = cls(lower)
        stored = Stored.of(arrays)
        words = strings_of_bytes(stored.take(Array("words", "uint8", ("*",)))["words"])
        arrays = stored.take(*ARRAYS, words=len(words))
        ids = found._table.ids(words).astype(np.int64)
        found._grow()
        found._frequency[ids] = arrays["frequency"]
        found.tokens = int(arrays["tokens"][0])
        for name, pairs in (("right", found._by_right), ("left", found._by_left)):
            codes = arrays[f"{name}.pairs"].astype(np.int64)
            if max(int((codes & 0xFFFFFFFF).max(initial=-1)), int((codes >> _SHIFT).max(initial=-1))) >= len(words):
                raise ModelError(f"the pairs of {name} neighbours name words beyond the last: the model is damaged")
            codes = ids[codes >> _SHIFT] << _SHIFT | ids[codes & 0xFFFFFFFF]
            rising = np.argsort(codes)
            pairs.add(codes[rising], arrays[f"{name}.counts"].astype(np.int64)[rising])
        if "indicators" in arrays:
            found._fix([words[i] for i in arrays["indicators"].tolist()])
        return found

    def _count(self, ids: Ints, offsets: Ints) -> None:
        """Count words given as numbers, sentence by sentence."""
        offsets = offsets[np.concatenate([[True], offsets[1:] > offsets[:-1]])]  # empty sentences say nothing
        if len(offsets) < 2:
            return
        self._grow()
        self._frequency += np.bincount(ids, minlength=len(self._frequency))
        self._frequency[1] += len(offsets) - 1
        self.tokens += len(ids)
        boundary = np.ones(len(offsets) - 1, dtype=np.int64)
        self._add_pairs(np.insert(ids, offsets[:-1], boundary), np.insert(ids, offsets[1:], boundary))

    def _add_pairs(self, left: Ints, right: Ints, counts: Ints | None = None) -> None:
        for pairs, of, beside in ((self._by_right, right, left), (self._by_left, left, right)):
            wanted = slice(None) if self.indicators is None else self._column_of(beside) >= 0
            codes = of[wanted] << _SHIFT | beside[wanted]
            if counts is None:
                pairs.add(*np.unique(codes, return_counts=True))
            else:
                pairs.add(*_summed(codes, counts[wanted]))

    def _column_of(self, ids: Ints) -> NDArray[np.int32]:
        """The numbers of indicators, -1 for other words."""
        known = ids < len(self._column)
        return np.where(known, self._column[np.where(known, ids, 0)] if len(self._column) else -1, -1).astype(np.int32)

    def _grow(self) -> None:
        missing = len(self._table) - len(self._frequency)
        if missing > 0:
            self._frequency = np.concatenate([self._frequency, np.zeros(missing, dtype=np.int64)])


class _PairCounts:
    """Counts of pairs as sorted runs, short ones merged into long ones, so that adding little costs little."""

    def __init__(self) -> None:
        self._runs: list[tuple[Ints, Ints]] = []

    def add(self, codes: Ints, counts: Ints) -> None:
        """Add counts of pairs; the codes rise and none stands twice."""
        runs = self._runs
        runs.append((codes, counts.astype(np.int64, copy=False)))
        while len(runs) > 1 and len(runs[-2][0]) <= 2 * len(runs[-1][0]):
            last, before = runs.pop(), runs.pop()
            runs.append(_summed(*(np.concatenate(both) for both in zip(before, last, strict=True))))

    def all(self) -> tuple[Ints, Ints]:
        """All pairs in rising order, and their counts."""
        if not self._runs:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        return _summed(*(np.concatenate(parts) for parts in zip(*self._runs, strict=True)))

    def of(self, ids: Ints) -> tuple[Ints, Ints, Ints]:
        """The pairs whose first word is one of `ids`: its place there, the second word, the count; some may repeat."""
        rows, seconds, found = [], [], []
        for codes, counts in self._runs:
            first, end = np.searchsorted(codes, ids << _SHIFT), np.searchsorted(codes, (ids + 1) << _SHIFT)
            lengths = end - first
            at = np.repeat(first - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths) + np.arange(lengths.sum())
            rows.append(np.repeat(np.arange(len(ids)), lengths))
            seconds.append(codes[at] & 0xFFFFFFFF)
            found.append(counts[at])
        empty = [np.zeros(0, dtype=np.int64)]
        return np.concatenate(rows or empty), np.concatenate(seconds or empty), np.concatenate(found or empty)


def strings_to_bytes(strings: Sequence[str]) -> NDArray[np.uint8]:
    """Strings without line breaks as an array of bytes, for a model file.

    >>> strings_of_bytes(strings_to_bytes(["dog", "cat"]))
    ['dog', 'cat']
    """
    return np.frombuffer("\n".join(strings).encode("utf-8", "surrogatepass"), dtype=np.uint8).copy()


def strings_of_bytes(array: NDArray[Any]) -> list[str]:
    """The strings that `strings_to_bytes` wrote."""
    text = bytes(array).decode("utf-8", "surrogatepass")
    return text.split("\n") if text else []


def _summed(codes: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Codes in rising order, each once, with the sums of their counts."""
    order = np.argsort(codes, kind="stable")
    codes, counts = codes[order], counts[order]
    first = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])) if len(codes) else np.zeros(0, np.int64)
    return codes[first], np.add.reduceat(counts, first) if len(first) else counts


def _unit_rows(counts: csr_matrix) -> csr_matrix:
    """tf of counts, every row scaled to length 1; empty rows stay so."""
    counts.sum_duplicates()
    counts.eliminate_zeros()
    values = 1.0 + np.log(counts.data.astype(np.float64))
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    lengths = np.sqrt(np.bincount(rows, weights=values * values, minlength=counts.shape[0]))
    found = counts.astype(np.float64)
    found.data = values / lengths[rows]
    return found

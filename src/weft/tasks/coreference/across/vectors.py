"""Vectors of mentions: their context, the letters of their name, and the name as a whole.

    g(m, n) = context_weight cos(context) + name_weight cos(letters of the name) + equal_weight [same name] - bias

Each kind of similarity is a block of columns, scaled by the square root of its weight (`weft.infer.sampling.items`).
Contexts are the terms with the highest tf-idf; letters are runs of 2 to 4 letters of each word of the name, its ends
marked, weighted by idf over different names. `equal_weight` is STREQ of Singh et al. (2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError
from weft.infer.sampling.items import Items
from weft.infer.sampling.placement import shared_columns
from weft.kernel import kernel
from weft.tasks.coreference.across.mentions import Mentions


@dataclass(frozen=True)
class Similarity:
    """The weights of the kinds of similarity."""

    context_weight: float = 0.3
    name_weight: float = 0.7
    equal_weight: float = 0.0
    terms: int = 30  #: the terms kept per context

    def __post_init__(self) -> None:
        weights = (self.context_weight, self.name_weight, self.equal_weight)
        if min(weights) < 0 or sum(weights) == 0 or self.terms < 1:
            raise ConfigError(
                f"weights of similarities must be 0 or more, one of them above 0, and terms at least 1; got {weights}, "
                f"{self.terms} terms"
            )


@dataclass(frozen=True)
class MentionVectors:
    """Items of mentions, and what their columns mean.

    >>> mentions = Mentions.of([("a", "Ann Lee", "painter oil"), ("b", "Anna Lee", "oil"), ("c", "Bo", "rain snow")])
    >>> vectors = MentionVectors.of(mentions)
    >>> parts = vectors.similarity([0], [1])
    >>> parts["name"] > 0.2, parts["context"] > 0.2, vectors.shared([0], [1], most=1)
    (True, True, ['oil'])
    """

    items: Items
    types: Ints  # the number of each mention's name among the different names
    names: list[str]
    letters: list[str]
    words: list[str]
    settings: Similarity

    @classmethod
    def of(cls, mentions: Mentions, settings: Similarity = Similarity()) -> MentionVectors:
        """The vectors of mentions."""
        from scipy.sparse import csr_matrix, hstack

        known: dict[str, int] = {}
        types = np.fromiter((known.setdefault(name, len(known)) for name in mentions.names), np.int64, len(mentions))
        names = list(known)
        offsets, columns, letters = letter_runs([name.lower() for name in names])
        by_name = _weighted(offsets, columns, len(letters), len(letters) or 1)
        by_name = by_name * np.float32(np.sqrt(settings.name_weight))
        context = _weighted(mentions.offsets, mentions.words, len(mentions.vocabulary), settings.terms)
        context = context * np.float32(np.sqrt(settings.context_weight))
        n = len(mentions)
        one = np.full(n, np.sqrt(settings.equal_weight), dtype=np.float32)
        equal = csr_matrix((one, types, np.arange(n + 1)), shape=(n, len(names)))
        if not settings.equal_weight:
            equal = csr_matrix((n, len(names)), dtype=np.float32)
        joined = hstack([by_name[types], equal, context], format="csr", dtype=np.float32)
        return cls(Items.from_matrix(joined), types, names, letters, list(mentions.vocabulary), settings)

    @property
    def starts(self) -> tuple[int, int]:
        """The first columns of whole names and of contexts."""
        return len(self.letters), len(self.letters) + len(self.names)

    @cached_property
    def _sets(self) -> dict[str, tuple[Ints, Ids]]:
        """The columns of letters and of contexts of every mention."""
        letters, context = self.items.columns < self.starts[0], self.items.columns >= self.starts[1]
        return {name: _only(self.items, kept) for name, kept in (("name", letters), ("context", context))}

    def keys(self, kind: str, seed: int, largest: int) -> NDArray[np.uint64]:
        """Keys by which mentions with similar names, or with similar contexts, meet."""
        order = ("name", "context") if kind == "name" else ("context", "name")
        return shared_columns([self._sets[each] for each in order], seed, largest)

    def sums(self, members: Sequence[int] | Ints) -> tuple[Ids, Floats]:
        """The sum of the vectors of some mentions: columns, and values."""
        part = self.items.take(np.asarray(members, dtype=np.int64))
        columns, at = np.unique(part.columns, return_inverse=True)
        return columns, np.asarray(np.bincount(at, part.values, len(columns)), dtype=np.float64)

    def products(self, one: Sequence[int] | Ints, other: Sequence[int] | Ints) -> tuple[Ids, Floats]:
        """The columns that two groups of mentions share, and the mean over all pairs of what each adds to g."""
        (a, x), (b, y) = self.sums(one), self.sums(other)
        columns, i, j = np.intersect1d(a, b, return_indices=True)
        return columns, x[i] * y[j] / (len(one) * len(other))

    def similarity(self, one: Sequence[int] | Ints, other: Sequence[int] | Ints) -> dict[str, float]:
        """The mean similarity of two groups of mentions, in all and by kind; the kinds are cosines."""
        return self.kinds(*self.products(one, other))

    def kinds(self, columns: Ids, products: Floats) -> dict[str, float]:
        """A similarity, in all and by kind, from what each column adds to it."""
        kind = np.searchsorted(np.array(self.starts), columns, side="right")
        parts = np.bincount(kind, products, 3)
        weights = (self.settings.name_weight, self.settings.equal_weight, self.settings.context_weight)
        name, equal, context = (
            float(part / weight) if weight else 0.0 for part, weight in zip(parts, weights, strict=True)
        )
        return {"similarity": float(parts.sum()), "name": name, "equal": equal, "context": context}

    def shared(self, one: Sequence[int] | Ints, other: Sequence[int] | Ints, most: int = 5) -> list[str]:
        """The words of both contexts that add most to the similarity of two groups."""
        return self.best_words(*self.products(one, other), most)

    def best_words(self, columns: Ids, products: Floats, most: int) -> list[str]:
        """The words whose columns add most, of equal ones the first in the alphabet."""
        of_context = columns >= self.starts[1]
        words = [self.words[column - self.starts[1]] for column in columns[of_context]]
        return [word for _, word in sorted(zip(-products[of_context].round(9), words, strict=True))[:most]]


def letter_runs(names: Sequence[str], shortest: int = 2, longest: int = 4) -> tuple[Ints, Ids, list[str]]:
    """The runs of letters of every name: offsets, columns, and what the columns are.

    >>> offsets, columns, runs = letter_runs(["bo"], longest=3)
    >>> [runs[k] for k in columns]
    ['<b', 'bo', 'o>', '<bo', 'bo>']
    """
    known: dict[str, int] = {}
    offsets, columns = [0], []
    for name in names:
        for word in name.split():
            marked = f"<{word}>"
            for size in range(shortest, longest + 1):
                columns += [known.setdefault(marked[k : k + size], len(known)) for k in range(len(marked) - size + 1)]
        offsets.append(len(columns))
    return np.array(offsets, dtype=np.int64), np.array(columns, dtype=np.int32), list(known)


def _weighted(offsets: Ints, columns: Ids, width: int, most: int):  # type: ignore[no-untyped-def]
    """Unit vectors of tf-idf, of the highest terms alone; rows without terms that tell anything are empty."""
    from scipy.sparse import csr_matrix

    n = len(offsets) - 1
    # SciPy adds up duplicates in place: the mentions keep their own words.
    counts = csr_matrix((np.ones(len(columns), dtype=np.float32), columns, offsets), shape=(n, width), copy=True)
    counts.sum_duplicates()
    documents = np.bincount(counts.indices, minlength=width)
    idf = np.log((1 + n) / (1 + documents)) + 1e-3
    counts.data *= idf[counts.indices].astype(np.float32)
    _keep_highest(counts.indptr.astype(np.int64), counts.data, most, np.zeros(counts.nnz, dtype=np.float32))
    counts.eliminate_zeros()
    lengths = np.sqrt(np.bincount(np.repeat(np.arange(n), np.diff(counts.indptr)), counts.data.astype(float) ** 2, n))
    scale = np.divide(1.0, lengths, out=np.zeros(n), where=lengths > 0)
    counts.data *= np.repeat(scale, np.diff(counts.indptr)).astype(np.float32)
    return counts


@kernel
def _keep_highest(offsets: Ints, values: NDArray[np.float32], most: int, work: NDArray[np.float32]) -> None:
    """Set all but the highest values of every row to 0; of equal ones the first stay."""
    for i in range(len(offsets) - 1):
        lo, hi = offsets[i], offsets[i + 1]
        if hi - lo <= most:
            continue
        for k in range(lo, hi):
            work[k] = values[k]
        work[lo:hi].sort()
        bound = work[hi - most]
        room = most
        for k in range(lo, hi):
            room -= values[k] > bound
        for k in range(lo, hi):
            if values[k] == bound and room > 0:
                room -= 1
            elif values[k] <= bound:
                values[k] = 0.0


def _only(items: Items, kept: NDArray[np.bool_]) -> tuple[Ints, Ids]:
    """Some columns of all items."""
    ends = np.concatenate([[0], np.cumsum(kept)])
    return ends[items.offsets], items.columns[kept]

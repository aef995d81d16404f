"""Word vectors from neighbours, suffixes and shapes; unknown words get the same kind of vector as known ones.

    f(w) = contexts(w) + suffixes(w) + shape(w) [+ identity(w)]        concatenated, each of length 1

contexts    counts of neighbours on the left and on the right, each side of length 1 (`weft.features.representations
            .counts`); or word clusters, by prefixes of their paths; or dense vectors
suffixes    all suffixes of the word in lower case, the word itself among them, that training words have
shape       its signature (`weft.features.signatures`), one of those that training words have
identity    the word in lower case, where training has it

The boundary of sentences is a word, too: it has contexts, a shape and an identity of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weft.declared import Array, Stored
from weft.errors import ConfigError
from weft.features.representations.counts import (
    BOUNDARY,
    NeighbourCounts,
    strings_of_bytes,
    strings_to_bytes,
)
from weft.features.signatures import signature
from weft.headers import Flag, Many, Record, Text
from weft.storage import Arrays

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: The parts of a vector, in their order.
PARTS = ("contexts", "suffixes", "shape", "identity")
#: Lengths of prefixes of paths that stand for a word's class (Brown clusters in Schnabel and Schütze 2014).
PREFIXES = (4, 6, 10, 20)
#: Rows of dense vectors for words that have none, and for places outside the sentence.
UNKNOWN, PADDING = "UNKNOWN", "PADDING"
HEADER = Record(
    shapes=Many(Text()),
    mark_words=Flag(),
    parts=Many(Text(PARTS)),
    contexts=Text(("none", "counts", "clusters", "embeddings")),
)
_WORDS, _PATHS, _FORMS = (Array(name, "uint8", ("*",)) for name in ("words", "paths", "forms"))


@dataclass
class DenseVectors:
    """Dense vectors of words as contexts, scaled to length 1; digits are read as 0.

    >>> dense = DenseVectors(["dog", "UNKNOWN"], np.array([[3.0, 4.0], [1.0, 0.0]]))
    >>> dense.vectors(["Dog", "cat"]).toarray().round(2).tolist()
    [[0.6, 0.8], [1.0, 0.0]]
    """

    words: list[str]
    table: NDArray[np.float32]
    _rows: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.table = np.asarray(self.table, dtype=np.float32)
        if self.table.ndim != 2 or len(self.table) != len(self.words):
            raise ConfigError(f"{len(self.words)} words and a table of shape {self.table.shape}: give one row per word")
        self._rows = {word: row for row, word in enumerate(self.words)}

    @property
    def width(self) -> int:
        return int(self.table.shape[1])

    def vectors(self, words: Sequence[str]) -> csr_matrix:
        """One row per word: that of UNKNOWN, or an empty row, for words without a vector."""
        from scipy.sparse import csr_matrix

        other = self._rows.get(UNKNOWN, -1)
        rows = np.array([self._row(word, other) for word in words], dtype=np.int64)
        found = np.where(rows[:, None] >= 0, self.table[np.maximum(rows, 0)], 0.0).astype(np.float64)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return csr_matrix(found / np.where(lengths > 0, lengths, 1.0))

    def _row(self, word: str, other: int) -> int:
        if word == BOUNDARY:
            return self._rows.get(PADDING, other)
        plain = "".join("0" if letter.isdigit() else letter for letter in word)
        return next((self._rows[each] for each in (plain, plain.lower()) if each in self._rows), other)


@dataclass
class ClassVectors:
    """Word clusters as contexts: one entry for every prefix of a word's path, together of length 1.

    >>> classes = ClassVectors({"dog": "00110", "cat": "00111"})
    >>> classes.vectors(["dog", "cat"]).toarray().round(2).tolist()
    [[0.71, 0.71, 0.0], [0.71, 0.0, 0.71]]
    """

    paths: Mapping[str, str]
    _columns: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        found = {prefix for path in self.paths.values() for prefix in _prefixes(path)}
        self._columns = {prefix: column for column, prefix in enumerate(sorted(found))}

    @property
    def width(self) -> int:
        return len(self._columns)

    def vectors(self, words: Sequence[str]) -> csr_matrix:
        """One row per word; the rows of words without a cluster are empty."""
        paths = [self.paths.get(word) or self.paths.get(word.lower(), "") for word in words]
        return _binary([[self._columns[prefix] for prefix in _prefixes(path)] for path in paths], self.width)


class WordVectors:
    """Vectors of words, with the suffixes, shapes and words of a training text as their columns.

    >>> counts = NeighbourCounts()
    >>> counts.add([["the", "dog", "runs"]])
    >>> counts.freeze(2)
    >>> vectors = WordVectors.from_training(counts, [["the", "dog", "runs"]])
    >>> {name: len(columns) for name, columns in vectors.columns.items()}
    {'contexts': 6, 'suffixes': 10, 'shape': 3, 'identity': 4}
    >>> rows = vectors.rows(["dog", "hog"], [False, False])
    >>> rows.shape, rows[1, list(vectors.columns["suffixes"])].nnz  # -og and -g
    ((2, 23), 2)
    """

    def __init__(
        self,
        contexts: NeighbourCounts | ClassVectors | DenseVectors | None,
        forms: Sequence[str],
        shapes: Sequence[str],
        mark_words: bool = False,
        parts: Collection[str] = PARTS,
    ) -> None:
        self.contexts, self.forms, self.shapes, self.mark_words = contexts, list(forms), list(shapes), mark_words
        self.parts = tuple(name for name in PARTS if name in parts)
        self._known = frozenset(form for form in forms if form == form.lower())
        words = sorted({form.lower() for form in forms})
        self._longest = max(map(len, words), default=0) + 1  # no suffix is longer, with the mark of a word
        suffixes = sorted({suffix for word in words for suffix in self._suffixes(word)})
        self._suffix = {suffix: column for column, suffix in enumerate(suffixes)}
        self._shape = {shape: column for column, shape in enumerate([*self.shapes, BOUNDARY])}
        self._word = {word: column for column, word in enumerate([*words, BOUNDARY])}
        widths = (self._context_width(), len(self._suffix), len(self._shape), len(self._word))
        sizes = [width if name in self.parts else 0 for name, width in zip(PARTS, widths, strict=True)]
        bounds = pairwise(accumulate(sizes, initial=0))
        self.columns = {name: range(first, end) for name, (first, end) in zip(PARTS, bounds, strict=True)}

    @classmethod
    def from_training(
        cls,
        contexts: NeighbourCounts | ClassVectors | DenseVectors | None,
        sentences: Sequence[Sequence[str]],
        mark_words: bool = False,
        parts: Collection[str] = PARTS,
    ) -> WordVectors:
        """Take suffixes, shapes and words from labelled sentences; `parts` not named have no columns.

        With `mark_words`, suffixes are those of `_word`: the whole word is another suffix than the end of a longer one.
        """
        forms = sorted({form for words in sentences for form in words})
        known = frozenset(form for form in forms if form == form.lower())
        shapes = {signature(form, False, known) for words in sentences for form in words[1:]}
        shapes |= {signature(words[0], True, known) for words in sentences if words}
        return cls(contexts, forms, sorted(shapes), mark_words, parts)

    @property
    def width(self) -> int:
        """How many columns a row has."""
        return self.columns[PARTS[-1]].stop

    def rows(self, forms: Sequence[str], initial: Sequence[bool]) -> csr_matrix:
        """One row per word; `initial` marks the words that open a sentence."""
        from scipy.sparse import csr_matrix, hstack

        lower = [form if form == BOUNDARY else form.lower() for form in forms]
        blocks: list[Any] = []
        if "contexts" in self.parts and self.contexts is not None:
            blocks.append(self.contexts.vectors(forms))
        if "suffixes" in self.parts:
            known = [[column for s in self._suffixes(word) if (column := self._suffix.get(s)) is not None]
                     if word != BOUNDARY else [] for word in lower]  # fmt: skip
            blocks.append(_binary(known, len(self._suffix)))
        if "shape" in self.parts:
            shapes = [form if form == BOUNDARY else signature(form, opens, self._known)
                      for form, opens in zip(forms, initial, strict=True)]  # fmt: skip
            blocks.append(_one_hot(shapes, self._shape))
        if "identity" in self.parts:
            blocks.append(_one_hot(lower, self._word))
        return csr_matrix(hstack(blocks, format="csr")) if blocks else csr_matrix((len(forms), 0))

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps: a header, and arrays."""
        header: dict[str, Any] = {
            "shapes": self.shapes, "mark_words": self.mark_words, "parts": list(self.parts), "contexts": "none"
        }  # fmt: skip
        arrays: Arrays = {"forms": strings_to_bytes(self.forms)}
        if isinstance(self.contexts, NeighbourCounts):
            header |= {"contexts": "counts", "lower": self.contexts.lower}
            arrays |= {f"counts/{name}": array for name, array in self.contexts.arrays().items()}
        elif isinstance(self.contexts, ClassVectors):
            header["contexts"] = "clusters"
            words = sorted(self.contexts.paths)
            arrays |= {"clusters/words": strings_to_bytes(words),
                       "clusters/paths": strings_to_bytes([self.contexts.paths[word] for word in words])}  # fmt: skip
        elif isinstance(self.contexts, DenseVectors):
            header["contexts"] = "embeddings"
            arrays |= {"dense/words": strings_to_bytes(self.contexts.words), "dense/table": self.contexts.table}
        return header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Arrays) -> WordVectors:
        """The vectors that `state` described."""
        HEADER.check(header, "vectors")
        stored = Stored.of(arrays)
        contexts: NeighbourCounts | ClassVectors | DenseVectors | None = None
        if header["contexts"] == "counts":
            Record(lower=Flag()).check(header, "vectors")
            contexts = NeighbourCounts.from_arrays(stored.under("counts/"), header["lower"])
        elif header["contexts"] == "clusters":
            words, paths = map(strings_of_bytes, stored.under("clusters/").take(_WORDS, _PATHS).values())
            contexts = ClassVectors(dict(zip(words, paths, strict=True)))
        elif header["contexts"] == "embeddings":
            dense = stored.under("dense/").take(_WORDS, Array("table", "float32", ("words", "width")))
            contexts = DenseVectors(strings_of_bytes(dense["words"]), dense["table"])
        forms = strings_of_bytes(stored.take(_FORMS)["forms"])
        return cls(contexts, forms, header["shapes"], header["mark_words"], header["parts"])

    def _context_width(self) -> int:
        if self.contexts is None:
            return 0
        if isinstance(self.contexts, NeighbourCounts):
            if self.contexts.indicators is None:
                raise ConfigError("choose the indicators of the counts first: call freeze(n)")
            return 2 * (len(self.contexts.indicators) + 1)
        return self.contexts.width

    def _suffixes(self, word: str) -> list[str]:
        word = f"_{word}" if self.mark_words else word
        return [word[start:] for start in range(max(0, len(word) - self._longest), len(word))]


def _prefixes(path: str) -> list[str]:
    return sorted({path[:length] for length in PREFIXES if path})


def _binary(columns: Sequence[Sequence[int]], width: int) -> csr_matrix:
    """Rows with equal entries in some columns, scaled to length 1."""
    from scipy.sparse import csr_matrix

    sizes = np.fromiter(map(len, columns), dtype=np.int64, count=len(columns))
    indices = np.fromiter((column for row in columns for column in row), dtype=np.int64, count=int(sizes.sum()))
    values = np.repeat(1.0 / np.sqrt(np.maximum(sizes, 1)), sizes)
    found = csr_matrix((values, indices, np.concatenate([[0], np.cumsum(sizes)])), shape=(len(columns), width))
    found.sort_indices()
    return found


def _one_hot(values: Sequence[str], columns: Mapping[str, int]) -> csr_matrix:
    return _binary([[columns[value]] if value in columns else [] for value in values], len(columns))

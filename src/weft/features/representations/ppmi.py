"""Word vectors from raw text: positive pointwise mutual information of neighbours, reduced by a singular value
decomposition.

    PPMI(w, c) = max(0, ln  n(w, c) n(., .) / (n(w, .) n(., c)^a)),   a = 3/4 smooths rare contexts
    vectors    = U_k D_k^(1/2),  each scaled to length 1

A word counts as a neighbour within `window` words to either side, in the same sentence. Words that are rarer than
`least` share one vector, that of unknown words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from weft.arrays import Floats, Ids, Ints
from weft.errors import ConfigError, DataError
from weft.features.representations.correspondence import truncated_svd

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: The name of the vector of unknown words, always the first.
UNKNOWN = "<unknown>"
_SMOOTHING = 0.75


@dataclass
class WordTable:
    """Words and their vectors, one row each; row 0 is that of unknown words.

    >>> table = WordTable.of(["dog", "cat"], np.eye(2))
    >>> table.rows(["Dog", "owl"]).tolist(), table.vectors[0].tolist()
    ([1, 0], [0.5, 0.5])
    """

    words: list[str]
    vectors: Floats
    _row: dict[str, int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.words[:1] != [UNKNOWN] or self.vectors.shape[:1] != (len(self.words),):
            raise DataError("a table of words starts with the unknown word and has a vector for each")
        self._row = {word: number for number, word in enumerate(self.words)}

    @classmethod
    def of(cls, words: Sequence[str], vectors: Floats) -> WordTable:
        """Words with vectors of their own; the mean of the vectors stands for unknown words unless one has its name."""
        table = np.asarray(vectors, dtype=np.float64)
        if UNKNOWN in words:
            place = list(words).index(UNKNOWN)
            order = [place, *(k for k in range(len(words)) if k != place)]
            return cls([words[k] for k in order], table[order])
        return cls([UNKNOWN, *words], np.concatenate([table.mean(axis=0, keepdims=True), table]))

    def rows(self, words: Iterable[str]) -> Ids:
        """The rows of words, as they are written or in lower case."""
        row = self._row
        return np.array([row.get(word, 0) or row.get(word.lower(), 0) for word in words], dtype=np.int32)

    def unknown(self, words: Iterable[str]) -> float:
        """The share of words without a vector of their own."""
        rows = self.rows(words)
        return float((rows == 0).mean()) if len(rows) else 0.0


def ppmi_vectors(
    sentences: Iterable[Sequence[str]], dimensions: int = 50, window: int = 3, least: int = 2, seed: int = 0
) -> WordTable:
    """Vectors of the words of sentences, in lower case.

    >>> table = ppmi_vectors([["a", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "dog", "barks"]] * 5, 2)
    >>> table.words[0], table.vectors.shape
    ('<unknown>', (7, 2))
    """
    from scipy.sparse import csr_matrix

    if dimensions < 1 or window < 1:
        raise ConfigError(f"dimensions and window must be at least 1, got {dimensions} and {window}")
    lowered = [[word.lower() for word in sentence] for sentence in sentences]
    counts = Counter(word for sentence in lowered for word in sentence)
    words = [UNKNOWN, *sorted(word for word, count in counts.items() if count >= least)]
    if len(words) < 3:
        raise DataError(f"there are too few words that occur {least} times or more to make vectors of")
    row = {word: number for number, word in enumerate(words)}
    ids = np.array([row.get(word, 0) for sentence in lowered for word in sentence], dtype=np.int64)
    of = np.repeat(np.arange(len(lowered)), [len(sentence) for sentence in lowered])
    pairs = _pairs(ids, of, window, len(words))
    codes, numbers = np.unique(pairs, return_counts=True)
    table = csr_matrix((numbers.astype(np.float64), (codes // len(words), codes % len(words))), (len(words),) * 2)
    return WordTable(words, _reduced(_positive_information(table), dimensions, seed))


def _pairs(ids: Ints, of: Ints, window: int, size: int) -> Ints:
    """Pairs of a word and a neighbour, coded as one number, in both directions."""
    found = []
    for distance in range(1, window + 1):
        left, right = ids[:-distance], ids[distance:]
        same = of[:-distance] == of[distance:]
        found += [left[same] * size + right[same], right[same] * size + left[same]]
    return np.concatenate(found)


def _positive_information(counts: csr_matrix) -> csr_matrix:
    rows = np.asarray(counts.sum(axis=1)).ravel()
    columns = np.asarray(counts.sum(axis=0)).ravel() ** _SMOOTHING
    columns /= columns.sum()
    found = counts.tocoo()
    found.data = np.maximum(np.log(found.data / (rows[found.row] * columns[found.col])), 0.0)
    return found.tocsr()


def _reduced(table: csr_matrix, dimensions: int, seed: int) -> Floats:
    left, sizes = truncated_svd(table, dimensions, seed)
    vectors = np.pad(left * np.sqrt(sizes), ((0, 0), (0, dimensions - len(sizes))))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Floats = vectors / np.where(lengths > 0, lengths, 1.0)
    return found

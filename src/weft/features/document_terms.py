"""Documents as sparse rows of their words and word pairs.

    x_j = 1 if term j occurs in the document (or how often it does),   scaled so that ||x|| = 1

A term is a run of one to `longest` words, lower-cased, punctuation left out, numbers as `<num>`; its 64-bit key
joins the hashes of its words. Only terms of at least so many documents get a column.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from weft.arrays import Keys
from weft.errors import ConfigError, DataError
from weft.features.index import FeatureIndex
from weft.hashing import hash_strings, join
from weft.kernel import kernel
from weft.text.words import word_spans

NUMBER = "<num>"
_NUMERAL = re.compile(r"\d[\d.,:/-]*(?:st|nd|rd|th|s)?")


def words_of(text: str) -> list[str]:
    """The words of a text as terms see them.

    >>> words_of("Don't waste $29.99 - AWFUL!")
    ["don't", 'waste', '<num>', 'awful']
    """
    lower = text.lower().replace("’", "'")
    words = (lower[start:end] for start, end in word_spans(lower))
    return [NUMBER if _NUMERAL.fullmatch(word) else word for word in words if word[0].isalnum()]


class Terms:
    """The terms of a collection of documents, and documents as rows of them.

    >>> terms = Terms.of(["a dull plot", "a dull film", "a superb film"], least=2)
    >>> terms.names
    ('a', 'dull', 'film', 'a dull')
    >>> terms.rows(["dull, dull film", "superb"]).toarray().round(2)
    array([[0.  , 0.71, 0.71, 0.  ],
           [0.  , 0.  , 0.  , 0.  ]])
    """

    def __init__(self, names: Iterable[str], longest: int = 2) -> None:
        self.names = tuple(names)
        self.longest = longest
        self._index = FeatureIndex()
        for length in range(1, longest + 1):
            # Names stand in the order of their lengths, so that keys are added in the order of columns.
            parts = [name.split(" ") for name in self.names if name.count(" ") == length - 1]
            keys = np.zeros(len(parts), dtype=np.uint64)
            for place in range(length):
                keys = _joined(keys, hash_strings([words[place] for words in parts]))
            self._index.add(keys)
        if len(self._index) != len(self.names):
            raise DataError(f"the names of terms must differ, be in order of length and have at most {longest} words")

    @classmethod
    def of(cls, texts: Iterable[str], least: int = 3, longest: int = 2) -> Terms:
        """The terms that occur in at least `least` of these documents."""
        if least < 1 or longest < 1:
            raise ConfigError(f"terms need least and longest of at least 1, got {least} and {longest}")
        words, bounds, keys = _words(texts)
        names: list[str] = []
        for length, (grown, document, place) in enumerate(_runs(keys, bounds, longest), start=1):
            # Pairs of key and document, each once, give the number of documents a key.
            order = np.lexsort((document, grown))
            sorted_keys, sorted_docs = grown[order], document[order]
            fresh = np.ones(len(order), dtype=bool)
            fresh[1:] = (sorted_keys[1:] != sorted_keys[:-1]) | (sorted_docs[1:] != sorted_docs[:-1])
            _, first, counts = np.unique(sorted_keys[fresh], return_index=True, return_counts=True)
            wanted = np.sort(place[order[fresh]][first[counts >= least]])
            names += [" ".join(words[at : at + length]) for at in wanted.tolist()]
        return cls(names, longest)

    def __len__(self) -> int:
        return len(self.names)

    def rows(self, texts: Iterable[str], counts: bool = False, unit: bool = True) -> csr_matrix:
        """Documents as rows: which terms they have, or how often each (`counts`), of length one by default."""
        _, bounds, keys = _words(texts)
        documents, columns = [], []
        for grown, document, _ in _runs(keys, bounds, self.longest):
            column = self._index.rows(grown)
            documents.append(document[column >= 0])
            columns.append(column[column >= 0])
        document, column = np.concatenate(documents), np.concatenate(columns)
        matrix = csr_matrix((np.ones(len(column)), (document, column)), shape=(len(bounds) - 1, len(self.names)))
        matrix.sum_duplicates()
        if not counts:
            matrix.data[:] = 1.0
        return unit_rows(matrix) if unit else matrix


def unit_rows(matrix: csr_matrix) -> csr_matrix:
    """Every row divided by its Euclidean length; empty rows stay empty.

    >>> unit_rows(csr_matrix([[3.0, 4.0], [0.0, 0.0]])).toarray()
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    result = csr_matrix(matrix, dtype=np.float64, copy=True)
    lengths = np.sqrt(np.asarray(result.multiply(result).sum(axis=1)).ravel())
    result.data /= np.repeat(np.where(lengths > 0, lengths, 1.0), np.diff(result.indptr))
    return result


def document_counts(matrix: csr_matrix) -> NDArray[np.int64]:
    """In how many rows every column occurs.

    >>> document_counts(csr_matrix([[2, 0], [1, 1]])).tolist()
    [2, 1]
    """
    return np.bincount(matrix.indices[matrix.data != 0], minlength=matrix.shape[1])


def _words(texts: Iterable[str]) -> tuple[list[str], NDArray[np.int64], Keys]:
    """All words of all texts, where each text begins, and the key of every word."""
    lists = [words_of(text) for text in texts]
    words = list(chain.from_iterable(lists))
    bounds = np.concatenate([[0], np.cumsum([len(each) for each in lists])]).astype(np.int64)
    number: dict[str, int] = {}
    ids = np.fromiter((number.setdefault(word, len(number)) for word in words), dtype=np.int64, count=len(words))
    return words, bounds, hash_strings(list(number))[ids]


def _runs(
    keys: Keys, bounds: NDArray[np.int64], longest: int
) -> Iterable[tuple[Keys, NDArray[np.int64], NDArray[np.int64]]]:
    """Runs of one word, of two, ...: their keys, documents and first words; no run leaves its document."""
    document = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    place = np.arange(len(keys))
    grown = _joined(np.zeros(len(keys), dtype=np.uint64), keys)
    for length in range(1, longest + 1):
        if length > 1:
            inside = place + length - 1 < bounds[document + 1]
            place, document, grown = place[inside], document[inside], grown[inside]
            grown = _joined(grown, keys[place + length - 1])
        yield grown, document, place


def _joined(keys: Keys, further: Keys) -> Keys:
    out = np.empty(len(keys), dtype=np.uint64)
    _join_all(keys, further, out)
    return out


@kernel
def _join_all(keys: Keys, further: Keys, out: Keys) -> None:
    for i in range(len(out)):
        out[i] = join(keys[i], further[i])

"""The words of documents with their dependency trees as arrays, and which words may fill a role of a predicate.

Strings are 64-bit keys (`weft.hashing`); words are numbered over all documents of a batch. `links` has the words that
templates look at:

    governor, left and right sibling, leftmost and rightmost dependent, word before and after          (-1: none)

Candidates are those of Xue and Palmer (2004), for dependencies: the dependents of a predicate, then at every word on
the way to the root the word itself and its dependents. A predicate may be its own argument if that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from weft.arrays import Bools, Ints, Keys
from weft.hashing import hash_strings
from weft.kernel import kernel
from weft.text.doc import Doc

#: The columns that become keys, in the order of the rows of `TreeWords.keys`.
TREE_FIELDS = ("form", "lemma", "upos", "xpos", "deprel")
#: The rows of `TreeWords.links`.
LINKS = ("governor", "left", "right", "first", "last", "before", "after")
_GOVERNOR, _LEFT, _RIGHT, _FIRST, _LAST, _BEFORE, _AFTER = range(len(LINKS))


@dataclass(frozen=True)
class TreeWords:
    """Words of a batch: `keys[field, word]`, features as a ragged array, `links[which, word]`, and sentences.

    >>> doc = Doc.from_words([["the", "dogs", "bark"]], head=[[2, 3, 0]], feats=[["", "Number=Plur|Case=Nom", ""]])
    >>> words = TreeWords.of([doc])
    >>> words.links[LINKS.index("governor")].tolist(), np.diff(words.feature_offsets).tolist()
    ([1, 2, -1], [0, 2, 0])
    """

    keys: Keys
    feature_offsets: Ints
    features: Keys
    links: Ints
    sentences: Ints  # offsets of sentences
    sentence_of: Ints
    firsts: list[int]  # the first word of every document

    @classmethod
    def of(cls, docs: Sequence[Doc]) -> TreeWords:
        """From documents; words without a head are roots."""
        counts = [doc.n_words for doc in docs]
        firsts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        total = int(firsts[-1])
        keys = np.zeros((len(TREE_FIELDS), total), dtype=np.uint64)
        for row, field in enumerate(TREE_FIELDS):
            keys[row] = _column(docs, field, field in ("form", "lemma"))
        if docs and not any(doc.has("lemma") for doc in docs):
            keys[1] = keys[0]
        offsets, features = _features(docs, total)
        ends = [doc.sentence_offsets[1:].astype(np.int64) + first for doc, first in zip(docs, firsts, strict=False)]
        sentences = np.concatenate([np.zeros(1, dtype=np.int64), *ends])
        heads = [
            doc.head.astype(np.int64) if doc.head is not None else np.zeros(doc.n_words, dtype=np.int64) for doc in docs
        ]
        head = np.concatenate([np.zeros(0, dtype=np.int64), *heads])
        links = np.full((len(LINKS), total), -1, dtype=np.int64)
        sentence_of = np.repeat(np.arange(len(sentences) - 1), np.diff(sentences))
        _link(head, sentences, links)
        return cls(keys, offsets, features, links, sentences, sentence_of, firsts.tolist())

    def __len__(self) -> int:
        return self.keys.shape[1]


def _column(docs: Sequence[Doc], name: str, lower: bool) -> Keys:
    """The keys of a column over all documents; every distinct string of a table is hashed once."""
    parts: list[Keys] = []
    for doc in docs:
        if name not in doc.columns:
            parts.append(np.zeros(doc.n_words, dtype=np.uint64))
            continue
        ids, where = np.unique(doc.columns[name], return_inverse=True)
        strings = doc.strings.strings(ids)
        parts.append(hash_strings([string.lower() for string in strings] if lower else strings)[where.ravel()])
    return np.concatenate([np.zeros(0, dtype=np.uint64), *parts])


def _features(docs: Sequence[Doc], total: int) -> tuple[Ints, Keys]:
    """Morphological features, split at `|`."""
    sizes = np.zeros(total, dtype=np.int64)
    parts: list[Keys] = []
    first = 0
    for doc in docs:
        if doc.has("feats"):
            ids, where = np.unique(doc.columns["feats"], return_inverse=True)
            split = [string.split("|") if string else [] for string in doc.strings.strings(ids)]
            lengths = np.array([len(each) for each in split], dtype=np.int64)
            flat = hash_strings(list(chain.from_iterable(split)))
            starts = np.concatenate([[0], np.cumsum(lengths)])
            own = lengths[where.ravel()]
            sizes[first : first + doc.n_words] = own
            shift = np.repeat(starts[where.ravel()] - np.concatenate([[0], np.cumsum(own)])[:-1], own)
            parts.append(flat[shift + np.arange(int(own.sum()))])
        first += doc.n_words
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return offsets, np.concatenate([np.zeros(0, dtype=np.uint64), *parts])


@kernel
def _link(head: Ints, sentences: Ints, links: Ints) -> None:
    """Fill the links of all words; `first` and `last` are dependents."""
    for s in range(len(sentences) - 1):
        begin, end = sentences[s], sentences[s + 1]
        for w in range(begin, end):
            if w > begin:
                links[_BEFORE, w] = w - 1
            if w + 1 < end:
                links[_AFTER, w] = w + 1
            if head[w] > 0:
                g = begin + head[w] - 1
                links[_GOVERNOR, w] = g
                last = links[_LAST, g]
                if last < 0:
                    links[_FIRST, g] = w
                else:
                    links[_LEFT, w] = last
                    links[_RIGHT, last] = w
                links[_LAST, g] = w


def candidates(words: TreeWords, predicates: Ints, own: Bools) -> tuple[Ints, Ints]:
    """Candidates of predicates: offsets by predicate, and words from left to right; `own` lets predicates be theirs.

    >>> doc = Doc.from_words([["She", "wants", "to", "give", "him", "old", "books"]], head=[[2, 0, 4, 2, 4, 7, 4]])
    >>> candidates(TreeWords.of([doc]), np.array([3]), np.array([False]))[1].tolist()
    [0, 1, 2, 4, 6]
    """
    sizes = np.diff(words.sentences)[words.sentence_of[predicates]] if len(predicates) else np.zeros(0, dtype=np.int64)
    out = np.empty(int(sizes.sum()), dtype=np.int64)
    offsets = np.zeros(len(predicates) + 1, dtype=np.int64)
    marks = np.zeros(len(words), dtype=np.int64)
    total = _candidates(words.links, words.sentences, words.sentence_of, predicates, own, marks, offsets, out)
    return offsets, out[:total]


@kernel
def _candidates(
    links: Ints, sentences: Ints, sentence_of: Ints, predicates: Ints, own: NDArray[np.bool_], marks: Ints,
    offsets: Ints, out: Ints,
) -> int:  # fmt: skip
    at = 0
    for i in range(len(predicates)):
        stamp = i + 1
        w = predicates[i]
        while w >= 0 and marks[w] != stamp:
            marks[w] = stamp
            w = links[_GOVERNOR, w]
        s = sentence_of[predicates[i]]
        for w in range(sentences[s], sentences[s + 1]):
            g = links[_GOVERNOR, w]
            if w == predicates[i]:
                if not own[i]:
                    continue
            elif marks[w] != stamp and (g < 0 or marks[g] != stamp):
                continue
            out[at] = w
            at += 1
        offsets[i + 1] = at
    return at

"""Columns with noun-phrase features for parsers: positions of nouns in their run, chunks, word frequencies.

A *run* is a sequence of nouns; a *chunk* is the longest sequence of determiners, adjectives, numbers, possessives and
nouns that ends in a noun. Both are derived from tags, since a new domain has no trees to train a chunker on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from weft.text.doc import Doc

#: Universal and Penn tags of nouns, and of the words before them in a phrase.
NOUNS = frozenset(("NOUN", "PROPN", "NN", "NNS", "NNP", "NNPS"))
BEFORE = frozenset(("DET", "ADJ", "NUM", "DT", "PDT", "JJ", "JJR", "JJS", "CD", "PRP$", "POS", "$"))
#: Columns by the letters that templates use for them.
FIELDS = {"n": "nounplace", "k": "nounchunk", "q": "wordcount"}


def count_words(docs: Iterable[Doc]) -> Counter[str]:
    """Count lower-cased forms.

    >>> count_words([Doc.from_words([["The", "the", "cat"]])])
    Counter({'the': 2, 'cat': 1})
    """
    return Counter(form.lower() for doc in docs for form in doc.column("form"))


def places(tags: Sequence[str]) -> list[str]:
    """The position of every noun in its run: `only`, `first`, `inner` or `last`; empty for other words.

    >>> places(["DT", "NN", "NN", "VBZ", "NN"])
    ['', 'first', 'last', '', 'only']
    """
    nouns = [False, *(tag in NOUNS for tag in tags), False]
    names = {(False, False): "only", (False, True): "first", (True, True): "inner", (True, False): "last"}
    return [names[nouns[i - 1], nouns[i + 1]] if nouns[i] else "" for i in range(1, len(tags) + 1)]


def chunks(tags: Sequence[str]) -> list[int]:
    """The chunk number of every word, -1 outside chunks.

    >>> chunks(["DT", "JJ", "NN", "VBZ", "DT", "NN", "NN"])
    [0, 0, 0, -1, 1, 1, 1]
    """
    numbers = [-1] * len(tags)
    number, begin = 0, 0
    for i, tag in enumerate((*tags, "")):
        if tag in NOUNS or tag in BEFORE:
            continue
        last = max((j for j in range(begin, i) if tags[j] in NOUNS), default=-1)
        if last >= 0:
            numbers[begin : last + 1] = [number] * (last + 1 - begin)
            number += 1
        begin = i + 1
    return numbers


def chunk_numbers(docs: Sequence[Doc], column: str) -> NDArray[np.int64]:
    """The chunk number of every word, unique across documents; -1 outside chunks.

    >>> chunk_numbers([Doc.from_words([["the", "cat"], ["cats"]], upos=[["DET", "NOUN"], ["NOUN"]])], "upos").tolist()
    [0, 0, 2]
    """
    numbers: list[int] = []
    for doc in docs:
        tags = doc.column(column)
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            base = len(numbers)
            numbers += [number + base if number >= 0 else -1 for number in chunks(tags[first:end])]
    return np.array(numbers, dtype=np.int64)


def with_columns(doc: Doc, column: str, counts: Counter[str]) -> Doc:
    """A copy of a document with the columns of `FIELDS`.

    >>> doc = Doc.from_words([["the", "cat"]], upos=[["DET", "NOUN"]])
    >>> new = with_columns(doc, "upos", Counter(the=9, cat=1))
    >>> [new.column(name) for name in FIELDS.values()]
    [['', 'only'], ['B', 'E'], ['4', '1']]
    """
    new = doc.subset(range(doc.n_sentences))
    tags, forms = new.column(column), new.column("form")
    place: list[str] = []
    chunk: list[str] = []
    for first, end in pairwise(new.sentence_offsets.tolist()):
        place += places(tags[first:end])
        own = [-1, *chunks(tags[first:end]), -1]
        for before, here, after in zip(own, own[1:-1], own[2:], strict=False):
            names = "I" if before == here == after else "B" if here == after else "E" if here == before else "S"
            chunk.append(names if here >= 0 else "O")
    # Frequencies in bins of powers of two.
    counted = [str(counts[form.lower()].bit_length()) for form in forms]
    for name, values in zip(FIELDS.values(), (place, chunk, counted), strict=True):
        new.set_column(name, values)
    return new

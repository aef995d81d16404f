"""Where words are in the text of a document: in their token, or in a part of it if the token is a contraction.

token  Kenya's     0-7
words  Kenya       0-5     's  5-7        the forms make up the token: each word has its own part
token  zum         0-3
words  zu          0-3     dem 0-3        they do not: each word stands for the whole token
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from weft.arrays import Ids

if TYPE_CHECKING:
    from weft.text.doc import Doc


def word_offsets(doc: Doc) -> tuple[Ids, Ids]:
    """The first character of every word and one past its last.

    >>> from weft.text.doc import Doc
    >>> doc = Doc("Kenya's president")
    >>> doc.set_offsets([0, 8], [7, 17])
    >>> doc.word_token = np.array([0, 0, 1], dtype=np.int32)
    >>> doc.set_column("form", ["Kenya", "'s", "president"])
    >>> [array.tolist() for array in word_offsets(doc)]
    [[0, 5, 8], [5, 7, 17]]
    """
    starts, ends = doc.token_start[doc.word_token], doc.token_end[doc.word_token]
    for first, end in contractions(doc.word_token):
        cuts = _cuts(doc, first, end)
        if cuts is not None:
            starts[first:end], ends[first:end] = cuts[:-1], cuts[1:]
    return starts, ends


def word_place(doc: Doc, word: int) -> tuple[int, int]:
    """The offsets of one word."""
    token = doc.word_token[word]
    first = end = word
    while first and doc.word_token[first - 1] == token:
        first -= 1
    while end + 1 < doc.n_words and doc.word_token[end + 1] == token:
        end += 1
    cuts = _cuts(doc, first, end + 1) if first < end else None
    if cuts is None:
        return int(doc.token_start[token]), int(doc.token_end[token])
    return cuts[word - first], cuts[word - first + 1]


def contractions(word_token: Ids) -> list[tuple[int, int]]:
    """The ranges of words that share a token.

    >>> contractions(np.array([0, 0, 1, 2, 2, 2], dtype=np.int32))
    [(0, 2), (3, 6)]
    """
    alike = np.concatenate([[False], word_token[1:] == word_token[:-1], [False]])
    edges = np.flatnonzero(alike[1:] != alike[:-1]).tolist()
    return [(first, end + 1) for first, end in zip(edges[::2], edges[1::2], strict=True)]


def _cuts(doc: Doc, first: int, end: int) -> list[int] | None:
    """The edges of the words of one token in the text, or None if their forms do not make up the token."""
    token = doc.word_token[first]
    start, stop = int(doc.token_start[token]), int(doc.token_end[token])
    forms = doc.strings.strings(doc.columns["form"][first:end])
    if sum(map(len, forms)) != stop - start or "".join(forms).lower() != doc.text[start:stop].lower():
        return None
    return [start + sum(map(len, forms[:k])) for k in range(len(forms) + 1)]

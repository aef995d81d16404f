"""Invariants of every document, whatever text it comes from.

tokens     0 <= start < end <= start of the next, and end <= length of the text
words      each belongs to a token, every token has at least one, in order
forms      the form of a word is its token's text, unless the token stands for several words
sentences  every word is in exactly one, none is empty
heads      -1 (not set) or a word of the same sentence or 0, and no cycles
spans      pieces are not empty, rise, and lie within the words or characters of the document
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from weft.errors import WeftError
from weft.text.doc import Doc


def check_doc(doc: Doc) -> None:
    """Raise `WeftError` for the first invariant that a document violates.

    >>> doc = Doc.from_words([["Dogs", "bark"]], head=[[2, 0]])
    >>> check_doc(doc)
    >>> doc.head[1] = 1
    >>> check_doc(doc)
    Traceback (most recent call last):
    ...
    weft.errors.WeftError: sentence 1: the heads [2, 1] form a cycle
    """
    _check_tokens(doc)
    _check_words(doc)
    _check_sentences(doc)
    _check_columns(doc)
    if doc.head is not None and doc.n_words:
        _check_heads(doc)
    _check_spans(doc)


def _check_tokens(doc: Doc) -> None:
    starts, ends = doc.token_start, doc.token_end
    if len(starts) != len(ends):
        raise WeftError(f"{len(starts)} tokens begin and {len(ends)} end")
    if not len(starts):
        return
    wrong = np.flatnonzero((starts >= ends) | (np.append(starts[1:], len(doc.text)) < ends) | (starts < 0))
    if len(wrong):
        i = int(wrong[0])
        raise WeftError(f"token {i} has the offsets {int(starts[i])}-{int(ends[i])}: empty, or out of order")


def _check_words(doc: Doc) -> None:
    steps = np.diff(doc.word_token, prepend=-1)
    if ((steps != 0) & (steps != 1)).any() or (doc.n_words and doc.word_token[0] != 0):
        raise WeftError("words do not belong to tokens in order")
    if len(doc.token_start) != (int(doc.word_token[-1]) + 1 if doc.n_words else 0):
        raise WeftError(f"{len(doc.token_start)} tokens, but the last ones have no words")
    several = {row.first: row for row in doc.multiwords}
    counts = np.bincount(doc.word_token) if doc.n_words else np.zeros(0, dtype=np.int64)
    starts, ends = doc.token_start.tolist(), doc.token_end.tolist()
    word = 0
    forms = doc.column("form")
    for token, count in enumerate(counts.tolist()):
        text = doc.text[starts[token] : ends[token]]
        if count == 1 and word not in several and forms[word] != text:
            raise WeftError(f"word {word} has the form {forms[word]!r}, its token the text {text!r}")
        if word in several and (several[word].fields[0] != text or several[word].end != word + count):
            raise WeftError(f"the multiword token {several[word].fields[0]!r} stands at {text!r} of {count} words")
        word += count


def _check_sentences(doc: Doc) -> None:
    offsets = doc.sentence_offsets.tolist()
    if doc.n_words and len(offsets) == 1:
        return
    if offsets[0] != 0 or offsets[-1] != doc.n_words or any(a >= b for a, b in pairwise(offsets)):
        raise WeftError(f"sentences do not partition the {doc.n_words} words: {offsets[:5]} ... {offsets[-3:]}")
    if len(doc.comments) != doc.n_sentences:
        raise WeftError(f"{len(doc.comments)} lists of comments for {doc.n_sentences} sentences")


def _check_columns(doc: Doc) -> None:
    for name, ids in doc.columns.items():
        if len(ids) != doc.n_words:
            raise WeftError(f"column {name!r} has {len(ids)} values for {doc.n_words} words")
        if len(ids) and not 0 <= int(ids.min()) <= int(ids.max()) < len(doc.strings):
            raise WeftError(f"column {name!r} names strings that its table does not have")


def _check_heads(doc: Doc) -> None:
    assert doc.head is not None
    for number, (first, end) in enumerate(pairwise(doc.sentence_offsets.tolist()), start=1):
        heads = doc.head[first:end]
        if int(heads.min()) < -1 or int(heads.max()) > end - first:
            raise WeftError(f"sentence {number}: the heads {heads.tolist()[:20]} leave its {end - first} words")
        # Following heads as often as there are words leads from every word to the root, unless there is a cycle.
        reached = np.concatenate([[0], np.maximum(heads, 0)]).astype(np.int64)
        for _ in range(max(int(end - first).bit_length(), 1)):
            reached = reached[reached]
        if reached.any():
            raise WeftError(f"sentence {number}: the heads {heads.tolist()[:20]} form a cycle")


def _check_spans(doc: Doc) -> None:
    for name, layer in doc.spans.items():
        limit = doc.n_words if layer.unit == "words" else len(doc.text)
        for row in layer:
            rises = all(start < end for start, end in row.pieces)
            rises &= all(before[1] <= after[0] for before, after in pairwise(row.pieces))
            if not rises or row.pieces[0][0] < 0 or row.pieces[-1][1] > limit:
                raise WeftError(f"span {row} of layer {name!r} is not within the {limit} {layer.unit}")

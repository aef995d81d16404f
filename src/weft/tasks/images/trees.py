"""Captions as trees for recursive networks: words, heads, and labels that tell prepositions apart.

The label of an oblique or a modifier takes its case words, as in collapsed dependencies: `obl:in`, `nmod:next_to`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from weft.arrays import Heads
from weft.errors import DataError
from weft.text.doc import Doc

#: Relations whose case words become part of the label.
_FOLDED = ("obl", "nmod")


class CaptionTree(NamedTuple):
    """A caption: its words, their heads (from 1; 0 for roots, of which a caption of two sentences has two), labels."""

    words: tuple[str, ...]
    heads: Heads
    labels: tuple[str, ...]


def caption_tree(doc: Doc) -> CaptionTree:
    """The tree of a parsed document, which is one caption.

    >>> doc = Doc.from_words([["Dogs", "sit", "in", "cars"]], head=[[2, 0, 4, 2]],
    ...                      deprel=[["nsubj", "root", "case", "obl"]])
    >>> caption_tree(doc).labels
    ('nsubj', 'root', 'case', 'obl:in')
    """
    if not doc.n_words:
        raise DataError(f"the caption {doc.id or doc.text!r} has no words")
    if doc.head is None or not doc.has("deprel"):
        raise DataError(
            f"the caption {doc.id or doc.text!r} is not parsed: annotate it first, weft annotate --model en"
        )
    words, labels = doc.column("form"), doc.column("deprel")
    starts = np.repeat(doc.sentence_offsets[:-1], np.diff(doc.sentence_offsets))
    heads = np.where(doc.head > 0, doc.head + starts, 0).astype(np.int32)
    cases: dict[int, list[str]] = {}
    for word, (head, label) in enumerate(zip(heads.tolist(), labels, strict=True)):
        if label == "case" and head:
            cases.setdefault(head - 1, []).append(words[word].lower())
    folded = [
        f"{label}:{'_'.join(cases[word])}" if label in _FOLDED and word in cases else label
        for word, label in enumerate(labels)
    ]
    return CaptionTree(tuple(words), heads, tuple(folded))


def caption_trees(docs: Iterable[Doc]) -> list[CaptionTree]:
    """The trees of parsed captions."""
    return [caption_tree(doc) for doc in docs]

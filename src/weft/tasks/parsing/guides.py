"""Guides: another parser's heads as features of arcs (stacking).

    mark 1 of an arc (h, m)  the guide also attaches m to h
    mark 2                   (h, m) crosses an arc of the guide

MISC holds the heads under a key (`Guide=3`), so that CoNLL-U keeps them next to the gold tree. A guide is far more
accurate on its own training sentences than on new text, so the parser would trust it too much: `jackknife_guide`
annotates every training sentence with a guide trained on the other sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from weft.arrays import Heads, Keys
from weft.errors import ConfigError, DataError
from weft.kernel import kernel
from weft.pipeline.component import Component
from weft.ragged import Indices
from weft.text.doc import Doc

KEY = "Guide"


def note_guide(docs: Sequence[Doc], guide: Component, key: str = KEY) -> None:
    """Write the heads that a parser predicts into MISC; the trees of the documents do not change.

    >>> class First:
    ...     def __call__(self, docs):
    ...         for doc in docs:
    ...             doc.head = np.array([0, 1], np.int32)
    >>> doc = Doc.from_words([["dogs", "bark"]], head=[[2, 0]], misc=[["SpaceAfter=No", ""]])
    >>> note_guide([doc], First())
    >>> doc.column("misc"), doc.head.tolist()
    (['SpaceAfter=No|Guide=0', 'Guide=1'], [2, 0])
    """
    parsed = [doc.subset(range(doc.n_sentences)) for doc in docs]
    guide(parsed)
    for doc, guided in zip(docs, parsed, strict=True):
        if guided.head is None:
            raise DataError(f"the guide predicted no heads for {doc!r}: it must be a parser")
        columns = zip(doc.column("misc"), guided.head.tolist(), strict=True)
        doc.set_column("misc", [_with_head(misc, key, head) for misc, head in columns])


def jackknife_guide(
    docs: Sequence[Doc], learn: Callable[[list[Doc]], Component], folds: int = 5, key: str = KEY
) -> list[Doc]:
    """The sentences of documents, one document each, with the heads of guides trained on the other folds.

    `learn` trains a parser on documents; sentence i is in fold i mod `folds`.
    """
    sentences = [doc.subset([i]) for doc in docs for i in range(doc.n_sentences)]
    if not 2 <= folds <= len(sentences):
        raise ConfigError(f"folds must be from 2 to the number of sentences, {len(sentences)}; got {folds}")
    for fold in range(folds):
        guide = learn([doc for i, doc in enumerate(sentences) if i % folds != fold])
        note_guide(sentences[fold::folds], guide, key)
    return sentences


def guide_heads(docs: Sequence[Doc], key: str = KEY) -> Heads:
    """The heads in MISC under a key, -1 where there is none.

    >>> doc = Doc.from_words([["dogs", "bark"]], misc=[["Guide=2", ""]])
    >>> guide_heads([doc]).tolist()
    [2, -1]
    """
    listed: list[int] = []
    for doc in docs:
        values = doc.column("misc")
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            for word in range(first, end):
                text = _head_in(values[word], key)
                if text and (not text.isdecimal() or int(text) > end - first):
                    raise DataError(
                        f"{key}={text} in MISC of word {word - first + 1} of {doc!r} is not a head: expected a number "
                        f"from 0 to {end - first}"
                    )
                listed.append(int(text) if text else -1)
    heads = np.array(listed, dtype=np.int32)
    if len(heads) and heads.max() < 0:
        raise DataError(
            f"no word has another parser's head in MISC: expected {key}=HEAD; add it with "
            "weft.tasks.parsing.guides.note_guide"
        )
    return heads


def guide_marks(offsets: Indices, heads: Heads) -> Keys:
    """Marks of all arcs of sentences, in the order of `weft.infer.trees.arcs.all_arcs`.

    >>> guide_marks(np.array([0, 2]), np.array([2, 0], np.int32)).tolist()  # arcs 0-1, 0-2, 1-2, 2-1
    [[0, 0], [1, 0], [0, 0], [1, 0]]
    """
    sizes = np.diff(offsets)
    marks = np.zeros((int((sizes * sizes).sum()), 2), dtype=np.uint64)
    _mark(np.asarray(offsets, np.int64), np.ascontiguousarray(heads, np.int32), marks)
    return marks


@kernel
def _mark(offsets: Indices, heads: Heads, marks: Keys) -> None:
    at = 0
    for s in range(len(offsets) - 1):
        first, n = offsets[s], offsets[s + 1] - offsets[s]
        for h in range(n + 1):
            for place in range(n if h == 0 else n - 1):
                m = h - 1 - place if place < h - 1 else place + (1 if h == 0 else 2)
                low, high = min(h, m), max(h, m)
                if heads[first + m - 1] == h:
                    marks[at, 0] = 1
                for other in range(1, n + 1):
                    above = heads[first + other - 1]
                    if above >= 0:
                        one, two = min(other, above), max(other, above)
                        if low < one < high < two or one < low < two < high:
                            marks[at, 1] = 1
                            break
                at += 1


def _with_head(misc: str, key: str, head: int) -> str:
    kept = [item for item in misc.split("|") if item and not item.startswith(f"{key}=")]
    return "|".join([*kept, f"{key}={head}"])


def _head_in(misc: str, key: str) -> str:
    for item in misc.split("|"):
        name, _, value = item.partition("=")
        if name == key:
            return value
    return ""

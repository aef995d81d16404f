"""Convert trees between arrays and documents: write them to HEAD and DEPREL, or score them against these columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.arrays import Heads
from weft.errors import DataError
from weft.features.extract import write_column
from weft.text.doc import Doc


def write_trees(docs: Sequence[Doc], heads: Heads, labels: Heads, names: Sequence[str]) -> None:
    """Write the heads and relations of all words of documents, -1 for no relation.

    >>> doc = Doc.from_words([["dogs", "bark"]])
    >>> write_trees([doc], np.array([2, 0], np.int32), np.array([0, -1], np.int32), ["nsubj"])
    >>> doc.head.tolist(), doc.column("deprel")
    ([2, 0], ['nsubj', ''])
    """
    write_column(docs, "deprel", ["", *names], labels + 1)
    first = 0
    for doc in docs:
        doc.head = heads[first : first + doc.n_words]
        first += doc.n_words


def check_trees(docs: Sequence[Doc]) -> None:
    """Raise an error if documents have no trees to score against."""
    if not docs or any(doc.head is None for doc in docs):
        raise DataError("the documents to score have no heads; expected them in the column HEAD of CoNLL-U")


def tree_scores(docs: Sequence[Doc], heads: Heads, labels: Heads, names: Sequence[str]) -> dict[str, float]:
    """UAS and LAS against the trees of documents; subtypes of relations are ignored.

    >>> doc = Doc.from_words([["dogs", "bark"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> tree_scores([doc], np.array([2, 0], np.int32), np.array([0, 0], np.int32), ["nsubj:pass"])
    {'UAS': 1.0, 'LAS': 0.5}
    """
    predicted = np.array([*(name.split(":")[0] for name in names), ""])[labels]
    gold = np.array([name.split(":")[0] for doc in docs for name in doc.column("deprel")])
    right = heads == np.concatenate([doc.head for doc in docs if doc.head is not None])
    return {"UAS": float(right.mean()), "LAS": float((right & (predicted == gold)).mean())}

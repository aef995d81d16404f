"""Copies of training data with tags and trees as they are on unseen text.

A component that reads trees meets wrong ones in use. It trains on gold trees and on copies of the same sentences, whose
tags and trees come from a pipeline that was not trained on them:

    documents -> folds;  copy(document) = the document with the tags and trees of components trained on the other folds
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.pipeline.component import Component
from weft.text.doc import Doc
from weft.training.jackknife import FEWEST, untagged

#: Trains components, in order, on the documents outside a fold.
Train = Callable[[int, Sequence[Doc]], list[Component]]


def unparsed(doc: Doc) -> Doc:
    """A copy of the document without tags and trees that shares everything else.

    >>> doc = Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    >>> copy = unparsed(doc)
    >>> copy.has("upos"), copy.has("deprel"), copy.head is None, doc.head.tolist()
    (False, False, True, [2, 0])
    """
    new = untagged(doc)
    new.columns.pop("deprel", None)
    new.head = None
    return new


def copies(docs: Sequence[Doc], train: Train, folds: int) -> list[Doc]:
    """The copies of all documents; of few documents, the copies of their sentences."""
    units = list(docs)
    if len(units) < FEWEST * folds:
        units = [doc.subset([i]) for doc in docs for i in range(doc.n_sentences)]
    found = [unparsed(unit) for unit in units]
    for fold in range(folds):
        others = [unit for number, unit in enumerate(units) if number % folds != fold]
        own = [copy for copy in found[fold::folds] if copy.n_words]
        if own:
            for component in train(fold, others):
                component(own)
    return found

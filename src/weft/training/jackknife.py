"""Jackknifing: training data with predicted tags that are as accurate as on unseen text.

A component that reads tags should train on tags with realistic errors. A tagger makes hardly any errors on its own
training data, so the training documents are split into folds, and a tagger trained on the other folds tags each fold:

    tags(sentence) = tagger trained without the fold of its document     if the tagger was trained on the sentence
                     the tagger itself                                  otherwise

Sentences are compared by their characters, so it does not matter which corpus they are from.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from weft.pipeline.component import Component
from weft.text.doc import Doc
from weft.training.corpora import sentence_keys

#: Columns that tagging components write.
COLUMNS = ("lemma", "upos", "xpos", "feats")
#: With fewer documents per fold, sentences are split instead.
FEWEST = 10
#: Trains tagging components, in order, on the documents outside a fold.
Train = Callable[[int, Sequence[Doc]], list[Component]]


def gives_tags(component: Component) -> bool:
    """Whether a component writes only tag columns."""
    return bool(component.provides) and set(component.provides) <= set(COLUMNS)


def untagged(doc: Doc) -> Doc:
    """A copy of the document without tags that shares everything else."""
    new = copy.copy(doc)
    new.columns = {name: ids for name, ids in doc.columns.items() if name not in COLUMNS}
    return new


def tagged(docs: Sequence[Doc], components: Sequence[Component]) -> list[Doc]:
    """Documents with their tags replaced by the predictions of components.

    >>> tagged([Doc.from_words([["Dogs"]], upos=[["NOUN"]])], [])[0].has("upos")
    False
    """
    found = [untagged(doc) for doc in docs]
    for component in components:
        component([doc for doc in found if doc.n_words])
    return found


class Jackknife:
    """One tagger per fold, trained without that fold, and a tagger trained on all data."""

    def __init__(
        self, docs: Sequence[Doc], whole: Sequence[Component], train: Train, folds: int = 5, workers: int = 1
    ) -> None:
        units = list(docs)
        if len(units) < FEWEST * folds:
            units = [doc.subset([i]) for doc in docs for i in range(doc.n_sentences)]
        self.whole = list(whole)
        self.fold_of: dict[str, int] = {}
        for number, unit in enumerate(units):
            for key in sentence_keys(unit):
                self.fold_of.setdefault(key, number % folds)
        others = [[unit for i, unit in enumerate(units) if i % folds != fold] for fold in range(folds)]
        with ThreadPoolExecutor(workers, "weft") as pool:
            self.parts = list(pool.map(train, range(folds), others))

    def __call__(self, docs: Sequence[Doc]) -> list[Doc]:
        """Documents with the predicted tags of components that were not trained on them."""
        found = [untagged(doc) for doc in docs]
        columns = [{name: np.zeros(doc.n_words, dtype=np.int32) for name in COLUMNS} for doc in docs]
        folds = [[self.fold_of.get(key, -1) for key in sentence_keys(doc)] for doc in docs]
        for fold in sorted({fold for own in folds for fold in own}):
            pieces, places = [], []
            for number, doc in enumerate(found):
                chosen = [i for i, own in enumerate(folds[number]) if own == fold]
                if chosen:
                    pieces.append(_cut(doc, chosen))
                    places.append((number, chosen))
            for component in self.parts[fold] if fold >= 0 else self.whole:
                component(pieces)
            for piece, (number, chosen) in zip(pieces, places, strict=True):
                words = _words(found[number], chosen)
                for name in COLUMNS:
                    if name in piece.columns:
                        columns[number][name][words] = piece.columns[name]
        for doc, own in zip(found, columns, strict=True):
            doc.columns.update({name: ids for name, ids in own.items() if ids.any()})
        return found


def _cut(doc: Doc, chosen: Sequence[int]) -> Doc:
    """A selection of sentences with their words only, in the same string table."""
    whole = len(chosen) == doc.n_sentences
    bare = copy.copy(doc)
    bare.spans, bare.relations, bare.clusters, bare.graphs = {}, {}, {}, {}
    if not whole:
        return bare.subset(chosen)
    bare.columns = dict(doc.columns)
    return bare


def _words(doc: Doc, chosen: Sequence[int]) -> np.ndarray:
    """The indices of the words of sentences."""
    offsets = doc.sentence_offsets.tolist()
    return np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in chosen])

"""A tagger that learns beside the parser of transcripts, which reads its tags (Honnibal & Johnson 2014).

    for every sentence, in the order of the parser:
        tags = argmax over y of w . F(words, y)                what the parser learns from
        w <- w + F(words, gold tags) - F(words, tags)

So the parser meets the errors of a tagger in training too, without jackknifing. The chain is of second order, and the
search is exact where the paper has a beam; tags are predicted with the mean of the weights once training has ended.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weft.declared import Stored
from weft.errors import DataError
from weft.features.templates import Templates
from weft.learn.chains.labels import LabelSpace
from weft.learn.online.perceptron import Perceptron, PerceptronRun
from weft.storage import Arrays
from weft.tasks.labelling.chain_data import ChainData, ChainReader, ChainScorer
from weft.text.doc import Doc

#: Words, the two tags before, affixes and clusters of the word and its neighbours.
TEMPLATES = (
    "true y[-1] y[-2]|y[-1] w[-2..3] y[-1]|w[0] w[-1..1].suffix1..3 w[-1..1].prefix1..3 w[0].shape "
    "c[-1..1] c[-1..1].prefix6 c[-1..1].prefix4 c[-1]|c[0] c[0]|c[1] c[0].prefix6|w[-1] c[0].prefix6|w[1]"
)
FIELDS = {"w": "form", "c": "cluster"}


class TranscriptTagger:
    """Tags prepared transcripts.

    >>> doc = Doc.from_words([["the", "dog", "barks"], ["a", "cat"]], upos=[["DET", "NOUN", "VERB"], ["DET", "NOUN"]])
    >>> learner = TaggerRun([doc])
    >>> for sentence in (0, 1, 0, 1):
    ...     tags = learner.learn(sentence)
    >>> tagger = learner.tagger()
    >>> tagger.tagged(Doc.from_words([["a", "dog", "barks"]])).column("upos")
    ['DET', 'NOUN', 'VERB']
    """

    def __init__(self, scorer: ChainScorer) -> None:
        self.scorer = scorer

    @property
    def labels(self) -> list[str]:
        """All tags."""
        return self.scorer.space.labels

    def tagged(self, doc: Doc) -> Doc:
        """The same document with predicted tags."""
        found = doc.subset(range(doc.n_sentences))
        if doc.n_words:
            path = self.scorer.space.tags(self.scorer.chain([_readable(doc)]).best())
            found.set_column("upos", [self.labels[tag] for tag in path.tolist()])
        return found

    def state(self) -> tuple[dict[str, Any], Arrays]:
        """What a model file keeps."""
        return self.scorer.state()

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Stored) -> TranscriptTagger:
        """The tagger of a model file."""
        return cls(ChainScorer.from_state(_reader(), header, arrays))


class TaggerRun:
    """A tagger in training, sentence by sentence."""

    def __init__(self, docs: Sequence[Doc]) -> None:
        tags = [tag for doc in docs for tag in doc.column("upos")] if all(doc.has("upos") for doc in docs) else []
        if not all(tags) or not tags:
            raise DataError("a tagger beside the parser learns from tags: every word of the training data needs a UPOS")
        space = LabelSpace(sorted(set(tags)), 2)
        self.data = ChainData.build(_reader(), [_readable(doc) for doc in docs], space.ids(tags), space)
        self._batches = list(self.data.batch.batches(1))
        self._run: PerceptronRun = Perceptron().begin(self.data.model, self._batches, None)

    @property
    def labels(self) -> list[str]:
        """All tags."""
        return self.data.model.space.labels

    def learn(self, sentence: int) -> NDArray[np.int32]:
        """The tags of a sentence by the weights so far, which then learn from it."""
        batch = self._batches[sentence]
        found = self.data.model.space.tags(self.data.model.score(batch, self._run.weights).best())
        self._run.visit([batch])
        return found

    def tagger(self) -> TranscriptTagger:
        """The tagger of the mean weights so far."""
        return TranscriptTagger(self.data.freeze(self._run.weights_now()))


def _reader() -> ChainReader:
    return ChainReader(Templates(TEMPLATES), FIELDS)


def _readable(doc: Doc) -> Doc:
    """A document with all columns that templates read."""
    if doc.has("cluster"):
        return doc
    found = doc.subset(range(doc.n_sentences))
    found.set_column("cluster", [""] * doc.n_words)
    return found

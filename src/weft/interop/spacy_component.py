"""Weft as a component of a spaCy pipeline: `nlp.add_pipe("weft", config={"model": "en"})`.

With `tokens = "weft"` the component itself creates words and sentences, as its model was trained to; with `tokens =
"spacy"` it keeps the tokens, and any sentences, of the components before it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import islice
from typing import Any

import numpy as np

import weft
from weft.errors import ConfigError
from weft.interop.spacy_docs import from_spacy, to_spacy
from weft.text.doc import Doc


class WeftComponent:
    """Annotates spaCy documents with a Weft pipeline."""

    def __init__(self, vocab: Any, model: str, tokens: str) -> None:
        if tokens not in ("weft", "spacy"):
            raise ConfigError(f"tokens={tokens!r}: expected 'weft' or 'spacy'")
        self.vocab, self.tokens = vocab, tokens
        self.pipeline = weft.load(model)

    def __call__(self, doc: Any) -> Any:
        """Annotate one document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Any], *, batch_size: int = 128) -> Iterator[Any]:
        """Annotate a stream of documents in order, `batch_size` at a time."""
        docs = iter(stream)
        while batch := list(islice(docs, batch_size)):
            for before, doc in zip(batch, self.pipeline.pipe(map(self._read, batch)), strict=True):
                after = to_spacy(doc, self.vocab)
                after.user_data.update(before.user_data)
                yield after

    def _read(self, doc: Any) -> Doc:
        if self.tokens == "weft":
            return Doc(doc.text)
        result = from_spacy(doc)
        if not doc.has_annotation("SENT_START"):
            self._split_sentences(result)
        return result

    def _split_sentences(self, doc: Doc) -> None:
        """The model's sentences in the text, adjusted to begin at tokens of the document."""
        segmented = Doc(doc.text)
        splitters = [component for component in self.pipeline.components if "tokens" in component.provides]
        weft.Pipeline(splitters).annotate([segmented])
        begins = segmented.word_start[segmented.sentence_offsets[:-1]]
        firsts = np.unique(np.concatenate([[0], np.searchsorted(doc.token_start, begins), [doc.n_words]]))
        doc.set_sentences(firsts)


def create_weft(nlp: Any, name: str, model: str, tokens: str) -> WeftComponent:
    """The factory behind `nlp.add_pipe("weft")`."""
    return WeftComponent(nlp.vocab, model, tokens)


# spaCy finds the factory through the package's entry point and imports this module, which must then register it.
if find_spec("spacy") is not None:
    from spacy.language import Language

    Language.factory("weft", default_config={"model": "en", "tokens": "weft"}, func=create_weft)

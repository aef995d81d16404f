"""Chunking: flat spans such as chunks and entities, with one label per word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

import numpy as np
from numpy.typing import NDArray

from weft.errors import ConfigError, DataError
from weft.features.extract import sentence_offsets
from weft.infer.chains.chain import Chain
from weft.infer.chains.spans import span_probabilities
from weft.pipeline.settings import option
from weft.tasks.labelling.labeller import LabellerSettings, SequenceLabeller
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.schemes import check_scheme, decode_sentences, encode, numbered, split_label

#: The features of Sha and Pereira (2003): words and tags in a window of five, and their conjunctions.
WORDS = "w[0] w[-1] w[1] w[-2] w[2] w[-1]|w[0] w[0]|w[1]"
TAGS = (
    "t[0] t[-1] t[1] t[-2] t[2] t[-1]|t[0] t[-2]|t[-1] t[0]|t[1] t[1]|t[2] "
    "t[-2]|t[-1]|t[0] t[-1]|t[0]|t[1] t[0]|t[1]|t[2]"
)
#: Additional features that help on small training sets.
SPELLING = "w[-1..1].lower w[0].suffix1..3 w[0].shape"
#: Features that replace tags in untagged text.
SHAPES = "w[-1..1].lower w[-1..1].shape w[-1..1].suffix2..3 w[0].prefix1..4 w[0].suffix1..4 w[-1].kind|w[0].kind"


@dataclass
class ChunkerSettings(LabellerSettings):
    """Options of a chunker."""

    layer: str = option("chunks", "Span layer to learn and to write.")
    scheme: str | None = option("IOB2", "Labels of words for spans: IO, IOB2 or BIOES.", metavar="SCHEME")
    order: int = option(1, "Order of the model: 1, or 2, which is slower.")


class Chunker(SequenceLabeller):
    """Predicts flat spans.

    >>> sentences = [["The", "cat", "sleeps"], ["A", "dog", "runs"], ["Dogs", "bark"]]
    >>> doc = Doc.from_words(sentences, xpos=[["DT", "NN", "VBZ"], ["DT", "NN", "VBZ"], ["NNS", "VBP"]])
    >>> doc.spans["chunks"] = SpanLayer.of(doc.strings, [(0, 2, "NP"), (2, 3, "VP"), (3, 5, "NP"), (5, 6, "VP")])
    >>> chunker = Chunker()
    >>> report = chunker.fit([doc])
    >>> new = Doc.from_words([["The", "dog", "barks"]], xpos=[["DT", "NN", "VBZ"]])
    >>> chunker([new])
    >>> new.span_views("chunks")
    [Span('The dog', 'NP'), Span('barks', 'VP')]
    """

    task = "chunker"
    settings_class = ChunkerSettings
    settings: ChunkerSettings

    def __init__(self, settings: LabellerSettings | None = None) -> None:
        super().__init__(settings)
        self.settings.scheme = check_scheme(self.settings.scheme or "IOB2")
        if self.settings.order not in (1, 2):
            raise ConfigError(f"order must be 1 or 2, got {self.settings.order}")
        self.provides = (f"spans/{self.settings.layer}",)

    def gold(self, doc: Doc) -> list[str]:
        name, scheme = self.settings.layer, self.settings.scheme or "IOB2"
        layer = doc.spans.get(name)
        if layer is None:
            known = ", ".join(doc.spans) or "none"
            raise DataError(f"the training data has no span layer {name!r} (it has: {known}); set layer=NAME")
        if not layer.is_flat():
            raise DataError(f"spans of the layer {name!r} overlap or have gaps; a chunker only learns flat spans")
        spans = sorted((*pieces[0], label) for pieces, label in layer)
        labels: list[str] = []
        at = 0
        for first, end in pairwise(doc.sentence_offsets.tolist()):
            inside = []
            while at < len(spans) and spans[at][0] < end:
                start, stop, label = spans[at]
                if stop > end:
                    raise DataError(f"a span of the layer {name!r} crosses a sentence boundary")
                inside.append((start - first, stop - first, label))
                at += 1
            labels += encode(inside, end - first, scheme)
        return labels

    def confidence(self, chain: Chain, path: NDArray[np.int32], docs: Sequence[Doc]) -> NDArray[np.float64]:
        """The probability of the whole span at the first word of every span, 1 elsewhere."""
        space, scheme = self._trained().space, self.settings.scheme or "IOB2"
        tags = space.tags(path)
        starts, ends, _, _ = decode_sentences(space.labels, tags, chain.offsets, scheme)
        parts = [split_label(label, scheme == "IO") for label in space.labels]
        goes_on = np.array([[a[0] in "BI" and b[0] in "IE" and a[1] == b[1] for b in parts] for a in parts])
        from_state = space.tags(np.arange(space.n_states, dtype=np.int32))
        probabilities = np.ones(len(tags))
        probabilities[starts] = span_probabilities(chain, starts, ends, tags, from_state, goes_on)
        return probabilities

    def write(self, doc: Doc, labels: list[str], confidence: NDArray[np.float32] | None) -> None:
        self.write_all([doc], *numbered(labels), confidence)

    def write_all(
        self,
        docs: Sequence[Doc],
        names: Sequence[str],
        numbers: NDArray[np.integer],
        confidence: NDArray[np.float32] | None,
    ) -> None:
        scheme = self.settings.scheme or "IOB2"
        starts, ends, kinds, kind_names = decode_sentences(names, numbers, sentence_offsets(docs), scheme)
        bounds = np.concatenate([[0], np.cumsum([doc.n_words for doc in docs])])
        cuts = np.searchsorted(starts, bounds).tolist()
        spans = zip(docs, bounds.tolist(), pairwise(cuts), strict=False)
        pieces = list(zip(starts.tolist(), ends.tolist(), strict=True))
        for table, run in groupby(spans, key=lambda span: span[0].strings):
            ids = table.ids(kind_names)[kinds].tolist()
            for doc, first, (a, b) in run:
                shifted = [(start - first, end - first) for start, end in pieces[a:b]]
                layer = SpanLayer.from_pieces(table, shifted, ids[a:b])
                if confidence is not None and a < b:
                    sure = confidence[starts[a:b]]
                    layer.attributes = {i: {"probability": round(float(p), 4)} for i, p in enumerate(sure)}
                doc.spans[self.settings.layer] = layer

    def score(self, gold: list[list[str]], system: list[list[str]]) -> dict[str, float]:
        from weft.evaluate.labels.spans import conlleval_f1

        return {"f1": conlleval_f1(gold, system)}

    def default_features(self, docs: Sequence[Doc]) -> tuple[str, dict[str, str]]:
        tags = next((column for column in ("xpos", "upos") if all(doc.has(column) for doc in docs)), None)
        observed = f"true {WORDS} {f'{TAGS} {SPELLING}' if tags else SHAPES}"
        fields = {"w": "form", **({"t": tags} if tags else {})}
        if self.settings.order == 2:
            return f"(true y[-1])|({observed}) y[-2]|y[-1]", fields
        return f"{observed} y[-1]", fields

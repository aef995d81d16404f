"""Tags, lemmas and trees by the shipped English pipeline, and noun chunks as candidates that fill no role."""

from __future__ import annotations

from collections.abc import Sequence

from weft.pipeline import models
from weft.pipeline.pipeline import Pipeline
from weft.recipes.extraction.joint_event_extraction.corpora import OTHER
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, words_of_chars

_INSIDE, _HEADS = {"DET", "ADJ", "NUM", "NOUN", "PROPN"}, {"NOUN", "PROPN", "PRON"}


def parse(docs: Sequence[Doc]) -> None:
    """Add tags, lemmas and trees to documents with words, in place; their mentions stay."""
    pipeline = Pipeline.load(models.find("en"))
    kept = [
        each for each in pipeline.components
        if "tokens" not in each.provides and not any("/" in layer for layer in each.provides)
    ]  # fmt: skip
    kept_spans = [dict(doc.spans) for doc in docs]
    for doc, parsed, spans in zip(docs, Pipeline(kept).pipe(docs), kept_spans, strict=True):
        assert parsed is doc
        doc.spans.update(spans)


def add_chunks(doc: Doc) -> None:
    """Add the noun chunks that overlap no mention to the mentions, as mentions of the type `Other`."""
    mentions = words_of_chars(doc, doc.spans["entities"])
    rows = [(row.pieces[0][0], row.pieces[-1][1], row.label) for row in mentions]
    covered = {word for start, end, _ in rows for word in range(start, end)}
    tags = doc.column("upos")
    for sentence in doc.sentences:
        start = -1
        for word in range(sentence.first, sentence.end + 1):
            inside = word < sentence.end and tags[word] in _INSIDE | _HEADS and word not in covered
            if inside:
                start = word if start < 0 else start
            elif start >= 0:
                end = word
                while end > start and tags[end - 1] not in _HEADS:
                    end -= 1
                if end > start:
                    rows.append((start, end, OTHER))
                start = -1
    doc.spans["entities"] = SpanLayer.of(doc.strings, sorted(rows))

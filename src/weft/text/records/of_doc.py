"""A document as one JSON object that is easy to use: everything is counted from 0, in characters or in words.

    {"id": "notes/monday", "text": "Ada left.",
     "sentences": [{"start": 0, "end": 9, "text": "Ada left.", "first_word": 0, "end_word": 3}],
     "words": [{"start": 0, "end": 3, "form": "Ada", "upos": "PROPN", "head": 1, "deprel": "nsubj"}, ...],
     "spans": {"entities": [{"start": 0, "end": 3, "label": "PER", "text": "Ada", "probability": 0.98, ...}]}}

This is what `--to records`, `Doc.to_dict` and the service give; `weft.text.records.schema` describes every field. The
lossless form is `weft.text.record`: comments, empty nodes and the fields of multiword tokens stand only there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.errors import WeftError
from weft.text.constituents import ConstituentLayer
from weft.text.conventions.alternatives import KEY as ALTERNATIVES
from weft.text.doc import Doc
from weft.text.layers import GraphLayer, RelationLayer, SpanLayer, chars_of_words

Record = dict[str, Any]
#: The head of a root.
ROOT = -1
#: Fields of a word that are no columns.
PLACES = ("start", "end", "token", "head", "confidence")
_DIGITS = 4  # of probabilities


def record_of(doc: Doc) -> Record:
    """The document as plain values, counted from 0, with offsets in characters.

    >>> doc = Doc.from_words([["Ada", "left"]], head=[[2, 0]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    >>> record = record_of(doc)
    >>> record["words"][0]
    {'start': 0, 'end': 3, 'form': 'Ada', 'head': 1}
    >>> record["spans"]["entities"][0]
    {'start': 0, 'end': 3, 'label': 'PER', 'text': 'Ada', 'probability': None, 'first_word': 0, 'end_word': 1}
    """
    record: Record = {"id": doc.id, "text": doc.text, "sentences": _sentences(doc), "words": _words(doc)}
    record["spans"] = {name: span_records(doc, layer) for name, layer in doc.spans.items()}
    meta = {name: value for name, value in doc.meta.items() if name not in ("id", ALTERNATIVES)}
    if meta:
        record["meta"] = meta
    if doc.relations:
        record["relations"] = {name: _relations(layer) for name, layer in doc.relations.items()}
    if doc.clusters:
        record["clusters"] = {
            name: [{"spans": layer.spans, "members": group} for group in layer.groups()]
            for name, layer in doc.clusters.items()
        }
    if doc.graphs:
        record["graphs"] = {name: _graph(layer) for name, layer in doc.graphs.items()}
    if doc.constituents is not None:
        record["constituents"] = _constituents(doc, doc.constituents)
    return record


def _sentences(doc: Doc) -> list[Record]:
    starts, ends = doc.word_start.tolist(), doc.word_end.tolist()
    ranked = doc.meta.get(ALTERNATIVES, {})
    sentences: list[Record] = []
    for sentence in doc.sentences:
        first, end = sentence.first, sentence.end
        start, stop = (starts[first], ends[end - 1]) if first < end else (0, 0)
        row: Record = {"start": start, "end": stop, "text": doc.text[start:stop], "first_word": first, "end_word": end}
        name = sentence.meta.get("sent_id")
        if name:
            row["id"] = name
        if ranked:
            row[ALTERNATIVES] = {task: rows[sentence.index] for task, rows in ranked.items()}
        sentences.append(row)
    return sentences


def _words(doc: Doc) -> list[Record]:
    if not doc.n_words:
        return []
    names = ["form", *(name for name in doc.columns if name != "form" and doc.has(name))]
    clash = next((name for name in names if name in PLACES), None)
    if clash is not None:
        raise WeftError(f"the column {clash!r} of {doc!r} has the name of another field of a record; rename it first")
    columns = [doc.column(name) for name in names]
    words: list[Record] = [
        {"start": start, "end": end, "form": values[0]}
        | {name: value for name, value in zip(names[1:], values[1:], strict=True) if value}
        for start, end, *values in zip(doc.word_start.tolist(), doc.word_end.tolist(), *columns, strict=True)
    ]
    if len(doc.token_start) != doc.n_words:
        _add_tokens(doc, words)
    if doc.head is not None:
        for word, head, first in zip(words, doc.head.tolist(), first_words(doc), strict=True):
            if head >= 0:
                word["head"] = first + head - 1 if head else ROOT
    for name, values in doc.confidence.items():
        for word, value in zip(words, values.tolist(), strict=True):
            word.setdefault("confidence", {})[name] = round(value, _DIGITS)
    return words


def _add_tokens(doc: Doc, words: list[Record]) -> None:
    """Number the tokens of contractions, whose words need not be found in the text."""
    counts = np.bincount(doc.word_token)
    for word, token in zip(words, doc.word_token.tolist(), strict=True):
        if counts[token] > 1:
            word["token"] = token


def first_words(doc: Doc) -> list[int]:
    """The first word of every word's sentence."""
    if not doc.n_sentences:
        return [0] * doc.n_words
    firsts: list[int] = np.repeat(doc.sentence_offsets[:-1], np.diff(doc.sentence_offsets)).tolist()
    return firsts


def span_records(doc: Doc, layer: SpanLayer) -> list[Record]:
    """The spans of a layer as plain values.

    >>> doc = Doc.from_words([["Ada", "left"]])
    >>> span_records(doc, SpanLayer.of(doc.strings, [(0, 3, "PER")], "chars"))
    [{'start': 0, 'end': 3, 'label': 'PER', 'text': 'Ada', 'probability': None}]
    """
    rows: list[Record] = []
    for number, (row, placed) in enumerate(zip(layer, chars_of_words(doc, layer), strict=True)):
        pieces = [{"start": start, "end": end} for start, end in placed.pieces]
        if layer.unit == "words":
            for piece, (first, end) in zip(pieces, row.pieces, strict=True):
                piece |= {"first_word": first, "end_word": end}
        attributes = dict(layer.attributes.get(number, {}))
        span: Record = {"start": pieces[0]["start"], "end": pieces[-1]["end"], "label": row.label}
        span["text"] = " ... ".join(doc.text[start:end] for start, end in placed.pieces)
        probability = attributes.pop("probability", None)
        span["probability"] = None if probability is None else round(probability, _DIGITS)
        if layer.unit == "words":
            span |= {"first_word": pieces[0]["first_word"], "end_word": pieces[-1]["end_word"]}
        if len(pieces) > 1:
            span["pieces"] = pieces
        rows.append(span | _named(layer.id(number), attributes))
    return rows


def _relations(layer: RelationLayer) -> list[Record]:
    return [
        {"spans": layer.spans, "head": head, "tail": tail, "label": label}
        | _named(layer.ids[number], layer.attributes.get(number, {}))
        for number, (head, tail, label) in enumerate(layer)
    ]


def _graph(layer: GraphLayer) -> Record:
    nodes = [
        {"label": label, "span": anchor} | _named(layer.ids[number], layer.attributes.get(number, {}))
        for number, (label, anchor) in enumerate(layer.nodes())
    ]
    edges = [{"source": source, "target": target, "label": label} for source, target, label in layer.edges()]
    return {"spans": layer.spans, "nodes": nodes, "edges": edges}


def _constituents(doc: Doc, layer: ConstituentLayer) -> list[Record]:
    starts, ends = doc.word_start, doc.word_end
    return [
        {"start": int(starts[first]), "end": int(ends[end - 1]), "label": label, "first_word": first, "end_word": end,
         "parent": parent}
        for label, first, end, parent in layer
    ]  # fmt: skip


def _named(name: str, attributes: Mapping[str, Any]) -> Record:
    return ({"name": name} if name else {}) | ({"attributes": dict(attributes)} if attributes else {})

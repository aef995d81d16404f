"""Between documents and answers: the value that the layers of a document hold for an item, and layers from answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer, words_of_chars
from weft.workbench.answers import Schema, Value

#: Where labels of whole texts are in a document's metadata: lists by the name of the layer, as the formats of other
#: tools have them, or a single label, as tables have it.
LABELS, LABEL = "document_labels", "label"
_ROOT = "root"


def value_of(schema: Schema, doc: Doc, layer: str, first: int, end: int) -> tuple[Value, list[float | None]] | None:
    """What the layers of a document say of its words `first:end`, with probabilities of its parts; None if nothing.

    >>> doc = Doc.from_words([["Ada", "left"]])
    >>> doc.spans["people"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    >>> value_of(Schema("spans", ("PER",)), doc, "people", 0, 2)
    ({'spans': [{'pieces': [[0, 1]], 'label': 'PER'}]}, [None])
    """
    if schema.kind in ("spans", "relations"):
        return _spans(schema, doc, layer, first, end) if layer in doc.spans else None
    if schema.kind == "tags":
        return _tags(schema, doc, layer, first, end) if doc.has(layer) else None
    if schema.kind == "trees":
        return _tree(schema, doc, first, end)
    if schema.kind == "labels":
        given = labels_of(doc, layer)
        kept = [label for label in given if not schema.labels or label in schema.labels]
        return ({"labels": kept}, [None] * len(kept)) if kept else None
    return None


def labels_of(doc: Doc, layer: str = LABEL) -> list[str]:
    """The labels of a whole text.

    >>> labels_of(Doc("Buy now", meta={"document_labels": {"label": ["spam"]}}))
    ['spam']
    >>> labels_of(Doc("Hello", meta={"label": "ham"}))
    ['ham']
    """
    by_layer = doc.meta.get(LABELS)
    given = by_layer.get(layer, []) if isinstance(by_layer, dict) else doc.meta.get(layer, [])
    return [str(label) for label in given] if isinstance(given, list) else [str(given)]


def write_value(schema: Schema, doc: Doc, layer: str, first: int, value: Value) -> None:
    """Write an answer into the layers of a document, from word `first` on."""
    if schema.kind in ("spans", "relations"):
        _write_spans(doc, layer, first, value)
    elif schema.kind == "tags":
        column = doc.column(layer) if doc.has(layer) else [""] * doc.n_words
        column[first : first + len(value["tags"])] = value["tags"]
        doc.set_column(layer, column)
    elif schema.kind == "trees":
        _write_tree(doc, first, value)
    elif schema.kind == "labels":
        given = doc.meta.get(LABELS)
        doc.meta[LABELS] = {**(given if isinstance(given, dict) else {}), layer: list(value["labels"])}


def prepare(schema: Schema, doc: Doc, layer: str) -> None:
    """Take out what answers will say, and make the layers that they write."""
    if schema.kind in ("spans", "relations", "questions"):
        doc.spans[layer] = SpanLayer(doc.strings)
        if schema.kind == "relations" or layer in doc.relations:
            doc.relations[layer] = RelationLayer(doc.strings, layer)
    elif schema.kind == "labels":
        given = doc.meta.get(LABELS)
        if isinstance(given, dict):
            doc.meta[LABELS] = {name: labels for name, labels in given.items() if name != layer}


def _spans(schema: Schema, doc: Doc, layer: str, first: int, end: int) -> tuple[Value, list[float | None]]:
    rows = words_of_chars(doc, doc.spans[layer])
    spans: list[tuple[dict[str, Any], float | None, int]] = []
    for number, row in enumerate(rows):
        inside = all(first <= start and stop <= end for start, stop in row.pieces)
        if inside and (not schema.labels or row.label in schema.labels):
            pieces = sorted([int(start) - first, int(stop) - first] for start, stop in row.pieces)
            sure = rows.attributes.get(number, {}).get("probability")
            spans.append(({"pieces": pieces, "label": row.label}, _rounded(sure), number))
    spans.sort(key=lambda each: (each[0]["pieces"], each[0]["label"]))
    value: Value = {"spans": [span for span, _, _ in spans]}
    if schema.kind == "relations":
        places = {number: place for place, (_, _, number) in enumerate(spans)}
        given = doc.relations.get(layer, ())
        value["relations"] = [
            {"head": places[head], "tail": places[tail], "label": label}
            for head, tail, label in given
            if head in places and tail in places and (not schema.relations or label in schema.relations)
        ]
    return value, [sure for _, sure, _ in spans]


def _tags(schema: Schema, doc: Doc, layer: str, first: int, end: int) -> tuple[Value, list[float | None]] | None:
    tags = doc.column(layer)[first:end]
    if not any(tags):
        return None
    sure = doc.confidence.get(layer)
    known = [tag if tag in schema.labels or not schema.labels else "" for tag in tags]
    return {"tags": known}, [None] * len(tags) if sure is None else [_rounded(x) for x in sure[first:end].tolist()]


def _tree(schema: Schema, doc: Doc, first: int, end: int) -> tuple[Value, list[float | None]] | None:
    if doc.head is None or (doc.head[first:end] < 0).all():
        return None
    heads, labels = [], []
    relations = doc.column("deprel") if doc.has("deprel") else [""] * doc.n_words
    offsets = doc.sentence_offsets.tolist()
    start_of = np.repeat(offsets[:-1], np.diff(offsets))
    for word in range(first, end):
        head = int(doc.head[word])  # 1 is the first word of the sentence, 0 the root
        at = int(start_of[word]) + head - 1 - first
        heads.append(at if head > 0 and 0 <= at < end - first else -1)
        label = relations[word] or ("" if heads[-1] >= 0 else _ROOT)
        labels.append(label if label in schema.labels or not schema.labels else "")
    return {"heads": heads, "labels": labels}, [None] * len(heads)


def _write_spans(doc: Doc, layer: str, first: int, value: Value) -> None:
    spans = doc.spans.setdefault(layer, SpanLayer(doc.strings))
    numbers = [
        spans.add([(first + start, first + end) for start, end in span["pieces"]], span["label"])
        for span in value["spans"]
    ]
    rows: list[Mapping[str, Any]] = value.get("relations", [])
    if rows or "relations" in value:
        relations = doc.relations.setdefault(layer, RelationLayer(doc.strings, layer))
        for row in rows:
            relations.add(numbers[row["head"]], numbers[row["tail"]], row["label"])


def _write_tree(doc: Doc, first: int, value: Value) -> None:
    heads = np.full(doc.n_words, -1, dtype=np.int32) if doc.head is None else doc.head.copy()
    relations = doc.column("deprel") if doc.has("deprel") else [""] * doc.n_words
    offsets = doc.sentence_offsets.tolist()
    start_of = np.repeat(offsets[:-1], np.diff(offsets))
    for place, (head, label) in enumerate(zip(value["heads"], value["labels"], strict=True)):
        word = first + place
        heads[word] = 0 if head < 0 else first + head - int(start_of[word]) + 1
        relations[word] = label
    doc.head = heads
    doc.set_column("deprel", relations)


def _rounded(probability: Any) -> float | None:
    return None if probability is None else round(float(probability), 3)

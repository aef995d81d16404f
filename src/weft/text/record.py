"""A document as plain values: everything in a `Doc` as lists, dictionaries, strings and numbers that JSON can hold.

The record is what JSONL writes, what `Doc.to_bytes` keeps beside its arrays, and how two documents are compared: with
`record(d)` the record of `d`, `d` and `e` hold the same exactly if `record(d) == record(e)`, whatever their tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.errors import WeftError
from weft.text.constituents import ConstituentLayer
from weft.text.doc import Doc, EmptyNode, Multiword
from weft.text.layers import ClusterLayer, GraphLayer, RelationLayer, SpanLayer
from weft.text.strings import StringTable

Record = dict[str, Any]

#: Keys of a record; others belong to other tools.
KEYS = (
    "meta", "text", "tokens", "words", "sentences", "columns", "head", "confidence", "comments", "multiwords",
    "empty_nodes", "spans", "relations", "clusters", "graphs", "constituents",
)  # fmt: skip


def to_record(doc: Doc) -> Record:
    """The document as plain values; what is not set is left out, and so are forms that stand in the text as they are.

    >>> to_record(Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]]))["columns"]
    {'upos': ['NOUN', 'VERB']}
    """
    record: Record = {}
    if doc.meta:
        record["meta"] = doc.meta
    record["text"] = doc.text
    if len(doc.token_start):
        record["tokens"] = np.stack([doc.token_start, doc.token_end], axis=1).tolist()
    if doc.n_words != len(doc.token_start) or (np.diff(doc.word_token) != 1).any():
        record["words"] = doc.word_token.tolist()
    if doc.n_sentences:
        record["sentences"] = doc.sentence_offsets.tolist()
    columns = {name: doc.strings.strings(ids) for name, ids in sorted(doc.columns.items()) if ids.any()}
    if "form" in columns and columns["form"] == _forms_in_text(doc):
        del columns["form"]
    if columns:
        record["columns"] = columns
    if doc.head is not None and (doc.head >= 0).any():
        record["head"] = doc.head.tolist()
    if doc.confidence:
        record["confidence"] = {name: [float(x) for x in values] for name, values in sorted(doc.confidence.items())}
    if any(doc.comments):
        record["comments"] = [list(lines) for lines in doc.comments]
    if doc.multiwords:
        record["multiwords"] = [[m.first, m.end, list(m.fields)] for m in doc.multiwords]
    if doc.empty_nodes:
        record["empty_nodes"] = [[e.sentence, e.after, e.number, list(e.fields)] for e in doc.empty_nodes]
    record.update(layers_to_record(doc))
    return record


def layers_to_record(doc: Doc) -> Record:
    """The spans, relations, clusters, graphs and constituents of a document as plain values."""
    record: Record = {}
    if doc.constituents is not None:
        record["constituents"] = [list(row) for row in doc.constituents]
    if doc.spans:
        record["spans"] = {name: _spans_to_record(layer) for name, layer in sorted(doc.spans.items())}
    if doc.relations:
        record["relations"] = {
            name: {"spans": layer.spans, "rows": [list(row) for row in layer], **_names(layer.ids, layer.attributes)}
            for name, layer in sorted(doc.relations.items())
        }
    if doc.clusters:
        record["clusters"] = {
            name: {"spans": layer.spans, "cluster": layer.cluster.tolist()}
            for name, layer in sorted(doc.clusters.items())
        }
    if doc.graphs:
        record["graphs"] = {
            name: {
                "spans": layer.spans,
                "nodes": [list(node) for node in layer.nodes()],
                "edges": [list(edge) for edge in layer.edges()],
                **_names(layer.ids, layer.attributes),
            }
            for name, layer in sorted(doc.graphs.items())
        }
    return record


def from_record(record: Mapping[str, Any], strings: StringTable | None = None) -> Doc:
    """The document of a record.

    >>> doc = from_record({"text": "Dogs bark", "tokens": [[0, 4], [5, 9]], "sentences": [0, 2]})
    >>> doc.sentences[0].words
    [Word('Dogs'), Word('bark')]
    """
    text = record.get("text")
    if not isinstance(text, str):
        raise WeftError('a document needs its text: expected a string under "text"')
    doc = Doc(text, strings, dict(record.get("meta", {})))
    tokens = np.asarray(record.get("tokens", []), dtype=np.int32).reshape(-1, 2)
    if len(tokens) and (
        (tokens[:, 0] > tokens[:, 1]).any() or (tokens[1:, 0] < tokens[:-1, 1]).any() or tokens[0, 0] < 0
    ):
        raise WeftError('"tokens" must be pairs of character offsets in ascending order')
    if len(tokens) and tokens[-1, 1] > len(text):
        raise WeftError(f"a token ends at character {int(tokens[-1, 1])} of a text of {len(text)} characters")
    doc.set_offsets(tokens[:, 0].copy(), tokens[:, 1].copy())
    if "words" in record:
        doc.word_token = np.asarray(record["words"], dtype=np.int32)
        if len(doc.word_token) and not 0 <= doc.word_token.min() <= doc.word_token.max() < len(tokens):
            raise WeftError(f'"words" names tokens that do not exist: there are {len(tokens)}')
    columns = dict(record.get("columns", {}))
    doc.set_column("form", columns.pop("form") if "form" in columns else _forms_in_text(doc))
    for name, values in columns.items():
        doc.set_column(name, values)
    if "sentences" in record:
        offsets = np.asarray(record["sentences"], dtype=np.int32)
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != doc.n_words or (np.diff(offsets) < 0).any():
            raise WeftError(f'"sentences" must rise from 0 to the number of words, {doc.n_words}')
        doc.set_sentences(offsets)
    if "head" in record:
        doc.head = np.asarray(record["head"], dtype=np.int32)
        _check_heads(doc)
    if "comments" in record:
        doc.comments = [tuple(lines) for lines in record["comments"]]
        if len(doc.comments) != doc.n_sentences:
            raise WeftError(f'"comments" holds {len(doc.comments)} lists for {doc.n_sentences} sentences')
    irregular_from_record(doc, record)
    return doc


def irregular_from_record(doc: Doc, record: Mapping[str, Any]) -> None:
    """Give a document the confidences, multiword tokens, empty nodes and layers of a record."""
    for name, values in record.get("confidence", {}).items():
        doc.confidence[name] = np.asarray(values, dtype=np.float32)
    doc.multiwords = [Multiword(first, end, tuple(fields)) for first, end, fields in record.get("multiwords", [])]
    doc.empty_nodes = [EmptyNode(s, after, n, tuple(fields)) for s, after, n, fields in record.get("empty_nodes", [])]
    layers_from_record(doc, record)


def layers_from_record(doc: Doc, record: Mapping[str, Any]) -> None:
    """Give a document the spans, relations, clusters, graphs and constituents of a record."""
    if "constituents" in record:
        doc.constituents = ConstituentLayer.of(doc.strings, record["constituents"])
        if len(doc.constituents) and int(doc.constituents.end.max()) > doc.n_words:
            raise WeftError(f'"constituents" holds phrases beyond the document\'s {doc.n_words} words')
    for name, layer in record.get("spans", {}).items():
        doc.spans[name] = _spans_from_record(doc, name, layer)
    for name, layer in record.get("relations", {}).items():
        relations = doc.relations[name] = RelationLayer(doc.strings, layer["spans"])
        for head, tail, label in layer["rows"]:
            relations.add(head, tail, label)
        _set_names(relations, layer, len(relations))
    for name, layer in record.get("clusters", {}).items():
        doc.clusters[name] = ClusterLayer(layer["spans"], layer["cluster"])
    for name, layer in record.get("graphs", {}).items():
        graph = doc.graphs[name] = GraphLayer(doc.strings, layer["spans"])
        for label, anchor in layer["nodes"]:
            graph.node(label, anchor)
        for source, target, label in layer["edges"]:
            graph.edge(source, target, label)
        _set_names(graph, layer, len(graph))


def same(one: Doc, other: Doc) -> bool:
    """Whether two documents hold the same.

    >>> same(Doc.from_words([["a", "b"]]), Doc.from_words([["a", "b"]])), same(Doc("a"), Doc("b"))
    (True, False)
    """
    return to_record(one) == to_record(other)


def _forms_in_text(doc: Doc) -> list[str]:
    """The text of every word's token."""
    text = doc.text
    starts, ends = doc.token_start[doc.word_token].tolist(), doc.token_end[doc.word_token].tolist()
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _check_heads(doc: Doc) -> None:
    if doc.head is None or len(doc.head) != doc.n_words:
        raise WeftError(f'"head" must hold one number per word: there are {doc.n_words} words')
    lengths = np.diff(doc.sentence_offsets)
    if lengths.sum() == doc.n_words and ((doc.head > np.repeat(lengths, lengths)) | (doc.head < -1)).any():
        raise WeftError('"head" names words outside their sentence: expected 0 to the sentence\'s length, -1: not set')


def _spans_to_record(layer: SpanLayer) -> Record:
    rows: list[list[Any]] = []
    for pieces, label in layer:
        rows.append([*pieces[0], label] if len(pieces) == 1 else [[list(piece) for piece in pieces], label])
    return {"unit": layer.unit, "rows": rows, **_names(layer.ids, layer.attributes)}


def _spans_from_record(doc: Doc, name: str, layer: Mapping[str, Any]) -> SpanLayer:
    unit = layer.get("unit", "words")
    if unit not in ("words", "chars"):
        raise WeftError(f"span layer {name!r} counts in {unit!r}: expected words or chars")
    result = SpanLayer(doc.strings, unit)
    limit = doc.n_words if unit == "words" else len(doc.text)
    for row in layer["rows"]:
        pieces = [(row[0], row[1])] if len(row) == 3 else [(start, end) for start, end in row[0]]
        if any(end > limit for _, end in pieces):
            raise WeftError(f"span {row} of layer {name!r} goes beyond the document's {limit} {unit}")
        result.add(pieces, row[-1])
    _set_names(result, layer, len(result))
    return result


def _names(ids: Sequence[str], attributes: Mapping[int, dict[str, Any]]) -> Record:
    record: Record = {}
    if any(ids):
        record["ids"] = list(ids)
    if attributes:
        record["attributes"] = [[number, values] for number, values in sorted(attributes.items())]
    return record


def _set_names(layer: SpanLayer | RelationLayer | GraphLayer, record: Mapping[str, Any], length: int) -> None:
    if "ids" in record:
        layer.ids = [*record["ids"], *[""] * (length - len(record["ids"]))]
    layer.attributes = {int(number): dict(values) for number, values in record.get("attributes", [])}

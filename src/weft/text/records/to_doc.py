"""Documents of records (see `weft.text.records.of_doc`)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Any

import numpy as np

from weft.errors import WeftError
from weft.text.constituents import ConstituentLayer
from weft.text.conventions.alternatives import KEY as ALTERNATIVES
from weft.text.doc import Doc, Multiword
from weft.text.layers import ClusterLayer, GraphLayer, RelationLayer, SpanLayer
from weft.text.records.of_doc import PLACES, ROOT, Record, first_words
from weft.text.strings import StringTable
from weft.text.validity import check_doc


def is_record(values: Mapping[str, Any]) -> bool:
    """Whether the values of a line of JSON are such a record, and not the lossless one of `weft.text.record`.

    >>> from weft.text.records import record_of
    >>> is_record(record_of(Doc("Hello"))), is_record({"text": "Hello"})
    (True, False)
    """
    lists = all(isinstance(values.get(key), list) for key in ("words", "sentences"))
    return "id" in values and lists and _by_layer(values)


def doc_of_record(record: Mapping[str, Any], strings: StringTable | None = None, *, check: bool = True) -> Doc:
    """The document of a record; `check` as in `weft.text.record.from_record`.

    >>> from weft.text.records import record_of
    >>> doc = Doc.from_words([["Ada", "left"]], head=[[2, 0]])
    >>> doc_of_record(record_of(doc)).same(doc)
    True
    """
    text = record.get("text")
    if not isinstance(text, str):
        raise WeftError('a document needs its text: expected a string under "text"')
    doc = Doc(text, strings, dict(record.get("meta", {})))
    if record.get("id"):
        doc.meta["id"] = record["id"]
    words = record["words"]
    _set_words(doc, words)
    _set_sentences(doc, record["sentences"])
    _set_heads(doc, words)
    for name, rows in record.get("spans", {}).items():
        doc.spans[name] = _span_layer(doc, rows)
    _set_layers(doc, record)
    if check:
        check_doc(doc, strict=False)
    return doc


def _by_layer(values: Mapping[str, Any]) -> bool:
    spans = values.get("spans")
    return isinstance(spans, dict) and all(isinstance(rows, list) for rows in spans.values())


def _set_words(doc: Doc, words: list[Record]) -> None:
    tokens: list[tuple[int, int]] = []
    word_token: list[int] = []
    several: list[tuple[int, int]] = []
    for token, group in groupby(range(len(words)), key=lambda i: words[i].get("token", ~i)):
        members = [words[i] for i in group]
        if token >= 0 and len(members) > 1:
            several.append((len(word_token), len(word_token) + len(members)))
        word_token += [len(tokens)] * len(members)
        tokens.append((members[0]["start"], members[-1]["end"]))
    doc.set_offsets([start for start, _ in tokens], [end for _, end in tokens])
    doc.word_token = np.array(word_token, dtype=np.int32)
    doc.set_column("form", [word["form"] for word in words])
    for name in dict.fromkeys(name for word in words for name in word if name not in (*PLACES, "form")):
        doc.set_column(name, [word.get(name, "") for word in words])
    for name in dict.fromkeys(name for word in words for name in word.get("confidence", {})):
        doc.confidence[name] = np.array([word["confidence"][name] for word in words], dtype=np.float32)
    for first, end in several:
        start, stop = tokens[word_token[first]]
        doc.multiwords.append(Multiword(first, end, (doc.text[start:stop], *[""] * 8)))


def _set_sentences(doc: Doc, sentences: list[Record]) -> None:
    if not sentences:
        return
    borders = [(row["first_word"], row["end_word"]) for row in sentences]
    offsets = [first for first, _ in borders]
    if offsets[0] != 0 or [end for _, end in borders] != [*offsets[1:], doc.n_words]:
        raise WeftError(f'"sentences" must hold every one of the {doc.n_words} words once, in order')
    if any("\n" in row.get("id", "") for row in sentences):
        raise WeftError("the id of a sentence holds a line break")
    doc.set_sentences([*offsets, doc.n_words])
    doc.comments = [(f"# sent_id = {row['id']}",) if row.get("id") else () for row in sentences]
    tasks = dict.fromkeys(task for row in sentences for task in row.get(ALTERNATIVES, {}))
    if tasks:
        doc.meta[ALTERNATIVES] = {task: [row[ALTERNATIVES][task] for row in sentences] for task in tasks}


def _set_heads(doc: Doc, words: list[Record]) -> None:
    if not any("head" in word for word in words):
        return
    heads = []
    for word, first in zip(words, first_words(doc), strict=True):
        head = word.get("head")
        heads.append(-1 if head is None else 0 if head == ROOT else head - first + 1)
    doc.head = np.array(heads, dtype=np.int32)


def _span_layer(doc: Doc, rows: list[Record]) -> SpanLayer:
    in_words = all("first_word" in row for row in rows) and doc.n_words > 0
    layer = SpanLayer(doc.strings, "words" if in_words else "chars")
    start, end = ("first_word", "end_word") if in_words else ("start", "end")
    for row in rows:
        pieces = [(piece[start], piece[end]) for piece in row.get("pieces", [row])]
        if not all(type(number) is int for piece in pieces for number in piece):
            raise WeftError(f"expected a span from one place to another, found {repr(row)[:60]}")
        number = layer.add(pieces, row["label"], row.get("name", ""))
        attributes = dict(row.get("attributes", {}))
        if row.get("probability") is not None:
            attributes["probability"] = row["probability"]
        if attributes:
            layer.attributes[number] = attributes
    return layer


def _set_layers(doc: Doc, record: Mapping[str, Any]) -> None:
    for name, rows in record.get("relations", {}).items():
        relations = doc.relations[name] = RelationLayer(doc.strings, rows[0]["spans"] if rows else "")
        for row in rows:
            number = relations.add(row["head"], row["tail"], row["label"], row.get("name", ""))
            if row.get("attributes"):
                relations.attributes[number] = dict(row["attributes"])
    for name, groups in record.get("clusters", {}).items():
        spans = groups[0]["spans"] if groups else ""
        cluster = [-1] * len(doc.spans.get(spans, ()))
        for number, group in enumerate(groups):
            for member in group["members"]:
                cluster[member] = number
        doc.clusters[name] = ClusterLayer(spans, cluster)
    for name, values in record.get("graphs", {}).items():
        graph = doc.graphs[name] = GraphLayer(doc.strings, values["spans"])
        for node in values["nodes"]:
            number = graph.node(node["label"], node["span"], node.get("name", ""))
            if node.get("attributes"):
                graph.attributes[number] = dict(node["attributes"])
        for edge in values["edges"]:
            graph.edge(edge["source"], edge["target"], edge["label"])
    if "constituents" in record:
        phrases = [(row["label"], row["first_word"], row["end_word"], row["parent"]) for row in record["constituents"]]
        doc.constituents = ConstituentLayer.of(doc.strings, phrases)

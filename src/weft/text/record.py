"""A document as plain values: everything in a `Doc` as lists, dictionaries, strings and numbers that JSON can hold.

The record is what JSONL writes, what `Doc.to_bytes` keeps beside its arrays, and how two documents are compared: with
`record(d)` the record of `d`, `d` and `e` hold the same exactly if `record(d) == record(e)`, whatever their tables.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import numpy as np

from weft.arrays import Ids, Singles
from weft.errors import WeftError
from weft.text.constituents import ConstituentLayer
from weft.text.doc import Doc, EmptyNode, Multiword
from weft.text.layers import ClusterLayer, GraphLayer, RelationLayer, SpanLayer
from weft.text.strings import StringTable
from weft.text.validity import check_doc

Record = dict[str, Any]

#: Numbers beyond this do not fit into 32 bits.
LARGEST = (1 << 31) - 1

#: Keys of a record; others belong to other tools.
KEYS = (
    "meta", "text", "tokens", "words", "sentences", "columns", "head", "confidence", "comments", "multiwords",
    "empty_nodes", "spans", "relations", "clusters", "graphs", "constituents",
)  # fmt: skip


_LAYERS = frozenset(("spans", "relations", "clusters", "graphs", "constituents"))


def to_record(doc: Doc) -> Record:
    """The document as plain values; what is not set is left out. Words name their tokens and have forms.

    >>> to_record(Doc.from_words([["Dogs", "bark"]], upos=[["NOUN", "VERB"]]))["columns"]
    {'form': ['Dogs', 'bark'], 'upos': ['NOUN', 'VERB']}
    """
    record: Record = {}
    if doc.meta:
        record["meta"] = doc.meta
    record["text"] = doc.text
    if len(doc.token_start):
        record["tokens"] = np.stack([doc.token_start, doc.token_end], axis=1).tolist()
        record["words"] = doc.word_token.tolist()
    if doc.n_sentences:
        record["sentences"] = doc.sentence_offsets.tolist()
    columns = {
        name: doc.strings.strings(ids)
        for name, ids in sorted(doc.columns.items())
        if ids.any() or (name == "form" and len(ids))
    }
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


def from_record(record: Mapping[str, Any], strings: StringTable | None = None, *, check: bool = True) -> Doc:
    """The document of a record.

    What is not of the right kind raises `WeftError`. Without `check`, the caller has to check the document before
    using it (`weft.text.validity`); that is faster for many documents at once.

    >>> doc = from_record({"text": "Dogs bark", "tokens": [[0, 4], [5, 9]], "sentences": [0, 2]})
    >>> doc.sentences[0].words
    [Word('Dogs'), Word('bark')]
    """
    text = record.get("text")
    if not isinstance(text, str):
        raise WeftError('a document needs its text: expected a string under "text"')
    doc = Doc(text, strings, dict(_mapping(record, "meta")))
    tokens = _pairs(record.get("tokens", []), "tokens")
    doc.set_offsets(tokens[:, 0].copy(), tokens[:, 1].copy())
    if "words" in record:
        doc.word_token = _row(record["words"], "words")
        if len(doc.word_token) and not 0 <= doc.word_token.min() <= doc.word_token.max() < len(tokens):
            raise WeftError(f'"words" names tokens that do not exist: there are {len(tokens)}')
    set_columns(doc, _mapping(record, "columns"))
    if "sentences" in record:
        offsets = _row(record["sentences"], "sentences")
        if not len(offsets) or offsets[0] != 0 or offsets[-1] != doc.n_words or (np.diff(offsets) < 0).any():
            raise WeftError(f'"sentences" must rise from 0 to the number of words, {doc.n_words}')
        doc.set_sentences(offsets)
    if "head" in record:
        doc.head = _row(record["head"], "head")
    irregular_from_record(doc, record)
    if check:
        check_doc(doc, strict=False)
    return doc


def set_columns(doc: Doc, columns: Mapping[str, Any]) -> None:
    """Give a document the columns of a record; its forms are those in the text unless a column gives them."""
    for name, values in columns.items():
        if not isinstance(values, list):
            raise WeftError(f"column {name!r} must be a list of strings, one per word")
        if name != "form":
            doc.set_column(name, values)
    if "form" in columns:
        doc.set_column("form", columns["form"])
    elif doc.n_words != len(doc.columns["form"]) or doc.n_words != len(doc.token_start):
        doc.set_column("form", _forms_in_text(doc))


def irregular_from_record(doc: Doc, record: Mapping[str, Any]) -> None:
    """Give a document the comments, confidences, multiword tokens, empty nodes and layers of a record."""
    if "comments" in record:
        doc.comments = _comments(_list(record, "comments"))
    if "confidence" in record:
        for name, values in _mapping(record, "confidence").items():
            doc.confidence[name] = _probabilities(values, name)
    if "multiwords" in record:
        rows = _list(record, "multiwords")
        doc.multiwords = [Multiword(first, end, tuple(fields)) for first, end, fields in rows]
    if "empty_nodes" in record:
        nodes = _list(record, "empty_nodes")
        doc.empty_nodes = [EmptyNode(s, after, n, tuple(fields)) for s, after, n, fields in nodes]
    if not _LAYERS.isdisjoint(record):
        layers_from_record(doc, record)


def layers_from_record(doc: Doc, record: Mapping[str, Any]) -> None:
    """Give a document the spans, relations, clusters, graphs and constituents of a record."""
    if "constituents" in record:
        rows = _list(record, "constituents")
        if not all(isinstance(row[0], str) and _whole(*row[1:]) for row in rows):
            raise WeftError('"constituents" must hold rows of a label, first word, end and parent')
        doc.constituents = ConstituentLayer.of(doc.strings, rows)
        if len(doc.constituents) and int(doc.constituents.end.max()) > doc.n_words:
            raise WeftError(f'"constituents" holds phrases beyond the document\'s {doc.n_words} words')
    for name, layer in _mapping(record, "spans").items():
        doc.spans[name] = _spans_from_record(doc, name, layer)
    for name, layer in _mapping(record, "relations").items():
        relations = doc.relations[name] = RelationLayer(doc.strings, _layer_name(layer))
        for head, tail, label in layer["rows"]:
            _check_whole(name, head, tail)
            relations.add(head, tail, label)
        _set_names(relations, layer, len(relations))
    for name, layer in _mapping(record, "clusters").items():
        doc.clusters[name] = ClusterLayer(_layer_name(layer), _row(layer["cluster"], "cluster").tolist())
    for name, layer in _mapping(record, "graphs").items():
        graph = doc.graphs[name] = GraphLayer(doc.strings, _layer_name(layer))
        for label, anchor in layer["nodes"]:
            _check_whole(name, anchor)
            graph.node(label, anchor)
        for source, target, label in layer["edges"]:
            _check_whole(name, source, target)
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


def _mapping(record: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    values = record.get(key, {})
    if not isinstance(values, dict):
        raise WeftError(f'"{key}" must hold values by name, not {_shown(values)}')
    return values


def _list(record: Mapping[str, Any], key: str) -> list[Any]:
    values = record.get(key, [])
    if not isinstance(values, list | tuple):
        raise WeftError(f'"{key}" must hold a list, not {_shown(values)}')
    return list(values)


def _row(values: Any, key: str) -> Ids:
    """Whole numbers of 32 bits; anything else is refused, where NumPy would truncate or parse it."""
    if not isinstance(values, list):
        raise WeftError(f'"{key}" must hold a list of whole numbers')
    return _integers(values, key)


def _pairs(values: Any, key: str) -> Ids:
    if not isinstance(values, list) or not set(map(len, values)) <= {2}:
        raise WeftError(f'"{key}" must be pairs of character offsets in ascending order')
    return _integers(chain.from_iterable(values), key).reshape(-1, 2)


def _integers(values: Iterable[Any], key: str) -> Ids:
    try:
        return np.frombuffer(array("i", values), dtype=np.int32)
    except TypeError as error:
        raise WeftError(f'"{key}" must hold whole numbers, and nothing else') from error
    except OverflowError as error:
        raise WeftError(f'"{key}" holds a number beyond {LARGEST:,}') from error


def _probabilities(values: Any, name: str) -> Singles:
    try:
        exact = array("d", values if isinstance(values, list) else [values])
        with np.errstate(over="ignore"):  # infinity is no probability either
            return np.frombuffer(exact, dtype=np.float64).astype(np.float32)
    except (TypeError, OverflowError) as error:
        raise WeftError(f'"confidence" must hold a list of probabilities for {name!r}') from error


def _comments(sentences: list[Any]) -> list[tuple[str, ...]]:
    try:
        good = all(map(str.startswith, chain.from_iterable(sentences), repeat("#")))
        good = good and "\n" not in "".join(chain.from_iterable(sentences))
    except TypeError:
        good = False
    if not good:
        raise WeftError('"comments" must hold a list of lines that begin with # for every sentence')
    return list(map(tuple, sentences))


def _layer_name(layer: Mapping[str, Any]) -> str:
    name = layer["spans"]
    if not isinstance(name, str):
        raise WeftError(f"expected the name of a span layer, found {_shown(name)}")
    return name


def _whole(*numbers: object) -> bool:
    return all(type(number) is int and -LARGEST <= number <= LARGEST for number in numbers)


def _check_whole(layer: str, *numbers: object) -> None:
    if not _whole(*numbers):
        raise WeftError(f"layer {layer!r} must name its members by numbers, not {_shown(list(numbers))}")


def _shown(value: object) -> str:
    return repr(value)[:60]


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
        if not all(_whole(start, end) for start, end in pieces):
            raise WeftError(f"span {_shown(row)} of layer {name!r} needs whole numbers")
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
        names = _list(record, "ids")
        layer.ids = [*names, *[""] * (length - len(names))]
    layer.attributes = {}
    for number, values in _list(record, "attributes"):
        if not _whole(number) or not isinstance(values, dict):
            raise WeftError('"attributes" must hold pairs of a number and values by name')
        layer.attributes[number] = dict(values)

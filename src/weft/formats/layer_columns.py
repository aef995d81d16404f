"""Spans, relations and clusters as columns of Arrow: lists of structs, which DuckDB, Polars, pandas and Spark unnest.

| column | fields of its structs |
|---|---|
| `spans` | `layer`, `start`, `end`, `label`, `text`, `probability`, `unit`, `pieces`, `name`, `attributes` |
| `relations` | `layer`, `spans`, `head`, `tail` (indices of spans in their layer), `label`, `name`, `attributes` |
| `clusters` | `layer`, `spans`, `cluster`, `members` (indices of spans in their layer) |

`start` and `end` count characters, `pieces` in the layer's `unit`, words or chars; `attributes` are JSON, null if there
are none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from weft.errors import WeftError
from weft.text.doc import Doc
from weft.text.layers import ClusterLayer, RelationLayer, SpanLayer
from weft.text.records.of_doc import span_records

COLUMNS = ("spans", "relations", "clusters")
Row = dict[str, Any]


def arrow_types() -> dict[str, Any]:
    """The Arrow types of the columns."""
    import pyarrow

    text, number = pyarrow.string(), pyarrow.int32()
    piece = pyarrow.struct([("start", number), ("end", number)])
    common = [("name", text), ("attributes", text)]
    span = [
        ("layer", text), ("start", number), ("end", number), ("label", text), ("text", text),
        ("probability", pyarrow.float64()), ("unit", text), ("pieces", pyarrow.list_(piece)), *common,
    ]  # fmt: skip
    relation = [("layer", text), ("spans", text), ("head", number), ("tail", number), ("label", text), *common]
    cluster = [("layer", text), ("spans", text), ("cluster", number), ("members", pyarrow.list_(number))]
    fields = dict(zip(COLUMNS, (span, relation, cluster), strict=True))
    return {name: pyarrow.list_(pyarrow.struct(members)) for name, members in fields.items()}


def rows_of(doc: Doc) -> dict[str, list[Row]]:
    """The structs of a document for every column.

    >>> doc = Doc.from_words([["Ada", "left"]])
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    >>> {name: value for name, value in rows_of(doc)["spans"][0].items() if value is not None}  # doctest: +ELLIPSIS
    {'layer': 'entities', 'start': 0, 'end': 3, 'label': 'PER', 'text': 'Ada', 'unit': 'words', 'pieces': [{...}]}
    """
    return {
        "spans": [row for name, layer in doc.spans.items() for row in _spans(doc, name, layer)],
        "relations": [row for name, layer in doc.relations.items() for row in _relations(name, layer)],
        "clusters": [row for name, layer in doc.clusters.items() for row in _clusters(name, layer)],
    }


def layer_names(doc: Doc) -> dict[str, dict[str, str]]:
    """What rows do not tell of layers, which may be empty: the units of span layers, the spans of the others."""
    named: dict[str, dict[str, str]] = {
        "spans": {name: layer.unit for name, layer in doc.spans.items()},
        "relations": {name: layer.spans for name, layer in doc.relations.items()},
        "clusters": {name: layer.spans for name, layer in doc.clusters.items()},
    }
    return {column: names for column, names in named.items() if names}


def set_layers(doc: Doc, named: Mapping[str, Mapping[str, str]], rows: Mapping[str, Sequence[Row] | None]) -> None:
    """Give a document the layers that `layer_names` and `rows_of` told."""
    for name, unit in named.get("spans", {}).items():
        if unit not in ("words", "chars"):
            raise WeftError(f"span layer {name!r} counts in {unit!r}: expected words or chars")
        doc.spans[name] = SpanLayer(doc.strings, unit)  # type: ignore[arg-type]
    for row in rows.get("spans") or ():
        layer = doc.spans[row["layer"]]
        pieces = [(piece["start"], piece["end"]) for piece in row["pieces"]]
        probability = {} if row["probability"] is None else {"probability": row["probability"]}
        _attribute(layer, layer.add(pieces, row["label"], row["name"] or ""), row, probability)
    for name, spans in named.get("relations", {}).items():
        doc.relations[name] = RelationLayer(doc.strings, spans)
    for row in rows.get("relations") or ():
        relations = doc.relations[row["layer"]]
        _attribute(relations, relations.add(row["head"], row["tail"], row["label"], row["name"] or ""), row, {})
    clusters = {name: [-1] * len(doc.spans[spans]) for name, spans in named.get("clusters", {}).items()}
    for row in rows.get("clusters") or ():
        for member in row["members"]:
            clusters[row["layer"]][member] = row["cluster"]
    for name, numbers in clusters.items():
        doc.clusters[name] = ClusterLayer(named["clusters"][name], numbers)


def _spans(doc: Doc, name: str, layer: SpanLayer) -> list[Row]:
    rows = []
    for number, (record, given) in enumerate(zip(span_records(doc, layer), layer, strict=True)):
        attributes = dict(layer.attributes.get(number, {}))
        probability = attributes.pop("probability", None)
        if probability is not None and type(probability) is not float:  # it would not come back as it was
            attributes["probability"], probability = probability, None
        rows.append({
            "layer": name, **{key: record[key] for key in ("start", "end", "label", "text")},
            "probability": probability, "unit": layer.unit,
            "pieces": [{"start": start, "end": end} for start, end in given.pieces],
            "name": layer.id(number) or None, "attributes": _packed(attributes),
        })  # fmt: skip
    return rows


def _relations(name: str, layer: RelationLayer) -> list[Row]:
    return [
        {"layer": name, "spans": layer.spans, "head": head, "tail": tail, "label": label,
         "name": layer.ids[number] or None, "attributes": _packed(layer.attributes.get(number, {}))}
        for number, (head, tail, label) in enumerate(layer)
    ]  # fmt: skip


def _clusters(name: str, layer: ClusterLayer) -> list[Row]:
    members: dict[int, list[int]] = {}
    for span, cluster in enumerate(layer.cluster.tolist()):
        if cluster >= 0:
            members.setdefault(cluster, []).append(span)
    return [
        {"layer": name, "spans": layer.spans, "cluster": cluster, "members": spans}
        for cluster, spans in members.items()
    ]


def _packed(attributes: Mapping[str, Any]) -> str | None:
    return json.dumps(attributes, ensure_ascii=False, allow_nan=False) if attributes else None


def _attribute(layer: SpanLayer | RelationLayer, number: int, row: Row, more: Row) -> None:
    attributes = {**(json.loads(row["attributes"]) if row["attributes"] else {}), **more}
    if attributes:
        layer.attributes[number] = attributes

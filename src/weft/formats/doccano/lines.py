"""doccano's JSON Lines, as its versions export and import them: one text per line.

    {"id": 1, "text": "Ada left Oslo.", "label": [[0, 3, "PER"], [9, 13, "LOC"]]}
    {"id": 2, "text": "Ada left Oslo.", "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 3},
     {"id": 2, "label": "LOC", "start_offset": 9, "end_offset": 13}],
     "relations": [{"id": 1, "from_id": 1, "to_id": 2, "type": "left"}]}
    {"id": 3, "text": "Fine.", "label": ["positive"]}

| key | becomes |
|---|---|
| `label`, `labels` with triples; `entities`; `annotations` with offsets | spans of the layer `entities` |
| `relations` | the relation layer `relations` |
| `label`, `labels` with names; `cats`; `annotations` without offsets | `doc.meta["document_labels"]["label"]` |
| `annotation_approver`, `username` | `doc.meta["annotator"]` |
| `meta` and all other keys | metadata |

Offsets count characters; `annotations` of old exports (JSON) name labels by numbers, which become names. Documents with
relations, gaps, or both spans and labels are written in the second form, others in the first or third. Only the layer
`entities` is written: doccano has one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats.exchange.regions import (
    LABELS,
    RELATIONS,
    SPANS,
    Link,
    Region,
    checked,
    has_labels,
    labels_of,
    regions_of,
    sentiment_of,
    set_labels,
    set_regions,
)
from weft.formats.jsonl import list_of, read_texts
from weft.formats.streams import Faults, write_texts
from weft.text.doc import Doc
from weft.text.layers import RelationLayer

#: What document labels are called in doccano, which asks one question per project.
QUESTION = "label"
_OWN = ("label", "labels", "entities", "relations", "annotations", "cats", "meta")
_SPAN = 'a span such as [0, 3, "PER"] or {"start_offset": 0, "end_offset": 3, "label": "PER"}'
_RELATION = 'a relation such as {"from_id": 1, "to_id": 2, "type": "left"}'


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents of an export or of a file to import."""

    def fill(doc: Doc, values: dict[str, Any], number: int) -> None:
        _Line(path, number).fill(doc, values)

    yield from read_texts(path, fill, _OWN, faults, encoding)


class _Line:
    """Reads one line."""

    def __init__(self, path: str, number: int) -> None:
        self.path, self.number = path, number

    def fault(self, expected: str, found: object) -> FormatError:
        return FormatError(self.path, self.number, expected, found if isinstance(found, str) else repr(found)[:60])

    def fill(self, doc: Doc, values: dict[str, Any]) -> None:
        about = values.get("meta")
        if isinstance(about, dict):
            doc.meta = {**about, **doc.meta}
        elif about not in (None, "", []):
            doc.meta["meta"] = about
        for key in ("annotation_approver", "username"):
            if isinstance(values.get(key), str) and values[key]:
                doc.meta["annotator"] = values[key]
                doc.meta.pop(key)
                break
        for empty in ("Comments", "annotation_approver"):
            if doc.meta.get(empty, 0) in ([], None, ""):
                del doc.meta[empty]
        regions: list[Region] = []
        names: list[str] = []
        spans = "entities" in values
        for key in ("label", "labels", "entities", "annotations", "cats"):
            given = values.get(key)
            if isinstance(given, str) and key != "entities":
                given = [given]
            if given is None:
                continue
            if not isinstance(given, list):
                raise self.fault(f"a list under {key!r}", given)
            for each in given:
                if isinstance(each, list) or (isinstance(each, dict) and "start_offset" in each):
                    regions.append(self._region(each, len(doc.text)))
                    spans = True
                elif key == "entities":
                    raise self.fault(_SPAN, each)
                else:
                    names.append(self._label(each["label"] if isinstance(each, dict) and "label" in each else each))
            # An empty list is one of spans, as far as anybody can tell, unless it can only be one of labels.
            spans |= not given and key in ("label", "labels") and not names
        links = [self._link(each) for each in list_of(self.path, self.number, values, "relations")]
        # Names of several questions stand in the metadata; what is in the line is then the same without them.
        known = [each for own in labels_of(doc).values() for each in own] if LABELS in doc.meta else None
        if (names or "cats" in values) and known != names:
            set_labels(doc, QUESTION, names)
        set_regions(doc, regions, links, self.fault, (SPANS,) if spans or links else ())
        if "relations" in values and SPANS in doc.spans:
            doc.relations.setdefault(RELATIONS, RelationLayer(doc.strings, SPANS))

    def _region(self, values: Any, limit: int) -> Region:
        if isinstance(values, dict):
            found = [values.get(key) for key in ("start_offset", "end_offset", "label")]
            name = values.get("id")
        else:
            found, name = values, None
        if len(found) != 3:
            raise self.fault(_SPAN, values)
        start, end = checked(found[0], found[1], limit, self.fault)
        if name is not None and type(name) not in (int, str):
            raise self.fault("the number of a span", name)
        return Region("" if name is None else str(name), start, end, self._label(found[2]))

    def _label(self, value: Any) -> str:
        if type(value) not in (str, int):
            raise self.fault("a label", value)
        return str(value)

    def _link(self, values: Any) -> Link:
        if not isinstance(values, dict) or type(values.get("type", "")) not in (str, int):
            raise self.fault(_RELATION, values)
        ends = [values.get(key) for key in ("from_id", "to_id")]
        if any(type(end) not in (int, str) for end in ends):
            raise self.fault(_RELATION, values)
        name = values.get("id")
        return Link(str(ends[0]), str(ends[1]), str(values.get("type", "")), str(name) if type(name) is int else "")


def write(docs: Iterable[Doc], path: str) -> int:
    """Write the spans, relations and labels of documents and return the number of documents."""
    return write_texts(map(to_line, docs), path)


def to_line(doc: Doc) -> str:
    """A document as one line of JSON.

    >>> from weft.text import SpanLayer
    >>> doc = Doc("Ada left.", meta={"id": "a"})
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 3, "PER")], "chars")
    >>> to_line(doc)
    '{"id": "a", "text": "Ada left.", "label": [[0, 3, "PER"]]}\\n'
    """
    values: dict[str, Any] = ({"id": doc.id} if doc.id else {}) | {"text": doc.text}
    regions, links = regions_of(doc, [SPANS])
    labels = [label for own in labels_of(doc).values() for label in own]
    about = {name: value for name, value in doc.meta.items() if name not in _told(doc)}
    related = RELATIONS in doc.relations and doc.relations[RELATIONS].spans == SPANS
    if links or related or (SPANS in doc.spans and labels):
        number_of = {region.name: number for number, region in enumerate(regions, start=1)}
        if len(number_of) == len(regions) and all(name.isascii() and name.isdigit() for name in number_of):
            number_of = {name: int(name) for name in number_of}
        values["entities"] = [
            {"id": number_of[each.name], "label": each.label, "start_offset": each.start, "end_offset": each.end}
            for each in regions
        ]
        values["relations"] = [
            {
                "id": _number(each.name, number),
                "from_id": number_of[each.head],
                "to_id": number_of[each.tail],
                "type": each.label,
            }
            for number, each in enumerate(links, start=1)
        ]
        values |= {"cats": labels} if labels else {}
    elif regions or SPANS in doc.spans:
        values["label"] = [[each.start, each.end, each.label] for each in regions]
    elif labels or labels_of(doc):
        values["label"] = labels
    who = doc.meta.get("annotator")
    values |= {"annotation_approver": who} if isinstance(who, str) and who else {}
    values |= {"meta": about} if about else {}
    try:
        return json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise WeftError(f"{doc!r}: metadata holds a value that JSON cannot represent: {error}") from error


def _number(name: str, other: int) -> int:
    return int(name) if name.isascii() and name.isdigit() else other


def _told(doc: Doc) -> set[str]:
    """The metadata that stand elsewhere in the line; the names of several questions stand nowhere else."""
    labels = labels_of(doc)
    told = {"id"} if doc.id else set()
    told |= {LABELS} if has_labels(doc.meta.get(LABELS)) and labels.keys() <= {QUESTION} else set()
    told |= {"sentiment"} if sentiment_of(doc) and list(labels.values()) == [[sentiment_of(doc)]] else set()
    return told | ({"annotator"} if isinstance(doc.meta.get("annotator"), str) and doc.meta["annotator"] else set())

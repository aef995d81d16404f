"""Prodigy's JSON Lines (`prodigy db-out`, `db-in`): one task per line, with its answer.

    {"text": "Ada left Oslo.", "meta": {"source": "diary"},
     "tokens": [{"text": "Ada", "start": 0, "end": 3, "id": 0, "ws": true}],
     "spans": [{"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER"}],
     "relations": [], "options": [], "accept": [], "answer": "accept"}

| key | becomes |
|---|---|
| `tokens` | words; `token_end` is the last token, not one past it |
| `spans` | spans of the layer `entities`, other keys of a span its attributes |
| `relations` | the relation layer `relations`; a span that only a relation names is one without a label |
| `accept`, and `label` of an accepted answer | `doc.meta["document_labels"]["label"]` |
| `_annotator_id` | `doc.meta["annotator"]` |
| `meta` | metadata; all other keys are kept in `doc.meta["prodigy"]` |

Spans and relations of an answer that is `reject` are layers called `rejected`, and for `ignore` they are `ignored`:
those say nothing of what is right, so nothing learns from them by mistake. Offsets count characters.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats.exchange.regions import (
    IGNORED,
    LABELS,
    REJECTED,
    SPANS,
    Link,
    Region,
    checked,
    has_labels,
    labels_of,
    regions_of,
    relations_of,
    sentiment_of,
    set_labels,
    set_regions,
)
from weft.formats.jsonl import list_of, read_texts
from weft.formats.streams import Faults, write_texts
from weft.text.doc import Doc
from weft.text.layers import RelationLayer

#: The key of metadata for what Prodigy says and a document has no layer for.
KEY = "prodigy"
QUESTION = "label"
ANSWERS = {"accept": SPANS, "reject": REJECTED, "ignore": IGNORED}
_READ = ("tokens", "spans", "relations", "meta")
_PLACES = ("start", "end", "label", "id", "token_start", "token_end")
_SPAN = 'a span such as {"start": 0, "end": 3, "label": "PER"}'
_TOKEN = 'a token such as {"text": "Ada", "start": 0, "end": 3, "id": 0}'
_RELATION = 'a relation such as {"head": 0, "child": 2, "label": "left"}'


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents of an export or of a file to import."""

    def fill(doc: Doc, values: dict[str, Any], number: int) -> None:
        _Line(path, number).fill(doc, values)

    yield from read_texts(path, fill, _READ, faults, encoding)


class _Line:
    """Reads one line."""

    def __init__(self, path: str, number: int) -> None:
        self.path, self.number = path, number

    def fault(self, expected: str, found: object) -> FormatError:
        return FormatError(self.path, self.number, expected, found if isinstance(found, str) else repr(found)[:60])

    def fill(self, doc: Doc, values: dict[str, Any]) -> None:
        about = values.get("meta") or {}
        if not isinstance(about, dict):
            raise self.fault("metadata by name", about)
        others = {name: value for name, value in doc.meta.items() if name != "id"}
        name = doc.id
        doc.meta = dict(about)
        if name:
            doc.id = name
        answer = others.get("answer", "accept")
        if not isinstance(answer, str) or answer not in ANSWERS:
            raise self.fault(f"an answer that is one of {', '.join(ANSWERS)}", answer)
        layer = ANSWERS[answer]
        self._tokens(doc, values)
        regions = [self._span(each, doc, layer) for each in list_of(self.path, self.number, values, "spans")]
        links = self._relations(doc, list_of(self.path, self.number, values, "relations"), regions, layer)
        if "spans" in values or links:
            set_regions(doc, regions, links, self.fault, (layer,))
        if "relations" in values and layer in doc.spans:
            doc.relations.setdefault(relations_of(layer), RelationLayer(doc.strings, layer))
        if layer == SPANS:
            self._labels(doc, others)
        who = others.get("_annotator_id")
        if isinstance(who, str) and who:
            doc.meta["annotator"] = who
        if others:
            doc.meta[KEY] = others

    def _tokens(self, doc: Doc, values: dict[str, Any]) -> None:
        tokens = list_of(self.path, self.number, values, "tokens")
        places, reached = [], 0
        for number, token in enumerate(tokens):
            if not isinstance(token, dict) or token.get("id", number) != number:
                raise self.fault(f"{_TOKEN}, numbered from 0", token)
            start, end = checked(token.get("start"), token.get("end"), len(doc.text), self.fault)
            if start < reached or token.get("text", doc.text[start:end]) != doc.text[start:end]:
                raise self.fault("tokens of the text, in its order", token)
            places.append((start, end))
            reached = end
        if places:
            doc.set_offsets(*zip(*places, strict=True))
            doc.set_sentences([0, len(places)])

    def _span(self, values: Any, doc: Doc, layer: str) -> Region:
        if not isinstance(values, dict):
            raise self.fault(_SPAN, values)
        start, end = checked(values.get("start"), values.get("end"), len(doc.text), self.fault)
        if isinstance(values.get("text"), str) and values["text"] != doc.text[start:end]:
            raise self.fault(f"a span that covers {values['text']!r}"[:80], doc.text[start:end])
        name, label = values.get("id"), values.get("label")
        if type(label) not in (str, int, type(None)) or type(name) not in (str, int, type(None)):
            raise self.fault(_SPAN, values)
        others = {key: value for key, value in values.items() if key not in _PLACES and key != "text"}
        return Region(
            "" if name is None else str(name), start, end, "" if label is None else str(label), layer, others
        )  # fmt: skip

    def _relations(self, doc: Doc, values: list[Any], regions: list[Region], layer: str) -> list[Link]:
        """Links between spans, which get names; spans that no list names are added."""
        known: dict[tuple[int, int, str, str], int] = {}
        for number, region in enumerate(regions):
            known.setdefault((region.start, region.end, region.label, region.name), number)
            known.setdefault((region.start, region.end, region.label, ""), number)
        taken = {region.name for region in regions}
        links = []
        for each in values:
            label = each.get("label", "") if isinstance(each, dict) else None
            if not isinstance(label, str | int) or isinstance(label, bool):
                raise self.fault(_RELATION, each)
            ends = []
            for side in ("head", "child"):
                region = self._side(each, side, doc, layer)
                place = (region.start, region.end, region.label, region.name)
                number = known.get(place, known.get((*place[:3], ""), -1))
                if number < 0:
                    number = len(regions)
                    regions.append(region)
                    known[place] = known[(*place[:3], "")] = number
                if not regions[number].name:
                    own = f"s{number + 1}"
                    while own in taken:
                        own += "'"
                    taken.add(own)
                    regions[number] = regions[number]._replace(name=own)
                ends.append(regions[number].name)
            links.append(Link(ends[0], ends[1], str(label)))
        return links

    def _side(self, values: dict[str, Any], side: str, doc: Doc, layer: str) -> Region:
        if isinstance(values.get(f"{side}_span"), dict):
            return self._span(values[f"{side}_span"], doc, layer)._replace(attributes={})
        number = values.get(side)
        if type(number) is not int or not 0 <= number < doc.n_words:
            raise self.fault(f"the number of a token from 0 to {doc.n_words - 1} as {side!r}, or a span", number)
        return Region("", int(doc.token_start[number]), int(doc.token_end[number]), "", layer)

    def _labels(self, doc: Doc, others: dict[str, Any]) -> None:
        """What was chosen; what was offered stays as it is."""
        if "accept" in others:
            chosen = others.pop("accept")
            if not isinstance(chosen, list) or not all(type(each) in (str, int) for each in chosen):
                raise self.fault("a list of chosen options", chosen)
            set_labels(doc, QUESTION, [str(each) for each in chosen])
        elif isinstance(others.get("label"), str):
            set_labels(doc, QUESTION, [others["label"]])


def write(docs: Iterable[Doc], path: str) -> int:
    """Write the words, spans, relations and labels of documents and return the number of documents."""
    return write_texts(map(to_line, docs), path)


def to_line(doc: Doc) -> str:
    """A document as one line of JSON.

    >>> from weft.text import SpanLayer
    >>> doc = Doc("Ada left.", meta={"id": "a"})
    >>> doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 3, "PER")], "chars")
    >>> to_line(doc)
    '{"text": "Ada left.", "meta": {"id": "a"}, "spans": [{"start": 0, "end": 3, "label": "PER"}]}\\n'
    """
    given = doc.meta.get(KEY)
    others = dict(given) if isinstance(given, dict) else {}
    answer = others.get("answer")
    layer = ANSWERS.get(answer, SPANS) if isinstance(answer, str) else SPANS
    if answer is None and SPANS not in doc.spans:
        answer = next((name for name, own in ANSWERS.items() if own in doc.spans), None)
        layer = ANSWERS[answer] if answer else SPANS
    values: dict[str, Any] = {"text": doc.text}
    about = {name: value for name, value in doc.meta.items() if name not in _told(doc)}
    values |= {"meta": about} if about else {}
    starts, ends = doc.token_start.tolist(), doc.token_end.tolist()
    if starts:
        values["tokens"] = [
            {
                "text": doc.text[start:end],
                "start": start,
                "end": end,
                "id": number,
                "ws": doc.text[end : end + 1] == " ",
            }
            for number, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]
    first_of, last_of = ({place: number for number, place in enumerate(places)} for places in (starts, ends))
    regions, links = regions_of(doc, [layer])
    named = set(doc.spans[layer].ids) - {""} if layer in doc.spans else set()
    alike = Counter((region.start, region.end, region.label) for region in regions)
    shown: dict[str, dict[str, Any]] = {}
    for region in regions:
        span: dict[str, Any] = {"start": region.start, "end": region.end}
        if region.start in first_of and region.end in last_of:
            span |= {"token_start": first_of[region.start], "token_end": last_of[region.end]}
        span["label"] = region.label
        own = region.name in named or alike[region.start, region.end, region.label] > 1
        shown[region.name] = span | ({"id": region.name} if own else {})
    ends_of_links = {name for link in links for name in (link.head, link.tail)}
    if layer in doc.spans:
        values["spans"] = [
            {**{k: v for k, v in each.attributes.items() if k not in _PLACES}, **shown[each.name]}
            for each in regions
            if each.label or each.attributes or each.name not in ends_of_links
        ]
    related = relations_of(layer) in doc.relations
    if links or related:
        values["relations"] = [_relation(link, shown) for link in links]
    labels = labels_of(doc)
    chosen = [label for own in labels.values() for label in own]
    if layer == SPANS and labels and chosen != [others.get("label")]:
        options = others.get("options")
        ids = (
            {str(each["id"]): each["id"] for each in options if isinstance(each, dict) and "id" in each}
            if isinstance(options, list)
            else {}
        )
        values |= {} if ids else {"options": [{"id": label, "text": label} for label in dict.fromkeys(chosen)]}
        values["accept"] = [ids.get(label, label) for label in chosen]
        others = others if ids else {name: value for name, value in others.items() if name != "options"}
    values |= {name: value for name, value in others.items() if name not in values}
    who = doc.meta.get("annotator")
    values |= {"_annotator_id": who} if isinstance(who, str) and who else {}
    values |= {"answer": answer} if answer else {}
    try:
        return json.dumps(values, ensure_ascii=False, allow_nan=False) + "\n"
    except (TypeError, ValueError, RecursionError) as error:
        raise WeftError(f"{doc!r}: metadata holds a value that JSON cannot represent: {error}") from error


def _relation(link: Link, shown: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A relation between two spans; as in Prodigy, the last token of a span stands for it."""
    found: dict[str, Any] = {}
    for side, name in (("head", link.head), ("child", link.tail)):
        if "token_end" in shown[name]:
            found[side] = shown[name]["token_end"]
    return found | {"head_span": shown[link.head], "child_span": shown[link.tail], "label": link.label}


def _told(doc: Doc) -> set[str]:
    """The metadata that stand elsewhere in the line."""
    labels = labels_of(doc)
    told = {KEY} if isinstance(doc.meta.get(KEY), dict) else set()
    told |= {LABELS} if has_labels(doc.meta.get(LABELS)) and labels.keys() <= {QUESTION} else set()
    told |= {"sentiment"} if sentiment_of(doc) and list(labels.values()) == [[sentiment_of(doc)]] else set()
    return told | ({"annotator"} if isinstance(doc.meta.get("annotator"), str) and doc.meta["annotator"] else set())

"""Tasks of Label Studio: the export (JSON, JSON_MIN) and what it imports, as an array or one task per line.

    [{"id": 1, "data": {"text": "Ada left.", "source": "diary"},
      "annotations": [{"completed_by": 7, "lead_time": 4.2, "result": [
        {"id": "r1", "from_name": "label", "to_name": "text", "type": "labels",
         "value": {"start": 0, "end": 3, "text": "Ada", "labels": ["PER"]}}]}],
      "predictions": [{"model_version": "en", "score": 0.9, "result": []}]}]

| in a task | becomes |
|---|---|
| a result of the type `labels` | a span per label; the control's name is the layer, `label` is `entities` |
| `relation` | a relation of the regions' layer (`weft.formats.exchange.regions`); both ways if it has both directions |
| `choices` | labels of the document, by the control's name: `doc.meta["document_labels"]["sentiment"]` |
| other results, cancelled annotations, relations between layers | kept as they are in `doc.meta["label_studio"]` |
| keys of `data` beside the text | metadata |
| `completed_by`, `lead_time` | `doc.meta["annotator"]`, `doc.meta["seconds"]` |

A task with several annotations becomes a document for each, and documents of one task that follow each other become one
task again. A task with predictions only becomes a document with those of the first one; what no person has seen is
written as a prediction, which Label Studio shows for correction.

Label Studio counted UTF-16 units before it counted characters: regions tell by their `text` which ones they mean.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from weft.errors import FormatError, WeftError
from weft.formats.exchange.arrays import array_items
from weft.formats.exchange.offsets import Units, chars_of
from weft.formats.exchange.regions import (
    LABELS,
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
from weft.formats.gate import admitted
from weft.formats.streams import Faults, open_output
from weft.text.doc import Doc
from weft.text.strings import StringTable
from weft.text.validity import check_nesting

#: The key of metadata for what Label Studio says and a document has no layer for.
KEY = "label_studio"
TEXT = "text"
#: The control of the layer `entities`, as templates of Label Studio call it, and how a layer of that name is written.
CONTROL, SAME_NAME = "label", "layer:label"
_OWN = {"id", "from_name", "to_name", "type", "value", "score", "meta"}
_TASK = 'a task such as {"data": {"text": ...}}'
_RESULT = 'a result such as {"type": "labels", "value": {"start": 0, "end": 3, "labels": ["PER"]}}'


def read(path: str, faults: Faults | None = None, *, text_column: str = TEXT, encoding: str = "utf-8") -> Iterator[Doc]:
    """The documents of an export or of a file to import; the text may have another key."""
    faults = faults or Faults()
    strings = StringTable()
    items = array_items(path, encoding)
    while True:
        try:
            line, task = next(items)
        except StopIteration:
            return
        except FormatError as error:  # where JSON is broken, nobody can tell where the next task begins
            faults.meet(error)
            return
        try:
            docs = list(_Task(path, line, strings, text_column).docs(task))
        except FormatError as error:
            faults.meet(error)
            continue
        yield from admitted(path, [(line, doc) for doc in docs], faults)
        if len(strings) > 1_000_000:
            strings = StringTable()


class _Task:
    """Reads one task."""

    def __init__(self, path: str, line: int, strings: StringTable, text_column: str) -> None:
        self.path, self.line, self.strings, self.text_column = path, line, strings, text_column

    def fault(self, expected: str, found: object) -> FormatError:
        return FormatError(self.path, self.line, expected, found if isinstance(found, str) else repr(found)[:60])

    def docs(self, task: Any) -> Iterator[Doc]:
        """The documents of a task: one for each annotation, or one for the first prediction, or one of text alone."""
        if not isinstance(task, dict):
            raise self.fault(_TASK, task)
        try:
            check_nesting(task, "a task")
        except WeftError as error:
            raise self.fault(_TASK, str(error)) from error
        if "data" not in task:
            yield self._small(task)
            return
        data = task["data"]
        if not isinstance(data, dict):
            raise self.fault(_TASK, data)
        key, text = self._text(data)
        done = self._answers(task, "annotations" if "annotations" in task else "completions")
        guesses = self._answers(task, "predictions")
        about = {name: value for name, value in task.items() if name not in ("data", "annotations", "completions")}
        if done or not guesses:
            about.pop("predictions", None)
            about |= {"predictions": guesses} if guesses else {}
        else:
            about["predictions"] = guesses[1:]
        for kind, answer in [("annotation", each) for each in done] or [("prediction", each) for each in guesses[:1]]:
            doc = self._doc(data, key, text, task)
            doc.meta[KEY] = {"task": dict(about), kind: {k: v for k, v in answer.items() if k != "result"}}
            self._fill(doc, answer, kind)
            yield self._tidy(doc, key)
        if not done and not guesses:
            doc = self._doc(data, key, text, task)
            doc.meta[KEY] = {"task": about}
            yield self._tidy(doc, key)

    def _text(self, data: dict[str, Any]) -> tuple[str, str]:
        key = self.text_column
        if key not in data:
            texts = [name for name, value in data.items() if isinstance(value, str)]
            if len(texts) != 1 or key != TEXT:
                found = f"the keys {', '.join(map(str, data)) or 'none'}"
                raise self.fault(f"the text under {key!r} (another key: --text-column NAME)", found)
            key = texts[0]
        if not isinstance(data[key], str):
            raise self.fault(f"a text under {key!r}", data[key])
        return key, data[key]

    def _answers(self, task: dict[str, Any], key: str) -> list[dict[str, Any]]:
        found = task.get(key) or []
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise self.fault(f"a list of {key}", found)
        for each in found:
            if not isinstance(each.get("result", []), list):
                raise self.fault("a list of results", each["result"])
        return found

    def _doc(self, data: dict[str, Any], key: str, text: str, task: dict[str, Any]) -> Doc:
        if KEY in data:
            raise self.fault(f"data without the key {KEY!r}", data[KEY])
        doc = Doc(text, self.strings, {name: value for name, value in data.items() if name != key})
        if not isinstance(doc.meta.get("id"), str):
            doc.meta.pop("id", None)
            number = data.get("id", task.get("id"))
            doc.id = "" if number is None else str(number)
        return doc

    def _tidy(self, doc: Doc, key: str) -> Doc:
        """Leave out what says nothing."""
        kept = {
            name: value for name, value in doc.meta.pop(KEY).items() if value or name in ("annotation", "prediction")
        }
        if key != TEXT:
            kept["text"] = key
        if kept:
            doc.meta[KEY] = kept
        return doc

    def _fill(self, doc: Doc, answer: dict[str, Any], kind: str) -> None:
        about = doc.meta[KEY]
        if kind == "annotation":
            doc.meta |= _person(answer)
        results = answer.get("result", [])
        if answer.get("was_cancelled") is True:
            about["results"] = results
            return
        regions: list[Region] = []
        relations: list[dict[str, Any]] = []
        rest: list[Any] = []
        chosen: set[str] = set()
        units = Units(doc.text)
        for result in results:
            what = result.get("type") if isinstance(result, dict) else None
            value = result.get("value", {}) if isinstance(result, dict) else None
            if what == "relation":
                relations.append(result)
                continue
            if not isinstance(what, str) or not isinstance(value, dict):
                raise self.fault(_RESULT, result)
            name = result.get("from_name", CONTROL)
            if not isinstance(name, str):
                raise self.fault("the name of a control", name)
            if what == "labels":
                if result.get("to_name", TEXT) != TEXT:
                    about["to_name"] = result["to_name"]
                regions += self._regions(doc.text, units, result, value, name)
            elif what == "choices" and "start" not in value and name not in chosen:
                set_labels(doc, name, self._names(value, "choices"))
                chosen.add(name)
            else:
                rest.append(result)
        links = self._links(regions, relations, rest)
        set_regions(doc, regions, links, self.fault, () if chosen and not regions else (SPANS,))
        if rest:
            about["results"] = rest

    def _regions(
        self, text: str, units: Units, result: dict[str, Any], value: dict[str, Any], name: str
    ) -> list[Region]:
        covered = value.get("text")
        if covered is not None and not isinstance(covered, str):
            raise self.fault("the text of a region", covered)
        start, end = checked(value.get("start"), value.get("end"), units.length, self.fault)
        chars = chars_of(text, start, end, covered, units)
        if chars is None:
            raise self.fault(f"a region that covers {covered!r}"[:80], text[start:end])
        start, end = checked(*chars, len(text), self.fault)
        return [
            Region(_name(result.get("id")), start, end, label, _layer(name), _attributes(result))
            for label in self._names(value, "labels") or [""]
        ]

    def _names(self, value: dict[str, Any], key: str) -> list[str]:
        found = value.get(key, [])
        if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
            raise self.fault(f"a list of {key}", found)
        return found

    def _links(self, regions: list[Region], relations: list[dict[str, Any]], rest: list[Any]) -> list[Link]:
        """Relations between regions of one layer become links; the others stay as they are."""
        layer_of = {region.name: region.layer for region in regions}
        elsewhere = {result.get("id") for result in rest if isinstance(result.get("id"), str)}
        links = []
        for relation in relations:
            ends = [relation.get(key) for key in ("from_id", "to_id")]
            if not all(isinstance(end, str | int) and _name(end) in layer_of.keys() | elsewhere for end in ends):
                raise self.fault("a relation between two results", relation)
            head, tail = map(_name, ends)
            if layer_of.get(head) is None or layer_of.get(head) != layer_of.get(tail):
                rest.append(relation)
                continue
            one, other = (tail, head) if relation.get("direction") == "left" else (head, tail)
            for label in self._names(relation, "labels") or [""]:
                links.append(Link(one, other, label))
                if relation.get("direction") == "bi":
                    links.append(Link(other, one, label))
        return links

    def _small(self, task: dict[str, Any]) -> Doc:
        """A task of JSON_MIN, or of text alone: the text, and the results by the names of their controls."""
        key, text = self._text(task)
        doc = self._doc(task, key, text, task)
        doc.meta.pop("lead_time", None)
        doc.meta |= _person(task)
        regions: list[Region] = []
        units = Units(text)
        seen = False
        for name, value in task.items():
            if isinstance(value, list) and value and all(isinstance(each, dict) and "start" in each for each in value):
                seen = True
                for each in value:
                    regions += self._regions(text, units, {}, each, name)
            elif isinstance(value, dict) and set(value) == {"choices"}:
                set_labels(doc, name, self._names(value, "choices"))
            else:
                continue
            doc.meta.pop(name, None)
        if seen:
            set_regions(doc, regions, [], self.fault)
        return doc


def _person(answer: dict[str, Any]) -> dict[str, Any]:
    """Who gave an answer, and in how many seconds."""
    who = answer.get("completed_by", answer.get("annotator"))
    if isinstance(who, dict):
        who = who.get("email", who.get("id"))
    seconds = answer.get("lead_time")
    found: dict[str, Any] = {"annotator": str(who)} if isinstance(who, str | int) and str(who) else {}
    return found | (
        {"seconds": float(seconds)}
        if isinstance(seconds, int | float) and not isinstance(seconds, bool) and abs(seconds) < 1e15
        else {}
    )


def _name(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else ""


def _layer(control: str) -> str:
    return {CONTROL: SPANS, SAME_NAME: CONTROL}.get(control, control)


def control_of(layer: str) -> str:
    """What the control of a layer is called.

    >>> control_of("entities"), control_of("mwe")
    ('label', 'mwe')
    """
    return {SPANS: CONTROL, CONTROL: SAME_NAME}.get(layer, layer)


def _attributes(result: dict[str, Any]) -> dict[str, Any]:
    about = result.get("meta")
    given = about.get("weft") if isinstance(about, dict) else None
    found: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    if "score" in result and result["score"] != found.get("probability"):
        found["score"] = result["score"]
    if isinstance(about, dict) and (notes := {k: v for k, v in about.items() if k != "weft"}):
        found["notes"] = notes
    if other := {key: value for key, value in result.items() if key not in _OWN}:
        found[KEY] = other
    return found


def write(docs: Iterable[Doc], path: str) -> int:
    """Write tasks as one array, a task per line, and return the number of documents."""
    count = 0
    with open_output(path) as file:
        file.write(b"[")
        for number, (_, members) in enumerate(groupby(_numbered(docs), key=lambda pair: pair[0])):
            own = [doc for _, doc in members]
            count += len(own)
            try:
                line = json.dumps(to_task(own), ensure_ascii=False, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as error:
                raise WeftError(f"{own[0]!r}: metadata holds a value that JSON cannot represent: {error}") from error
            file.write(f"{',' if number else ''}\n{line}".encode())
        file.write(b"\n]\n")
    return count


def _numbered(docs: Iterable[Doc]) -> Iterator[tuple[int, Doc]]:
    """Documents with the number of their task: those that were annotations of one task stay together."""
    number, last = 0, None
    for doc in docs:
        about = _about(doc)
        own = (doc.text, about.get("task"), _data(doc, True)) if "annotation" in about else None
        number += own is None or own != last
        last = own
        yield number, doc


def _about(doc: Doc) -> dict[str, Any]:
    found = doc.meta.get(KEY)
    return found if isinstance(found, dict) else {}


def _data(doc: Doc, by_person: bool) -> dict[str, Any]:
    """The metadata that are a task's data: those that no answer tells."""
    told = {KEY}
    told |= {LABELS} if has_labels(doc.meta.get(LABELS)) else set()
    told |= {"sentiment"} if sentiment_of(doc) else set()
    told |= {"annotator", "seconds"} if by_person else set()
    return {name: value for name, value in doc.meta.items() if name not in told}


def to_task(docs: list[Doc]) -> dict[str, Any]:
    """The task of a document, or of several that are annotations of the same one.

    >>> doc = Doc("Ada left.", meta={"id": "a"})
    >>> to_task([doc])
    {'data': {'text': 'Ada left.', 'id': 'a'}}
    """
    first, about = docs[0], _about(docs[0])
    task: dict[str, Any] = dict(about["task"]) if isinstance(about.get("task"), dict) else {}
    spare = task.pop("predictions", [])
    answers = [_answer(doc) for doc in docs]
    key = about["text"] if isinstance(about.get("text"), str) else TEXT
    data = _data(first, answers[0][0] == "annotation")
    if first.id and first.id == str(task.get("id")):
        data.pop("id")
    task["data"] = {key: first.text} | {name: value for name, value in data.items() if name != key}
    done = [answer for kind, answer in answers if kind == "annotation"]
    guesses = [answer for kind, answer in answers if kind == "prediction"]
    guesses += spare if isinstance(spare, list) else []
    return task | ({"annotations": done} if done else {}) | ({"predictions": guesses} if guesses else {})


def _answer(doc: Doc) -> tuple[str, dict[str, Any]]:
    """What a document says of its text: as an annotation if a person did, else as a prediction."""
    about = _about(doc)
    results = results_of(doc, str(about.get("to_name", TEXT)))
    rest = about.get("results")
    results += rest if isinstance(rest, list) else []
    who, seconds = doc.meta.get("annotator"), doc.meta.get("seconds")
    elsewhere = doc.meta.get("prodigy")
    seen = who is not None or (isinstance(elsewhere, dict) and elsewhere.get("answer") == "accept")
    if "annotation" in about or (seen and "prediction" not in about):
        given = about.get("annotation")
        found: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
        if who is not None and _person(found).get("annotator") != who:
            found["completed_by"] = int(who) if str(who).isascii() and str(who).isdigit() else {"email": str(who)}
        if seconds is not None and found.get("lead_time") != seconds:
            found["lead_time"] = seconds
        return "annotation", found | {"result": results}
    if "prediction" not in about and not doc.spans and not results:
        return "", {}
    given = about.get("prediction")
    return "prediction", (dict(given) if isinstance(given, dict) else {"model_version": "weft"}) | {"result": results}


def results_of(doc: Doc, to_name: str = TEXT) -> list[dict[str, Any]]:
    """The results of a document: its regions, what is chosen for it, and its relations."""
    regions, links = regions_of(doc, doc.spans)
    results: list[dict[str, Any]] = []
    for region in regions:
        own = region.attributes
        value = {"start": region.start, "end": region.end, "text": doc.text[region.start : region.end]}
        result: dict[str, Any] = {
            "id": region.name, "from_name": control_of(region.layer), "to_name": to_name, "type": "labels",
            "value": value | {"labels": [region.label] if region.label else []},
        }  # fmt: skip
        score = own.get("score", own.get("probability"))
        if type(score) in (int, float):
            result["score"] = score
        notes = own.get("notes")
        told = {"score"} if type(own.get("score")) in (int, float) and "probability" not in own else set()
        told |= {name for name in ("notes", KEY) if isinstance(own.get(name), dict)}
        plain = {name: each for name, each in own.items() if name not in told}
        if plain or isinstance(notes, dict):
            result["meta"] = (notes if isinstance(notes, dict) else {}) | ({"weft": plain} if plain else {})
        if isinstance(own.get(KEY), dict):
            result |= {name: v for name, v in own[KEY].items() if name not in _OWN}
        same = results[-1] if results else {}
        if region.name == same.get("id") and {**result, "value": 0} == {**same, "value": 0}:
            same["value"]["labels"] += result["value"]["labels"]  # one region with several labels
            continue
        results.append(result)
    for name, labels in labels_of(doc).items():
        results.append({"from_name": name, "to_name": to_name, "type": "choices", "value": {"choices": labels}})
    for link in links:
        results.append({
            "from_id": link.head, "to_id": link.tail, "type": "relation", "direction": "right",
            "labels": [link.label] if link.label else [],
        })  # fmt: skip
    return results

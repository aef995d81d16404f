"""Anafora XML: stand-off entities and relations beside a text, as in THYME and Clinical TempEval.

    NOTE/NOTE                                               the text (NOTE.txt too), if it may be passed on
    NOTE/NOTE.Temporal-Relation.gold.completed.xml          its annotation: text, schema, annotator, state

| element | becomes |
|---|---|
| `entity` | a span in characters of the layer `timeline`, with gaps as in `12,20;25,31`; its id is its name |
| `relation` | a relation from Source to Target; its label is its Type, its attribute `link` its type unless TLINK |
| `properties` | attributes |
| `parentsType`, `addition`, the order of properties | the attribute `anafora`, where it is not the usual one |
| everything before, between and after | `doc.meta["anafora"]` |

A file in the layout of Anafora is written back byte for byte. Annotations without their text can be read, scored and
written: characters that are not there are blanks, and `doc.meta["anafora"]["text"]` is "missing".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from weft.errors import DataError, FormatError, WeftError
from weft.formats.encodings import is_auto
from weft.formats.gate import admitted
from weft.formats.streams import STANDARD, Faults, open_output, raw_blocks
from weft.formats.xml.reader import Attributes, XmlReader
from weft.text.conventions.timeline import ALINK, LAYER, TLINK
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer, chars_of_words

SUFFIXES = (".completed.xml", ".inprogress.xml", ".preannotation.xml", ".anafora.xml")
#: Offsets beyond this are a mistake or an attack: a text that is not there is replaced by as many blanks.
LONGEST = 10_000_000
DEEPEST = 20
_USUAL = {"entity": "TemporalEntities", "relation": "TemporalRelations"}
#: The usual order of a relation's properties, by its type.
_ORDER = {TLINK: ("Source", "Type", "Target"), ALINK: ("Source", "Target", "Type")}
_PIECE = re.compile(r"(\d{1,12}),(\d{1,12})")
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n\n<data>\n<info>\n  <savetime></savetime>\n'
    '  <progress>completed</progress>\n</info>\n\n<schema path="./" protocol="file">temporal.schema.xml</schema>\n\n'
    "<annotations>\n"
)
_TAIL = "</annotations>\n\n</data>"


@dataclass
class _Item:
    """An entity or a relation as it stands in the file."""

    tag: str
    line: int
    values: dict[str, str] = field(default_factory=dict)
    properties: list[tuple[str, str]] | None = None
    addition: list[tuple[str, str]] | None = None
    place: tuple[int, int] = (0, 0)


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The document that a file annotates; its text is looked for beside it."""
    faults = faults or Faults()
    try:
        content = b"".join(raw_blocks(path))
        doc = _document(_Reader(path, encoding).parse(content), content, path, _text_beside(path, encoding))
    except FormatError as error:
        faults.meet(error)
        return
    doc.id = "" if path == STANDARD else text_name(path)
    yield from admitted(path, [(1, doc)], faults)


def parse(content: str, text: str | None = None, name: str = "text") -> Doc:
    """A document from the content of a file, and its text.

    >>> entity = "<entity><id>1@e</id><span>4,8</span><type>EVENT</type><properties><DocTimeRel>BEFORE</DocTimeRel>"
    >>> doc = parse(f"<data><annotations>{entity}</properties></entity></annotations></data>", "She bled.")
    >>> doc.span_views("timeline"), doc.spans["timeline"].attributes[0]["DocTimeRel"]
    ([Span('bled', 'EVENT')], 'BEFORE')
    """
    data = content.encode()
    return _document(_Reader(name, "utf-8").parse(data), data, name, text)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write a document as an XML file, or several into a folder, as `ID/ID.Temporal-Relation.gold.completed.xml`."""
    count = 0
    if path.removesuffix(".gz").endswith(".xml") or path == STANDARD:
        for doc in docs:
            count += 1
            if count > 1:
                raise DataError(f"{path} holds one document, but there are more; name a folder and the format anafora")
            with open_output(path) as file:
                file.write(to_text(doc).encode())
        return count
    for doc in docs:
        count += 1
        name = (doc.id or f"{count:05d}").rsplit("/", 1)[-1]
        folder = Path(path, name)
        folder.mkdir(parents=True, exist_ok=True)
        with open_output(str(folder / f"{name}.Temporal-Relation.gold.completed.xml")) as file:
            file.write(to_text(doc).encode())
        if doc.meta.get("anafora", {}).get("text") != "missing":
            with open_output(str(folder / name)) as file:
                file.write(doc.text.encode())
    return count


def to_text(doc: Doc) -> str:
    """A document as Anafora XML, without its text.

    >>> doc = Doc.from_words([["She", "bled"]])
    >>> doc.spans["timeline"] = SpanLayer.of(doc.strings, [(1, 2, "EVENT")])
    >>> print(to_text(doc).partition("<annotations>")[2].strip().partition("</properties>")[0].strip())
    <entity>
                <id>1@e@@weft</id>
                <span>4,8</span>
                <type>EVENT</type>
                <parentsType>TemporalEntities</parentsType>
                <properties>
    """
    frame = doc.meta.get("anafora", {})
    spans = chars_of_words(doc, doc.spans.get(LAYER, SpanLayer(doc.strings)))
    relations = doc.relations.get(LAYER, RelationLayer(doc.strings, LAYER))
    if relations.spans != LAYER:
        raise WeftError(f"{doc!r}: the relations {LAYER!r} join spans of {relations.spans!r}, not of {LAYER!r}")
    ids = _ids(doc, spans)
    items = [_entity(spans, number, ids[number]) for number in range(len(spans))]
    items += [_relation(relations, number, row, ids) for number, row in enumerate(relations)]
    return str(frame.get("head", _HEAD)) + "".join(f"{item}\n" for item in items) + str(frame.get("tail", _TAIL))


def text_name(path: str) -> str:
    """The name of the text that a file annotates: without schema, annotator and state.

    >>> text_name("gold/N1.Temporal-Relation.gold.completed.xml"), text_name("N1.anafora.xml")
    ('N1', 'N1')
    """
    name = Path(path).name.removesuffix(".gz")
    if name.endswith(SUFFIXES[:3]) and name.count(".") >= 4:
        return name.rsplit(".", 4)[0]
    for suffix in (*SUFFIXES, ".xml"):
        name = name.removesuffix(suffix)
    return name


def _text_beside(path: str, encoding: str) -> str | None:
    if path == STANDARD:
        return None
    name = text_name(path)
    for candidate in (name, f"{name}.txt"):
        place = os.path.join(os.path.dirname(os.path.abspath(path)), candidate)
        if os.path.isfile(place) and os.path.abspath(place) != os.path.abspath(path):
            content = b"".join(raw_blocks(place))
            try:
                return content.decode("utf-8" if is_auto(encoding) else encoding)
            except (UnicodeDecodeError, LookupError) as error:
                raise FormatError(place, None, f"text in {encoding}", f"an error: {error}") from None
    return None


class _Reader(XmlReader):
    """Collects entities and relations of the element `annotations`; those of `adjudication` are only kept as text."""

    deepest = DEEPEST

    def __init__(self, path: str, encoding: str) -> None:
        super().__init__(path, encoding)
        self.open: list[str] = []
        self.items: list[_Item] = []
        self.item: _Item | None = None
        self.value: list[str] = []

    def parse(self, content: bytes) -> list[_Item]:
        self.feed(content, last=True)
        return self.items

    def start(self, tag: str, _attributes: Attributes) -> None:
        if not self.open and tag != "data":
            self.fault("the element <data> of Anafora", f"<{tag[:40]}>")
        self.open.append(tag)
        self.value = []
        if self.open[1:] in (["annotations", "entity"], ["annotations", "relation"]):
            self.item = _Item(tag, self.line)
            self.item.place = (self.parser.CurrentByteIndex, 0)
        elif self.item is not None and len(self.open) == 4 and tag in ("properties", "addition"):
            setattr(self.item, tag, [])

    def end(self, tag: str) -> None:
        depth, text = len(self.open), "".join(self.value)
        item = self.item
        if item is not None and depth == 3:
            end = self.parser.CurrentByteIndex + len(tag.encode()) + 3
            item.place = (item.place[0], end)
            self.items.append(item)
            self.item = None
        elif item is not None and depth == 4 and tag not in ("properties", "addition"):
            item.values[tag] = text
        elif item is not None and depth == 5:
            inside = item.properties if self.open[3] == "properties" else item.addition
            if inside is not None:
                inside.append((tag, text))
        self.value = []
        self.open.pop()

    def characters(self, text: str) -> None:
        self.value.append(text)


def _document(items: list[_Item], content: bytes, path: str, text: str | None) -> Doc:
    meta: dict[str, Any] = {}
    if items:
        head, tail = content[: items[0].place[0]], content[items[-1].place[1] :]
        # The tab before an item and the blank line after it are written with the item.
        meta["head"] = head.decode("utf-8", "replace").removesuffix("\t")
        meta["tail"] = tail.decode("utf-8", "replace").removeprefix("\n").removeprefix("\n")
    else:
        before, middle, after = content.decode("utf-8", "replace").partition("</annotations>")
        meta |= {"head": before, "tail": middle + after} if middle else {}
    rows = [(item, _pieces(item, path)) for item in items if item.tag == "entity"]
    length = max((end for _, pieces in rows for _, end in pieces), default=0)
    if text is None:
        meta["text"] = "missing"
        text = " " * length
    doc = Doc(text, meta={"anafora": meta})
    spans = doc.spans[LAYER] = SpanLayer(doc.strings, "chars")
    links = doc.relations[LAYER] = RelationLayer(doc.strings, LAYER)
    numbers: dict[str, int] = {}
    for item, pieces in rows:
        name = _value(item, "id", path)
        if name in numbers:
            raise FormatError(path, item.line, "a different id for every entity", f"{name!r} again")
        if pieces[-1][1] > len(text):
            found = f"{pieces[-1][1]} in a text of {len(text)} characters"
            raise FormatError(path, item.line, "offsets within the text", found)
        numbers[name] = spans.add(pieces, _value(item, "type", path), name, **_attributes(item))
    for item in items:
        if item.tag == "relation":
            _add_relation(links, item, numbers, path)
    return doc


def _add_relation(links: RelationLayer, item: _Item, numbers: dict[str, int], path: str) -> None:
    kind, name = _value(item, "type", path), _value(item, "id", path)
    properties = dict(item.properties or [])
    for end in ("Source", "Target"):
        if properties.get(end) not in numbers:
            found = repr(properties[end]) if end in properties else f"no {end}"
            raise FormatError(path, item.line, f"the id of an entity as the {end} of a {kind}", found)
    attributes = _attributes(item)
    for end in ("Source", "Target", "Type"):
        attributes.pop(end, None)
    if kind != TLINK:
        attributes["link"] = kind
    order = tuple(key for key, _ in item.properties or ())
    if order != _ORDER.get(kind, _ORDER[TLINK]):
        attributes.setdefault("anafora", {})["order"] = list(order)
    links.add(
        numbers[properties["Source"]], numbers[properties["Target"]], properties.get("Type", ""), name, **attributes
    )


def _attributes(item: _Item) -> dict[str, Any]:
    """The properties of an item, and what of its layout is not the usual one."""
    layout: dict[str, Any] = {}
    if item.values.get("parentsType") != _USUAL[item.tag]:
        layout["parentsType"] = item.values.get("parentsType", "")
    if item.properties is None:
        layout["properties"] = "missing"
    if item.addition is not None:
        layout["addition"] = [[name, value] for name, value in item.addition]
    return {**dict(item.properties or []), **({"anafora": layout} if layout else {})}


def _value(item: _Item, name: str, path: str) -> str:
    value = item.values.get(name, "")
    if not value:
        raise FormatError(path, item.line, f"<{name}> in <{item.tag}>", "none")
    return value


def _pieces(item: _Item, path: str) -> list[tuple[int, int]]:
    pieces, reached = [], 0
    for part in _value(item, "span", path).split(";"):
        match = _PIECE.fullmatch(part.strip())
        start, end = (int(match[1]), int(match[2])) if match else (0, 0)
        if not match or not reached <= start < end <= LONGEST:
            expected = f"rising offsets such as 12,20;25,31, at most {LONGEST:,}"
            raise FormatError(path, item.line, expected, repr(item.values["span"][:60]))
        pieces.append((start, end))
        reached = end
    return pieces


def _ids(doc: Doc, spans: SpanLayer) -> list[str]:
    """The ids of all spans: their names if they have one each, else numbers."""
    names = [spans.id(number) for number in range(len(spans))]
    if all(names) and len(set(names)) == len(names):
        return names
    return [f"{number}@e@{doc.id}@weft" for number in range(1, len(spans) + 1)]


def _entity(spans: SpanLayer, number: int, name: str) -> str:
    row, attributes = spans[number], dict(spans.attributes.get(number, {}))
    layout = attributes.pop("anafora", {})
    places = ";".join(f"{start},{end}" for start, end in row.pieces)
    head = [
        ("id", name),
        ("span", places),
        ("type", row.label),
        ("parentsType", layout.get("parentsType", _USUAL["entity"])),
    ]
    return _element("entity", head, list(attributes.items()), layout)


def _relation(relations: RelationLayer, number: int, row: tuple[int, int, str], ids: list[str]) -> str:
    first, second, label = row
    attributes = dict(relations.attributes.get(number, {}))
    layout, kind = attributes.pop("anafora", {}), str(attributes.pop("link", TLINK))
    values = {"Source": ids[first], "Type": label, "Target": ids[second], **attributes}
    order = layout.get("order", [*_ORDER.get(kind, _ORDER[TLINK]), *attributes])
    name = relations.ids[number] or f"{number + 1}@r@{ids[first].split('@', 2)[-1]}"
    head = [("id", name), ("type", kind), ("parentsType", layout.get("parentsType", _USUAL["relation"]))]
    return _element("relation", head, [(key, values[key]) for key in order if key in values], layout)


def _element(tag: str, head: list[tuple[str, Any]], properties: list[tuple[str, Any]], layout: dict[str, Any]) -> str:
    lines = [f"\t<{tag}>", *(f"\t\t<{name}>{escape(str(value))}</{name}>" for name, value in head)]
    if layout.get("properties") != "missing" or properties:
        lines += ["\t\t<properties>", *(_property(name, value) for name, value in properties), "\t\t</properties>"]
    if "addition" in layout:
        lines += ["\t\t<addition>", *(_property(name, value) for name, value in layout["addition"]), "\t\t</addition>"]
    return "\n".join([*lines, f"\t</{tag}>", ""])


def _property(name: str, value: Any) -> str:
    if not name.replace("-", "_").replace(".", "_").isidentifier():
        raise WeftError(f"Anafora writes attributes as elements, but {name!r} is no name of one; rename the attribute")
    return f"\t\t\t<{name}>{escape(str(value))}</{name}>"

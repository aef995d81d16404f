"""UIMA XMI as WebAnno and INCEpTION write it: a text, its tokens and sentences, spans with features and links.

| element | becomes |
|---|---|
| `cas:Sofa` | the text; offsets are converted from UTF-16, in which UIMA counts |
| `Token`, `Sentence` (DKPro) | words and sentences |
| `DocumentMetaData`, `METADATA` | `doc.meta`: the name of the document, its date (`docTime`) as `date` |
| `EVENT`, `TIMEX3`, and what their links point to | spans of the layer `timeline`; features are attributes |
| other spans | spans of the layer `annotations`, labelled by their type |
| a feature that holds link elements (`role`, `target`) | relations labelled by their role |

Features of events and times are named as in THYME (`docTimeRel` becomes DocTimeRel, `timex3Class` Class). A link into
another layer stays an attribute of its span: a list of roles and names of targets.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import count as count_from
from xml.sax.saxutils import quoteattr

from weft.errors import DataError, FormatError
from weft.formats.gate import admitted
from weft.formats.streams import STANDARD, Faults, document_name, open_output, raw_blocks, unsplit_error
from weft.formats.xml.reader import Attributes, XmlReader
from weft.text.conventions.timeline import EVENT, LAYER, TIMEX3, TLINK
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer, chars_of_words

OTHERS = "annotations"
_NAMES = {"eventType": "Type", "timex3Class": "Class"}
_FEATURES = {name: feature for feature, name in _NAMES.items()}
#: Features whose links are temporal, as opposed to aspectual or other ones.
_TEMPORAL = {"TLINK": TLINK, "timexLink": TLINK}
_OWN = ("xmi:id", "sofa", "begin", "end")
_ASIDE = ("TagsetDescription", "NULL", "Sofa", "View", "XMI")
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" '
    'xmlns:cas="http:///uima/cas.ecore" xmlns:custom="http:///webanno/custom.ecore" '
    'xmlns:type4="http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore" xmi:version="2.0">\n'
    '    <cas:NULL xmi:id="0"/>\n'
)
DEEPEST = 20
Element = tuple[str, dict[str, str], int]


def read(path: str, faults: Faults | None = None, *, encoding: str = "utf-8") -> Iterator[Doc]:
    """The document in a file."""
    faults = faults or Faults()
    try:
        doc = _document(_elements(b"".join(raw_blocks(path)), path, encoding), path)
    except FormatError as error:
        faults.meet(error)
        return
    if not doc.id and path != STANDARD:
        doc.id = document_name(path.removesuffix(".xmi"))
    yield from admitted(path, [(1, doc)], faults)


def parse(content: str, name: str = "text") -> Doc:
    """A document from the content of a file.

    >>> doc = parse('<x><s:Sofa xmi:id="1" sofaString="She bled."/><t:Token xmi:id="2" sofa="1" begin="0" end="3"/>'
    ...     '<t:Token xmi:id="3" sofa="1" begin="4" end="8"/><t:Sentence xmi:id="4" sofa="1" begin="0" end="8"/>'
    ...     '<c:EVENT xmi:id="5" sofa="1" begin="4" end="8" docTimeRel="BEFORE"/></x>')
    >>> doc.span_views("timeline"), doc.spans["timeline"].attributes
    ([Span('bled', 'EVENT')], {0: {'DocTimeRel': 'BEFORE'}})
    """
    return _document(_elements(content.encode(), name, "utf-8"), name)


def write(docs: Iterable[Doc], path: str) -> int:
    """Write a document as XMI: words, sentences, the spans of all layers and their links."""
    count = 0
    for doc in docs:
        count += 1
        if count > 1:
            raise DataError(f"{path} holds one document, but there are more; XMI has one document per file")
        with open_output(path) as file:
            file.write(to_text(doc).encode())
    return count


def to_text(doc: Doc) -> str:
    """A document as XMI.

    >>> doc = Doc.from_words([["She", "bled"]])
    >>> doc.spans["timeline"] = SpanLayer.of(doc.strings, [(1, 2, "EVENT")])
    >>> parse(to_text(doc)).span_views("timeline")
    [Span('bled', 'EVENT')]
    """
    if doc.text.strip() and not doc.n_words:
        raise unsplit_error(doc, "XMI")
    units = _utf16(doc.text)
    rows: list[str] = []
    layers = {name: chars_of_words(doc, layer) for name, layer in doc.spans.items()}
    names = _span_ids(layers)
    ids = count_from(max([9, *names.values()]) + 1)

    def place(start: int, end: int) -> str:
        return f'sofa="1" begin="{units[start]}" end="{units[end]}"'

    for token in doc.tokens:
        rows.append(f'<type4:Token xmi:id="{next(ids)}" {place(token.start, token.end)}/>')
    for sentence in doc.sentences:
        if len(sentence):
            rows.append(f'<type4:Sentence xmi:id="{next(ids)}" {place(sentence[0].start, sentence[-1].end)}/>')
    links: dict[tuple[str, int], dict[str, list[int]]] = {}
    link_rows: list[str] = []

    def add_link(span: tuple[str, int], feature: str, role: str, target: int) -> None:
        own, source = next(ids), layers[span[0]][span[1]].label
        links.setdefault(span, {}).setdefault(feature, []).append(own)
        kind = f"{source}{feature[:1].upper()}{feature[1:]}Link"
        link_rows.append(f'<custom:{kind} xmi:id="{own}" role={quoteattr(role)} target="{target}"/>')

    for relations in doc.relations.values():
        for number, (first, second, label) in enumerate(relations):
            feature = str(relations.attributes.get(number, {}).get("link", TLINK))
            is_time = layers[relations.spans][first].label == TIMEX3 and feature == TLINK
            target = names[relations.spans, second]
            add_link((relations.spans, first), "timexLink" if is_time else feature, label, target)
    for name, layer in layers.items():
        for number, row in enumerate(layer):
            values = {}
            for key, value in layer.attributes.get(number, {}).items():
                if isinstance(value, list):
                    for role, target in value:
                        add_link((name, number), key, role, target)
                else:
                    values[_feature(row.label, key)] = str(value)
            values |= {key: " ".join(map(str, each)) for key, each in links.get((name, number), {}).items()}
            features = "".join(f" {key}={quoteattr(value)}" for key, value in values.items())
            spot = place(row.pieces[0][0], row.pieces[-1][1])
            rows.append(f'<custom:{row.label} xmi:id="{names[name, number]}" {spot}{features}/>')
    facts = f" docTime={quoteattr(str(doc.meta['date']))}" if "date" in doc.meta else ""
    rows.append(f'<custom:METADATA xmi:id="{next(ids)}" {place(0, 0)} docName={quoteattr(doc.id)}{facts}/>')
    sofa = f'<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString={_attribute(doc.text)}/>'
    return _HEAD + "".join(f"    {row}\n" for row in [*rows, *link_rows, sofa]) + "</xmi:XMI>\n"


def _span_ids(layers: dict[str, SpanLayer]) -> dict[tuple[str, int], int]:
    """The ids of all spans: their names if these are different numbers, to which links may refer."""
    places = [(name, number) for name, layer in layers.items() for number in range(len(layer))]
    given = [layers[name].id(number) for name, number in places]
    if all(name.isdecimal() and 1 < int(name) < 1 << 31 for name in given) and len(set(given)) == len(given):
        return dict(zip(places, map(int, given), strict=True))
    return {place: number for number, place in enumerate(places, 10)}


def _elements(content: bytes, path: str, encoding: str) -> list[Element]:
    reader = _Reader(path, encoding)
    reader.feed(content, last=True)
    return reader.elements


class _Reader(XmlReader):
    """Collects all elements: their name without its prefix, attributes, line."""

    deepest = DEEPEST

    def __init__(self, path: str, encoding: str) -> None:
        super().__init__(path, encoding)
        self.elements: list[Element] = []

    def start(self, tag: str, attributes: Attributes) -> None:
        self.elements.append((tag.rpartition(":")[2], attributes, self.line))


def _document(elements: list[Element], path: str) -> Doc:
    texts = [attributes for tag, attributes, _ in elements if tag == "Sofa"]
    if len(texts) != 1 or "sofaString" not in texts[0]:
        raise FormatError(path, None, "one Sofa with a sofaString (UIMA XMI)", f"{len(texts)} Sofa elements")
    text = texts[0]["sofaString"]
    units = _utf16(text)
    doc = Doc(text)
    places = {"Token": [], "Sentence": []}  # type: dict[str, list[tuple[int, int]]]
    spans: dict[str, tuple[str, int, int, dict[str, str]]] = {}
    links: dict[str, tuple[str, str]] = {}
    for tag, attributes, line in elements:
        name = attributes.get("xmi:id", "")
        if tag in ("DocumentMetaData", "METADATA"):
            _describe(doc, attributes)
        elif "role" in attributes and "target" in attributes and "begin" not in attributes:
            links[name] = (attributes["role"], attributes["target"])
        elif "begin" in attributes and "end" in attributes and tag not in _ASIDE:
            start, end = _place(attributes, units, path, line)
            if tag in places:
                places[tag].append((start, end))
            elif start < end:
                features = {key: value for key, value in attributes.items() if key not in _OWN}
                spans[name] = (tag, start, end, features)
    _set_words(doc, sorted(set(places["Token"])), sorted(set(places["Sentence"])))
    _set_spans(doc, spans, links)
    return doc


def _describe(doc: Doc, attributes: dict[str, str]) -> None:
    name = attributes.get("docName") or attributes.get("documentTitle") or ""
    if name and (not doc.id or "docName" in attributes):
        doc.id = name
    if attributes.get("docTime"):
        doc.meta["date"] = attributes["docTime"]


def _set_words(doc: Doc, tokens: list[tuple[int, int]], sentences: list[tuple[int, int]]) -> None:
    """Tokens that overlap the one before are left out; one of no sentence begins a sentence of its own."""
    kept: list[tuple[int, int]] = []
    for start, end in tokens:
        if start < end and (not kept or start >= kept[-1][1]):
            kept.append((start, end))
    bounds = sorted({bisect_left(kept, (start, -1)) for start, _ in sentences} | {0, len(kept)}) if kept else [0]
    doc.set_offsets([start for start, _ in kept], [end for _, end in kept])
    doc.set_sentences(bounds)


def _set_spans(
    doc: Doc, spans: dict[str, tuple[str, int, int, dict[str, str]]], links: dict[str, tuple[str, str]]
) -> None:
    timed = {name for name, (tag, *_) in spans.items() if tag in (EVENT, TIMEX3)}
    for name in list(timed):
        timed |= {target for _, _, target in _links_of(spans[name][3], links) if target in spans}
    layers = {LAYER: SpanLayer(doc.strings, "chars"), OTHERS: SpanLayer(doc.strings, "chars")}
    numbers: dict[str, tuple[str, int]] = {}
    ordered = sorted(spans.items(), key=lambda item: (item[1][1], item[1][2]))
    for name, (tag, start, end, features) in ordered:
        layer = LAYER if name in timed else OTHERS
        plain = {_name(tag, key): value for key, value in features.items() if not _is_link(value, links)}
        numbers[name] = layer, layers[layer].add([(start, end)], tag, name, **plain)
    doc.spans |= {name: layer for name, layer in layers.items() if len(layer)}
    relations = {name: RelationLayer(doc.strings, name) for name in layers}
    for name, (_, _, _, features) in ordered:
        layer, number = numbers[name]
        for feature, role, target in _links_of(features, links):
            kind = _TEMPORAL.get(feature, feature)
            if target in numbers and numbers[target][0] == layer:
                extra = {} if kind == TLINK else {"link": kind}
                relations[layer].add(number, numbers[target][1], role, **extra)
            else:
                layers[layer].attributes.setdefault(number, {}).setdefault(feature, []).append([role, target])
    doc.relations |= {name: layer for name, layer in relations.items() if len(layer)}


def _links_of(features: dict[str, str], links: dict[str, tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Feature, role and target of all links of a span."""
    return [
        (feature, *links[each])
        for feature, value in features.items()
        if _is_link(value, links)
        for each in value.split()
    ]


def _is_link(value: str, links: dict[str, tuple[str, str]]) -> bool:
    parts = value.split()
    return bool(parts) and all(part in links for part in parts)


def _name(tag: str, feature: str) -> str:
    if tag not in (EVENT, TIMEX3):
        return feature
    if feature in _NAMES:
        return _NAMES[feature]
    known = ("docTimeRel", "contextualModality", "contextualAspect", "polarity", "degree", "permanence")
    return feature[:1].upper() + feature[1:] if feature in known else feature


def _feature(tag: str, name: str) -> str:
    """The inverse of `_name`."""
    if tag not in (EVENT, TIMEX3):
        return name
    return _FEATURES.get(name) or (
        name[:1].lower() + name[1:] if _name(tag, name[:1].lower() + name[1:]) == name else name
    )


def _place(attributes: dict[str, str], units: list[int], path: str, line: int) -> tuple[int, int]:
    """Offsets in characters of the text."""
    try:
        begin, end = int(attributes["begin"]), int(attributes["end"])
    except ValueError:
        begin, end = -1, -1
    start, stop = bisect_left(units, begin), bisect_left(units, end)
    if not (0 <= begin <= end <= units[-1] and units[start] == begin and units[stop] == end):
        found = f"begin={attributes['begin'][:20]!r} end={attributes['end'][:20]!r}"
        raise FormatError(path, line, f"offsets within the text of {units[-1]} UTF-16 units", found)
    return start, stop


def _utf16(text: str) -> list[int]:
    """The offset of every character, and of the end, in UTF-16 units.

    >>> _utf16("a\\U0001F600b")
    [0, 1, 3, 4]
    """
    if not any(ord(character) > 0xFFFF for character in text):
        return list(range(len(text) + 1))
    units = [0]
    for character in text:
        units.append(units[-1] + 1 + (ord(character) > 0xFFFF))
    return units


def _attribute(text: str) -> str:
    """A value in quotes whose line ends and tabs survive: XML readers turn them into blanks unless they are escaped."""
    quoted = quoteattr(text, {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
    return quoted

"""The corpora of the experiment: THYME's annotation, E3C case reports, and TimeML news mapped to the terms of THYME.

| TimeML | THYME |
|---|---|
| EVENT, TIMEX3 with its type | EVENT, TIMEX3 with its Class |
| a link of an event and the time of the document | DocTimeRel: BEFORE, AFTER; others, and no link, OVERLAP |
| TLINK | the same relation; INCLUDES is CONTAINS |

Words and sentences are split by rule in both corpora with text, so that a loss between them is not one of tokens.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path
from xml.parsers import expat

from weft.errors import FormatError
from weft.formats import anafora, xmi
from weft.text.conventions.timeline import EVENT, LAYER, TIMEX3, thyme_relation, thyme_value
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer
from weft.text.split import split_by_rule

THYME = "time/thyme-annotations/{}.anafora.tar.gz"
CLINICAL = "time/e3c-clinical/English.layer1.first45.xmi.tar.gz"
NEWS = ("time/tempeval3-timebank/TimeBank.tml.tar.gz", "time/tempeval3-aquaint/AQUAINT.tml.tar.gz")
_ENDS = (("eventInstanceID", "timeID"), ("relatedToEventInstance", "relatedToTime"))


def files_of(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the files in an archive, sorted by name."""
    with tarfile.open(archive) as tar:
        for member in sorted(tar.getmembers(), key=lambda each: each.name):
            file = tar.extractfile(member)
            if file is not None:
                yield member.name, file.read()


def thyme_files(archive: Path) -> Iterator[tuple[str, str]]:
    """Names and contents of the annotation files of a part of THYME."""
    for name, content in files_of(archive):
        if name.endswith(".xml"):
            yield name, content.decode()


def thyme_notes(archive: Path) -> list[Doc]:
    """The notes of a part of THYME that have relations, without their text."""
    docs = []
    for name, content in thyme_files(archive):
        if "Temporal-Relation" in name:
            docs.append(anafora.parse(content, None, name))
            docs[-1].id = anafora.text_name(name)
    return docs


def clinical_reports(archive: Path) -> list[Doc]:
    """The case reports of E3C, by their names."""
    docs = []
    for name, content in files_of(archive):
        if name.endswith(".xml"):
            doc = xmi.parse(content.decode(), name)
            split_by_rule(doc)
            docs.append(doc)
    return sorted(docs, key=lambda doc: doc.id)


def news(archives: list[Path]) -> list[Doc]:
    """The news articles of TimeBank and AQUAINT, by their names."""
    docs = [
        time_ml(content, name) for archive in archives for name, content in files_of(archive) if name.endswith(".tml")
    ]
    return sorted(docs, key=lambda doc: doc.id)


def time_ml(content: bytes, name: str = "text") -> Doc:
    """A TimeML document in the terms of THYME.

    >>> doc = time_ml(b'<TimeML><DOCID>d</DOCID><TEXT>It <EVENT eid="e1">fell</EVENT>.</TEXT><MAKEINSTANCE '
    ...     b'eventID="e1" eiid="i1"/><TLINK relType="BEFORE" eventInstanceID="i1" relatedToTime="t0"/></TimeML>')
    >>> doc.text, doc.span_views("timeline"), doc.spans["timeline"].attributes
    ('It fell.', [Span('fell', 'EVENT')], {0: {'DocTimeRel': 'BEFORE'}})
    """
    parts: list[str] = []
    inside = False
    open_tags: list[tuple[str, int, dict[str, str]]] = []
    found: list[tuple[str, int, int, dict[str, str]]] = []
    flat: list[tuple[str, dict[str, str]]] = []
    facts = {"DOCID": ""}
    current = ""
    length = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal inside, current
        current = tag
        inside = inside or tag == "TEXT"
        if tag in (EVENT, TIMEX3) and inside:
            open_tags.append((tag, length, attributes))
        elif tag in ("MAKEINSTANCE", "TLINK") or tag == TIMEX3:
            flat.append((tag, attributes))

    def end(tag: str) -> None:
        nonlocal inside, current
        current = ""
        if tag == "TEXT":
            inside = False
        elif tag in (EVENT, TIMEX3) and open_tags and inside:
            kind, begin, attributes = open_tags.pop()
            if begin < length:
                found.append((kind, begin, length, attributes))

    def characters(text: str) -> None:
        nonlocal length
        if inside:
            parts.append(text)
            length += len(text)
        elif current in facts:
            facts[current] += text

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = start, end, characters
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise FormatError(name, error.lineno, "well-formed XML", expat.ErrorString(error.code)) from None
    doc = Doc("".join(parts), meta={"id": facts["DOCID"].strip() or name})
    split_by_rule(doc)
    _add_layers(doc, found, flat)
    return doc


def _add_layers(
    doc: Doc, found: list[tuple[str, int, int, dict[str, str]]], flat: list[tuple[str, dict[str, str]]]
) -> None:
    spans = doc.spans[LAYER] = SpanLayer(doc.strings, "chars")
    links = doc.relations[LAYER] = RelationLayer(doc.strings, LAYER)
    numbers: dict[str, int] = {}
    for kind, begin, end, attributes in sorted(found, key=lambda each: each[1:3]):
        given = {"DocTimeRel": "OVERLAP"} if kind == EVENT else {"Class": attributes.get("type", "DATE")}
        if "value" in attributes:
            given["value"] = attributes["value"]
        numbers[attributes.get("eid") or attributes.get("tid", "")] = spans.add([(begin, end)], kind, **given)
    instances = {row["eiid"]: row["eventID"] for tag, row in flat if tag == "MAKEINSTANCE" and "eiid" in row}
    for tag, row in flat:
        if tag == TIMEX3 and row.get("functionInDocument") == "CREATION_TIME":
            doc.meta["date"] = row.get("value", "")
        if tag != "TLINK":
            continue
        ends = [row.get(event) or row.get(time) or "" for event, time in _ENDS]
        first, second = (instances.get(each, each) for each in ends)
        relation = thyme_relation(row.get("relType", ""))
        if first in numbers and second in numbers:
            links.add(numbers[first], numbers[second], relation)
        elif second == "t0" and first in numbers and spans[numbers[first]].label == EVENT:
            value = thyme_value("DocTimeRel", relation)
            spans.attributes[numbers[first]]["DocTimeRel"] = value if value in ("BEFORE", "AFTER") else "OVERLAP"

"""The corpora: BioNLP-ST 2009 (proteins given, events with nested arguments) and CASIE (articles on cyber-security).

BioNLP: words are runs of letters and digits, and end where a protein begins or ends; sentences end at a full stop
before a blank and a capital or digit, never inside a protein. Triggers are taken as given in the annotation, which
is used for nothing else but gold.
"""

from __future__ import annotations

import itertools
import re
import tarfile
from pathlib import Path
from typing import Any

from weft.formats.brat import parse
from weft.recipes.extraction.complex_relations.corpora import articles, find_place
from weft.text.conventions.events import EventRow, Filler, event_rows, set_events
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.text.split import split_by_rule
from weft.text.strings import StringTable

BIONLP = "events/bionlp-st-2009/{}.standoff.tar.gz"
CASIE = "events/casie/casie350.tar.gz"
PROTEIN, OTHER = "Protein", "Other"
_WORD = re.compile(r"[A-Za-z]+|\d+|[^\w\s]|\w+")
_STOP = re.compile(r"(?<=[.?!])\s+(?=[A-Z0-9(])|\n+")
_DIGIT = re.compile(r"(?<!\d)\d+$")


def bionlp(path: Path) -> list[Doc]:
    """The abstracts of an archive, by name, with proteins as mentions and gold events."""
    files: dict[str, dict[str, str]] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            stem, _, kind = Path(member.name).name.rpartition(".")
            if member.isfile() and kind in ("txt", "a1", "a2"):
                file = archive.extractfile(member)
                assert file is not None
                files.setdefault(stem, {})[kind] = file.read().decode()
    strings = StringTable()
    return [_abstract(name, own, strings) for name, own in sorted(files.items()) if "txt" in own]


def _abstract(name: str, own: dict[str, str], strings: StringTable) -> Doc:
    given = parse(own["txt"], [(f"{name}.{kind}", own.get(kind, "")) for kind in ("a1", "a2")], name)
    proteins = [row.pieces[0] for row in given.spans["entities"] if row.label == PROTEIN]
    doc = Doc(own["txt"], strings, {"id": name})
    borders = {place for span in proteins for place in span}
    words = [piece for match in _WORD.finditer(doc.text) for piece in _cut(*match.span(), borders)]
    inside = [False] * (len(doc.text) + 1)
    for start, end in proteins:
        inside[start + 1 : end] = [True] * (end - start - 1)
    ends = sorted({match.start() for match in _STOP.finditer(doc.text) if not inside[match.start()]})
    doc.set_offsets([start for start, _ in words], [end for _, end in words])
    doc.set_column("form", [doc.text[start:end] for start, end in words])
    cuts, at = [0], 0
    for number, (start, _) in enumerate(words):
        while at < len(ends) and start >= ends[at]:
            at += 1
            if number > cuts[-1]:
                cuts.append(number)
    doc.set_sentences([*cuts, len(words)])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(a, b, PROTEIN) for a, b in proteins], "chars")
    rows = [
        EventRow(row.type, row.trigger, tuple(
            filler._replace(role=_DIGIT.sub("", filler.role)) for filler in row.arguments
            if filler.event >= 0 or filler.label == PROTEIN
        ))
        for row in event_rows(given, unit="chars")
    ]  # fmt: skip
    set_events(doc, rows, unit="chars")
    return doc


def _cut(start: int, end: int, borders: set[int]) -> list[tuple[int, int]]:
    places = [start, *(place for place in range(start + 1, end) if place in borders), end]
    return list(itertools.pairwise(places))


def casie(path: Path) -> list[Doc]:
    """The articles of CASIE, by the numbers of their files; mentions are all fillers, and gold events."""
    return articles(path, _article)


def _article(values: dict[str, Any]) -> Doc:
    doc = Doc(values["content"])
    split_by_rule(doc)
    rows: list[EventRow] = []
    mentions: set[tuple[int, int, str]] = set()
    for hopper in values.get("cyberevent", {}).get("hopper", ()):
        for event in hopper["events"]:
            trigger = find_place(doc.text, event["nugget"])
            if trigger is None:
                continue
            fillers = []
            for part in event.get("argument", ()):
                place = find_place(doc.text, part) if "startOffset" in part else None
                if place is not None:
                    fillers.append(Filler(part["role"]["type"], -1, (place,), part["type"]))
                    mentions.add((*place, part["type"]))
            rows.append(EventRow(event["subtype"], (trigger,), tuple(dict.fromkeys(fillers))))
    doc.spans["entities"] = SpanLayer.of(doc.strings, sorted(mentions), "chars")
    set_events(doc, rows, unit="chars")
    return doc

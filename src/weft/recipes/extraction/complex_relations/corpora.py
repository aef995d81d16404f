"""The corpora: events of CASIE read as tuples, and combinations of drugs.

CASIE: the trigger of an event fills one slot, its arguments the slots of their roles, the first one of every role. The
type of a mention is the slot that it fills, as in the paper, whose entity types are the slots. A string that does not
stand at its offsets is looked for nearby, else dropped.

Drugs: every drug is a mention of one type, so combinations have any number of members (dynamic arity).
"""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from weft.errors import WeftError
from weft.text.conventions.tuples import TupleRow, set_tuples
from weft.text.doc import Doc
from weft.text.layers import SpanLayer, words_of_chars
from weft.text.split import split_by_rule

CASIE = "events/casie/casie350.tar.gz"
DRUGS = "relations/drug-combo/{}.jsonl.gz"
TRIGGER, EVENT, DRUG, MIX = "Trigger", "event", "drug", "combination"
#: How far from its offsets a string is looked for, in characters.
NEARBY = 10


def casie(path: Path) -> list[Doc]:
    """The articles of CASIE, by the numbers of their files."""
    return articles(path, _article)


def articles(path: Path, article: Callable[[dict[str, Any]], Doc]) -> list[Doc]:
    """The articles of CASIE in another form, by the numbers of their files."""
    found: list[tuple[int, Doc]] = []
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".json"):
                file = archive.extractfile(member)
                assert file is not None
                doc = article(json.load(file))
                doc.id = Path(member.name).stem
                found.append((int(doc.id), doc))
    return [doc for _, doc in sorted(found, key=lambda pair: pair[0])]


def _article(values: dict[str, Any]) -> Doc:
    doc = Doc(values["content"])
    split_by_rule(doc)
    spans, numbers = SpanLayer(doc.strings, "chars"), {}
    rows: list[list[tuple[str, int]]] = []
    for hopper in values.get("cyberevent", {}).get("hopper", ()):
        for event in hopper["events"]:
            parts = [(TRIGGER, event["nugget"])]
            parts += [(part["role"]["type"], part) for part in event.get("argument", ()) if "startOffset" in part]
            members: dict[str, int] = {}
            for slot, part in parts:
                place = find_place(doc.text, part)
                if place is None or slot in members:
                    continue
                if (slot, place) not in numbers:
                    numbers[slot, place] = spans.add([place], slot)
                members[slot] = numbers[slot, place]
            if TRIGGER in members and len(members) > 1:
                rows.append(list(members.items()))
    doc.spans["entities"] = words_of_chars(doc, spans)
    set_tuples(doc, _within_sentences(doc, rows))
    return doc


def find_place(text: str, part: dict[str, Any]) -> tuple[int, int] | None:
    """Where the string of an annotation stands."""
    start, end, wanted = part["startOffset"], part["endOffset"], part["text"]
    if text[start:end] == wanted:
        return start, end
    near = text.find(wanted, max(0, start - NEARBY), end + NEARBY)
    return (near, near + len(wanted)) if near >= 0 and wanted else None


def _within_sentences(doc: Doc, rows: list[list[tuple[str, int]]]) -> list[TupleRow]:
    """Tuples without the arguments that stand in another sentence than the trigger; every one once."""
    spans, ends = doc.spans["entities"], doc.sentence_offsets[1:]
    sentence = [int((ends <= row.pieces[0][0]).sum()) for row in spans]
    found = {}
    for members in rows:
        home = sentence[dict(members)[TRIGGER]]
        own = tuple((slot, number) for slot, number in members if sentence[number] == home)
        if len(own) > 1:
            found[frozenset(own)] = TupleRow(EVENT, own)
    return list(found.values())


def drugs(path: Path) -> list[Doc]:
    """The sentences about drugs, each a document; its tokens are separated by spaces."""
    docs = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            values = json.loads(line)
            words = values["sentence"].split()
            doc = Doc.from_words([words])
            if doc.text != values["sentence"]:
                raise WeftError(f"{path}: a sentence has other blanks than single spaces between its tokens")
            doc.id = values["doc_id"]
            spans = SpanLayer(doc.strings, "chars")
            for span in values["spans"]:
                spans.add([(span["start"], span["end"])], DRUG)
            doc.spans["entities"] = words_of_chars(doc, spans)
            sets = {frozenset(each["spans"]) for each in values["rels"] if len(set(each["spans"])) > 1}
            rows = [
                TupleRow(MIX, tuple((DRUG, number) for number in sorted(each))) for each in sorted(sets, key=sorted)
            ]
            set_tuples(doc, rows)
            docs.append(doc)
    return docs

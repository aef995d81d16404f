"""Items: the sentences, texts, spans of a plan or questions of a review that people are shown."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from weft.annotate.journal import Journal, Question, fingerprint, questions_of
from weft.annotate.mentions import Proposal
from weft.errors import ConfigError, DataError, FormatError
from weft.text.doc import Doc
from weft.text.record import to_record
from weft.text.split import with_words
from weft.workbench.answers import Schema, WrongAnswer, checked
from weft.workbench.layers import value_of
from weft.workbench.project import Project, is_held_out
from weft.workbench.store import ANSWER, Answer, NewItem

#: Letters of context that are shown before and after an item.
CONTEXT = 140
UNITS = ("sentence", "document")
#: Who gave the answers of an imported review.
REVIEWER = "review"


def add_texts(project: Project, docs: Iterable[Doc], unit: str = "") -> int:
    """Add the sentences, or whole texts, of documents; labels that they have already are proposed."""
    schema, layer = project.settings.schema(), project.settings.layer
    unit = unit or ("document" if schema.kind == "labels" else "sentence")
    if unit not in UNITS:
        raise ConfigError(f"items are sentences or documents, not {unit!r}")
    if unit == "document" and schema.kind == "trees":
        raise ConfigError("trees are drawn sentence by sentence")
    kept = with_words(docs)

    def places() -> Iterator[tuple[int, int, int]]:
        for number, doc in enumerate(kept):
            ends = doc.sentence_offsets.tolist() if unit == "sentence" else [0, doc.n_words]
            yield from ((number, first, end) for first, end in pairwise(ends))

    items = []
    for number, first, end in places():
        doc = kept[number]
        found = value_of(schema, doc, layer, first, end)
        items.append(_item(project, doc, number, first, end, f"{first}-{end}", None if found is None else found[0]))
    return _add(project, kept, items)


def add_plan(project: Project, docs: Iterable[Doc], plan: Path) -> int:
    """Add the spans of a list of work that `weft label plan` wrote for these documents, in its order."""
    if project.settings.task != "tags":
        raise ConfigError("a list of work is for the task tags: it says which labels of words to check")
    schema, layer = project.settings.schema(), project.settings.layer
    kept = with_words(docs)
    by_name = {doc.id: number for number, doc in enumerate(kept)}
    items = []
    for line, row in enumerate(_rows(plan), start=1):
        try:
            number, first, end = by_name[row["document"]], int(row["start"]), int(row["end"])
            doc = kept[number]
            if " ".join(doc.column("form")[first:end]) != row["text"]:
                raise KeyError(row["text"])
        except (KeyError, TypeError, ValueError):
            expected = "a span of the documents given, as `weft label plan` writes it"
            raise FormatError(str(plan), line, expected, str(row)[:60]) from None
        found = value_of(schema, doc, layer, first, end)
        items.append(_item(project, doc, number, first, end, f"{first}-{end}", None if found is None else found[0]))
    return _add(project, kept, items)


def add_questions(
    project: Project, docs: Sequence[Doc], proposals: Sequence[Sequence[Sequence[Proposal]]], journal: Path | None
) -> tuple[int, int]:
    """Add a question for every suggestion, and the answers of a journal of `weft label review`."""
    asked = questions_of(proposals)
    items = []
    for question in asked:
        doc = docs[question.doc]
        first, end = doc.sentence_offsets[question.sentence : question.sentence + 2].tolist()
        item = _item(project, doc, question.doc, first, end, question.id, None)
        each = question.proposal
        span = {"pieces": [[each.start, each.end]], "label": each.label}
        items.append(item._replace(shown={**item.shown, "question": span}))
    decisions = []
    if journal is not None:
        if not journal.is_file():
            raise DataError(f"no file {journal}")
        with Journal(journal, len(asked), fingerprint(asked, docs)) as kept:
            decisions = list(kept.decisions.items())
    added = _add(project, docs, items)
    return added, _import(project, decisions, asked)


def _import(project: Project, decisions: Sequence[Any], asked: Sequence[Question]) -> int:
    if not decisions:
        return 0
    store = project.store
    if store.person(REVIEWER) is None:
        store.add_person(REVIEWER)
    known = {question.id for question in asked}
    numbers = {item.shown["key"]: item.id for item in store.items()}
    rows = [(name, decision) for name, decision in decisions if name in known]
    for name, decision in rows:
        value = {"accept": decision.accept}
        store.add(Answer(f"review-{name}", numbers[name], REVIEWER, ANSWER, value, decision.seconds))
    return len(rows)


def _item(project: Project, doc: Doc, number: int, first: int, end: int, key: str, given: Any) -> NewItem:
    words = shown_words(doc, first, end)
    starts, ends = doc.word_start, doc.word_end
    low, high = int(starts[first]), int(ends[end - 1])
    shown = {
        "words": words, "key": key, "document": plain(doc.id),
        "before": _context(doc.text[max(0, low - CONTEXT) : low], cut_left=low > CONTEXT),
        "after": _context(doc.text[high : high + CONTEXT], cut_right=len(doc.text) > high + CONTEXT),
    }  # fmt: skip
    name = f"{plain(doc.id) or number + 1}#{key}"
    held = is_held_out(name, doc.text[low:high], project.settings.held_out)
    return NewItem(name, number, first, end, shown, _valid(project.settings.schema(), given, end - first), held)


def _context(text: str, cut_left: bool = False, cut_right: bool = False) -> str:
    """Text beside an item, on one line and without half words.

    >>> _context("alf a word\\nand more", cut_left=True)
    '… a word and more'
    """
    words = text.split()
    if cut_left:
        words[:1] = ["…"]
    if cut_right:
        words[-1:] = ["…"]
    return " ".join(words)


def plain(name: str) -> str:
    """A name that can be stored and sent: letters of file names that are not UTF-8 are replaced."""
    return name.encode("utf-8", "replace").decode()


def shown_words(doc: Doc, first: int, end: int) -> list[list[str]]:
    """The words of an item, each with what stands between it and the next one.

    >>> shown_words(Doc.from_words([["Hi", "!"]], spaces=[[False, True]]), 0, 2)
    [['Hi', ''], ['!', '']]
    """
    forms = doc.column("form")[first:end]
    starts, ends = doc.word_start[first:end].tolist(), doc.word_end[first:end].tolist()
    gaps = [doc.text[a:b] if a < b else "" for a, b in zip(ends, starts[1:], strict=False)]
    return [list(pair) for pair in zip(forms, [*gaps, ""], strict=True)]


def _valid(schema: Schema, given: Any, words: int) -> Any:
    """What a file says of an item, if it is an answer to the task; for tags and trees it may be incomplete."""
    if given is None or schema.kind in ("tags", "trees"):
        return given
    try:
        return checked(schema, given, words)
    except WrongAnswer:
        return None


def _add(project: Project, docs: Sequence[Doc], items: list[NewItem]) -> int:
    if not items:
        raise DataError("there is nothing to label: the files have no words, or nothing is suggested in them")
    store = project.store
    before = store.counts()["items"]
    taken = {item.name for item in store.items()} if before else set()
    named = []
    for rank, item in enumerate(items):
        name, again = item.name, 1
        while name in taken:
            again += 1
            name = f"{item.name}~{again}"
        taken.add(name)
        named.append(item._replace(name=name, rank=float(before + rank)))
    store.add_items([to_record(doc) for doc in docs], named)
    return len(named)


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError:
                row = None
            if not isinstance(row, dict):
                raise FormatError(str(path), number, "a JSON object", line[:60])
            yield row

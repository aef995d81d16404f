"""Plans for documents: doubts of a layer's labels, and lists of work for people and for other tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.annotate.plans.calibrate import Calibrator
from weft.annotate.plans.planner import Work, WorkList
from weft.arrays import Bools, Floats
from weft.errors import ConfigError, DataError
from weft.formats import write
from weft.formats.streams import write_texts
from weft.text.conventions.misc_spans import confidence_of_misc
from weft.text.doc import Doc
from weft.text.layers import SpanLayer

#: How lists of work are written.
TARGETS = ("weft", "label-studio", "doccano", "prodigy")
#: Words that are shown before and after a span.
AROUND = 8


def probabilities(docs: Sequence[Doc], layer: str) -> Floats:
    """The probabilities of the labels of all words.

    >>> doc = Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]])
    >>> doc.confidence["upos"] = np.array([0.9, 0.5], dtype=np.float32)
    >>> probabilities([doc], "upos").round(1).tolist()
    [0.9, 0.5]
    """
    parts = [np.zeros(0)]
    for doc in docs:
        own = doc.confidence.get(layer)
        own = confidence_of_misc(doc, layer) if own is None else own
        if own is None:
            told = f"{doc!r} has no probabilities of {layer!r}"
            raise DataError(f"{told}; annotate with `weft annotate --probabilities`")
        parts.append(np.asarray(own, dtype=np.float64))
    return np.concatenate(parts)


def right_labels(gold: Sequence[Doc], predicted: Sequence[Doc], layer: str) -> Bools:
    """Which labels are those of the gold documents, which need the same words."""
    if len(gold) != len(predicted) or any(a.n_words != b.n_words for a, b in zip(gold, predicted, strict=False)):
        raise DataError("the known labels and the predicted ones need the same documents and words")
    return np.array([
        a == b for one, other in zip(gold, predicted, strict=True)
        for a, b in zip(one.column(layer), other.column(layer), strict=True)
    ], dtype=bool)  # fmt: skip


def calibrated(gold: Sequence[Doc], predicted: Sequence[Doc], layer: str) -> Calibrator:
    """Learn how often a label is wrong from documents whose labels are known."""
    return Calibrator.fit(probabilities(predicted, layer), right_labels(gold, predicted, layer))


def work_lines(docs: Sequence[Doc], plan: WorkList, layer: str) -> Iterator[str]:
    """The work of a plan, the best rate first, as lines of JSON.

    >>> from weft.annotate.plans.planner import Work
    >>> doc = Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]])
    >>> list(work_lines([doc], WorkList([Work(1, 2, "check", 3.9, 0.5)], 3.9, 0.5, 0.0), "upos"))[0][:55]
    '{"document": "", "start": 1, "end": 2, "text": "bark", '
    """
    for row in _rows(docs, plan, layer):
        yield json.dumps(row, ensure_ascii=False) + "\n"


def work_docs(docs: Sequence[Doc], plan: WorkList, layer: str) -> Iterator[Doc]:
    """The work of a plan as documents that annotation tools can show, the best rate first.

    The text is a span with the words around it; the labels of its words, to be corrected, are spans of `entities`.

    >>> from weft.annotate.plans.planner import Work
    >>> doc = Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]])
    >>> (work,) = work_docs([doc], WorkList([Work(1, 2, "check", 3.9, 0.5)], 3.9, 0.5, 0.0), "upos")
    >>> work.text, work.entities, work.meta["rank"], work.meta["errors"]
    ('dogs bark', [Span('bark', 'VERB')], 1, 0.5)
    """
    for rank, (doc, start, end, each) in enumerate(_placed(docs, plan), start=1):
        work = Doc(meta={
            "id": f"work-{rank}", "rank": rank, "document": doc.id, "start": start, "end": end, "mode": each.mode,
            "expected_seconds": round(each.seconds, 2), "errors": round(each.errors, 3),
        })  # fmt: skip
        work.text, places = _around(doc, start, end)
        work.spans["entities"] = SpanLayer.of(
            work.strings,
            [(*place, label) for place, label in zip(places, doc.column(layer)[start:end], strict=True)],
            "chars",
        )
        yield work


def write_work(docs: Sequence[Doc], plan: WorkList, layer: str, path: str, target: str = "weft") -> None:
    """Write the work of a plan as lines of JSON, or in the format of an annotation tool."""
    if target not in TARGETS:
        raise ConfigError(f"work is written for {', '.join(TARGETS)}, not {target!r}")
    if target == "weft":
        write_texts(work_lines(docs, plan, layer), path)
    else:
        write(work_docs(docs, plan, layer), path, target)


def take_over(docs: Sequence[Doc], done: Iterable[Doc], layer: str) -> int:
    """Write the labels that people gave to the words of a list of work into the documents; how many changed.

    >>> from weft.annotate.plans.planner import Work
    >>> doc = Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "NOUN"]])
    >>> (work,) = work_docs([doc], WorkList([Work(1, 2, "check", 3.9, 0.5)], 3.9, 0.5, 0.0), "upos")
    >>> work.spans["entities"] = SpanLayer.of(work.strings, [(5, 9, "VERB")], "chars")
    >>> take_over([doc], [work], "upos"), doc.column("upos")
    (1, ['NOUN', 'VERB'])
    """
    named = {doc.id: doc for doc in docs}
    changed = 0
    columns = {name: doc.column(layer) for name, doc in named.items()}
    for work in done:
        name, start, end = (work.meta.get(key) for key in ("document", "start", "end"))
        doc = named.get(str(name))
        if doc is None or type(start) is not int or type(end) is not int or not 0 <= start < end <= doc.n_words:
            raise DataError(f"{work!r} is no work on the documents given: it names words {start}-{end} of {name!r}")
        text, places = _around(doc, start, end)
        if text != work.text:
            raise DataError(
                f"{work!r} has another text than words {start}-{end} of {name!r}; were these changed since?"
            )
        given = {row.pieces[0]: row.label for row in work.spans.get("entities", ())}
        for number, place in enumerate(places, start=start):
            label = given.get(place, "")
            if label and label != columns[doc.id][number]:
                columns[doc.id][number] = label
                changed += 1
    for name, doc in named.items():
        doc.set_column(layer, columns[name])
    return changed


def _around(doc: Doc, start: int, end: int) -> tuple[str, list[tuple[int, int]]]:
    """The text of words with those around them, and the places of the words."""
    forms = doc.column("form")
    text = "".join(f"{form} " for form in forms[max(0, start - AROUND) : start])
    places = []
    for form in forms[start:end]:
        places.append((len(text), len(text) + len(form)))
        text += form + " "
    return (text + " ".join(forms[end : end + AROUND])).rstrip(" "), places


def _placed(docs: Sequence[Doc], plan: WorkList) -> Iterator[tuple[Doc, int, int, Work]]:
    """The document of every span, the best rate first, and the words of the document that it has."""
    firsts = np.concatenate([[0], np.cumsum([doc.n_words for doc in docs])])
    for each in plan.by_rate():
        number = int(np.searchsorted(firsts, each.start, side="right")) - 1
        first = int(firsts[number])
        yield docs[number], each.start - first, each.end - first, each


def _rows(docs: Sequence[Doc], plan: WorkList, layer: str) -> Iterable[dict[str, Any]]:
    for doc, start, end, each in _placed(docs, plan):
        forms = doc.column("form")
        yield {
            "document": doc.id, "start": start, "end": end, "text": " ".join(forms[start:end]),
            "labels": list(doc.column(layer)[start:end]), "mode": each.mode, "seconds": round(each.seconds, 2),
            "errors": round(each.errors, 3), "before": " ".join(forms[max(0, start - AROUND) : start]),
            "after": " ".join(forms[end : end + AROUND]),
        }  # fmt: skip

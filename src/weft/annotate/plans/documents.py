"""Plans for documents: doubts of a layer's labels, and lists of work for people and for other tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.annotate.plans.calibrate import Calibrator
from weft.annotate.plans.planner import WorkList
from weft.arrays import Bools, Floats
from weft.errors import ConfigError, DataError
from weft.text.conventions.misc_spans import confidence_of_misc
from weft.text.doc import Doc

#: How lists of work are written.
TARGETS = ("weft", "label-studio", "doccano")


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


def work_lines(docs: Sequence[Doc], plan: WorkList, layer: str, target: str = "weft") -> Iterator[str]:
    """The work of a plan, the best rate first, as lines of JSON; Label Studio gets one list.

    >>> from weft.annotate.plans.planner import Work
    >>> doc = Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]])
    >>> list(work_lines([doc], WorkList([Work(1, 2, "check", 3.9, 0.5)], 3.9, 0.5, 0.0), "upos"))[0][:55]
    '{"document": "", "start": 1, "end": 2, "text": "bark", '
    """
    if target not in TARGETS:
        raise ConfigError(f"work is written for {', '.join(TARGETS)}, not {target!r}")
    rows = list(_rows(docs, plan, layer))
    if target == "label-studio":
        yield json.dumps([{"data": row} for row in rows], ensure_ascii=False, indent=1) + "\n"
        return
    for row in rows:
        if target == "doccano":
            row = {"text": row["text"], "meta": {name: value for name, value in row.items() if name != "text"}}
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _rows(docs: Sequence[Doc], plan: WorkList, layer: str) -> Iterable[dict[str, Any]]:
    firsts = np.concatenate([[0], np.cumsum([doc.n_words for doc in docs])])
    for each in plan.by_rate():
        number = int(np.searchsorted(firsts, each.start, side="right")) - 1
        doc, first = docs[number], int(firsts[number])
        start, end = each.start - first, each.end - first
        yield {
            "document": doc.id, "start": start, "end": end, "text": " ".join(doc.column("form")[start:end]),
            "labels": list(doc.column(layer)[start:end]), "mode": each.mode, "seconds": round(each.seconds, 2),
            "errors": round(each.errors, 3), "before": " ".join(doc.column("form")[max(0, start - 8) : start]),
            "after": " ".join(doc.column("form")[end : end + 8]),
        }  # fmt: skip

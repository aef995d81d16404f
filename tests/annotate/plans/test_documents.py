"""Lists of work go to annotation tools and come back as corrected labels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from weft.annotate.plans.documents import TARGETS, take_over, work_docs, write_work
from weft.annotate.plans.planner import Work, WorkList
from weft.errors import DataError
from weft.formats import read
from weft.text import Doc, SpanLayer

PLAN = WorkList([Work(1, 3, "check", 4.9, 0.3), Work(4, 5, "check", 3.9, 0.6)], 8.8, 0.9, 0.0)


def documents() -> list[Doc]:
    docs = [Doc.from_words([["the", "dogs", "bark"]], upos=[["DET", "NOUN", "X"]]),
            Doc.from_words([["🙂", "sleep", "."]], upos=[["SYM", "X", "PUNCT"]])]  # fmt: skip
    for name, doc in zip("ab", docs, strict=True):
        doc.id = name
        doc.confidence["upos"] = np.full(3, 0.5, np.float32)
    return docs


@pytest.mark.parametrize("target", TARGETS[1:])
def test_corrected_labels_come_back_from_every_tool(target: str, tmp_path: Path) -> None:
    docs = documents()
    path = str(tmp_path / "work")
    write_work(docs, PLAN, "upos", path, target)
    work = list(read(path, target))
    assert [(doc.text, doc.meta["document"], doc.meta["rank"]) for doc in work] == [
        ("🙂 sleep .", "b", 1), ("the dogs bark", "a", 2),
    ]  # the best rate first  # fmt: skip
    assert [[(span.text, span.label) for span in doc.entities] for doc in work] == [
        [("sleep", "X")], [("dogs", "NOUN"), ("bark", "X")],
    ]  # fmt: skip
    for doc in work:
        layer = doc.spans["entities"]
        doc.spans["entities"] = SpanLayer.of(
            doc.strings, [(*row.pieces[0], "VERB" if row.label == "X" else row.label) for row in layer], "chars"
        )
    assert take_over(docs, work, "upos") == 2
    assert [doc.column("upos") for doc in docs] == [["DET", "NOUN", "VERB"], ["SYM", "VERB", "PUNCT"]]


def test_work_on_other_documents_is_refused() -> None:
    docs = documents()
    (first, _) = work_docs(docs, PLAN, "upos")
    with pytest.raises(DataError, match="no work on the documents given"):
        take_over(docs[:1], [first], "upos")
    docs[1].set_column("form", ["🙂", "slept", "."])
    with pytest.raises(DataError, match="another text"):
        take_over(docs, [first], "upos")

"""Copies of training data with tags and trees as on unseen text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, frame_rows, set_frames
from weft.training.copies import copies


class Marker:
    """Writes which words it was trained on in place of tags, and a tree of its own."""

    def __init__(self, docs: Sequence[Doc]) -> None:
        self.seen = {form for doc in docs for form in doc.column("form")}

    def __call__(self, docs: Sequence[Doc]) -> None:
        for doc in docs:
            assert doc.head is None
            assert not any(doc.has(name) for name in ("upos", "lemma", "deprel"))
            doc.set_column("upos", ["seen" if form in self.seen else "new" for form in doc.column("form")])
            doc.head = np.zeros(doc.n_words, dtype=np.int32)


def framed(words: Sequence[str]) -> Doc:
    doc = Doc.from_words(
        [list(words)], upos=[["NOUN", "VERB"]], lemma=[["x", "y"]], head=[[2, 0]], deprel=[["nsubj", "root"]]
    )
    set_frames(doc, [FrameRow(1, "bark.01", (Role("A0", 0, 1),))])
    return doc


def test_every_copy_is_annotated_by_what_was_not_trained_on_it_and_keeps_its_frames():
    docs = [framed([f"dog{i}", f"barks{i}"]) for i in range(40)]
    folds: list[int] = []

    def train(fold: int, others: Sequence[Doc]) -> list[Marker]:
        folds.append(fold)
        assert all(doc.has("upos") and doc.head is not None for doc in others)
        return [Marker(others)]

    found = copies(docs, train, 3)  # type: ignore[arg-type]
    assert folds == [0, 1, 2]
    assert [doc.column("form") for doc in found] == [doc.column("form") for doc in docs]
    assert all(doc.column("upos") == ["new", "new"] for doc in found)
    assert all(frame_rows(doc) == frame_rows(docs[0]) for doc in found)
    assert all(doc.column("upos") == ["NOUN", "VERB"] and doc.head.tolist() == [2, 0] for doc in docs)  # type: ignore[union-attr]


def test_few_documents_are_split_by_sentence():
    doc = Doc.from_words([[f"dog{i}", f"barks{i}"] for i in range(6)], head=[[2, 0]] * 6)
    found = copies([doc], lambda fold, others: [Marker(others)], 2)  # type: ignore[list-item]
    assert len(found) == 6
    assert all(each.column("upos") == ["new", "new"] for each in found)

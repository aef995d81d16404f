"""Tags of training data, predicted by components that were not trained on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.pipeline.component import Asked, Component, State
from weft.storage import Arrays
from weft.text.doc import Doc
from weft.text.layers import SpanLayer
from weft.training.jackknife import Jackknife


class Memory(Component):
    """Tags words it has met SEEN and others NEW."""

    task = "memory"
    provides = ("upos",)

    def __init__(self, docs: Sequence[Doc]) -> None:
        self.known = {form for doc in docs for form in doc.column("form")}

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            doc.set_column("upos", ["SEEN" if form in self.known else "NEW" for form in doc.column("form")])

    def state(self) -> State:
        return {}, {}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Memory:
        return cls([])


def corpus() -> list[Doc]:
    return [Doc.from_words([[f"a{i}", f"b{i}"], [f"c{i}"]], upos=[["X", "X"], ["X"]]) for i in range(6)]


def jackknife(docs: Sequence[Doc]) -> Jackknife:
    return Jackknife(docs, [Memory(docs)], lambda fold, part: [Memory(part)], folds=3)


def test_what_the_tagger_learned_from_is_tagged_by_one_that_did_not() -> None:
    docs = corpus()
    for doc in jackknife(docs)(docs):
        assert set(doc.column("upos")) == {"NEW"}


def test_other_text_is_tagged_by_the_tagger_itself() -> None:
    other = Doc.from_words([["a1", "zzz"]])
    assert jackknife(corpus())([other])[0].column("upos") == ["SEEN", "NEW"]


def test_a_sentence_is_known_again_by_its_characters_in_another_corpus() -> None:
    other = Doc.from_words([["a1b", "1"], ["a2"]], spaces=[[False, True], [True]])
    assert jackknife(corpus())([other])[0].column("upos") == ["NEW", "NEW", "SEEN"]


def test_gold_layers_and_the_given_documents_stay_as_they_are() -> None:
    docs = corpus()
    docs[0].spans["chunks"] = SpanLayer.of(docs[0].strings, [(0, 2, "NP")])
    found = jackknife(docs)(docs)
    assert list(found[0].spans["chunks"]) == list(docs[0].spans["chunks"])
    assert docs[0].column("upos") == ["X", "X", "X"]

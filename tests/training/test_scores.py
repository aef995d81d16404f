"""What a pipeline is scored on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.pipeline.component import Asked, Component, State
from weft.pipeline.pipeline import Pipeline
from weft.storage import Arrays
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text import Doc
from weft.training.scores import TAGS, annotated


class NeedsFineTags(Component):
    task = "fine"
    requires = ("xpos",)
    provides = ("spans/fine",)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        raise AssertionError("nobody scores its spans where tags are given")

    def state(self) -> State:
        return {}, {}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> NeedsFineTags:
        return cls()


def test_trees_from_gold_tags_need_no_tags_that_only_other_components_read() -> None:
    gold = Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]], head=[[2, 0]], deprel=[["nsubj", "root"]])
    parser = Parser(ParserSettings(epochs=2))
    parser.fit([gold])
    (found,) = annotated(Pipeline([parser, NeedsFineTags()]), [gold], TAGS)
    assert found.head is not None
    assert found.head.tolist() == [2, 0]

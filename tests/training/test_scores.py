"""What a pipeline is scored on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weft.pipeline.component import Asked, Component, State
from weft.pipeline.pipeline import Pipeline
from weft.storage import Arrays
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.text import Doc
from weft.text.layers import SpanLayer
from weft.training import PipelineConfig
from weft.training import config as specs
from weft.training.corpora import CorpusReader
from weft.training.scores import TAGS, annotated, score_test


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


class Names(Component):
    """Calls every word with a capital a person, nine times out of ten."""

    task = "names"
    provides = ("spans/entities", "upos")
    gives_probabilities = True

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            doc.spans["entities"] = SpanLayer(doc.strings)
            doc.set_column("upos", ["PROPN" if form.istitle() else "VERB" for form in doc.column("form")])
            if asked.probabilities:
                doc.confidence["upos"] = np.full(doc.n_words, 0.9, dtype=np.float32)
            for i, form in enumerate(doc.column("form")):
                if form.istitle():
                    known = {"probability": 0.9} if asked.probabilities else {}
                    doc.spans["entities"].add([(i, i + 1)], "PER", **known)

    def state(self) -> State:
        return {}, {}

    @classmethod
    def from_state(cls, header: dict[str, Any], arrays: Arrays) -> Names:
        return cls()


def test_names_are_scored_by_class_and_probabilities_are_judged(tmp_path: Path) -> None:
    (tmp_path / "test.conll").write_text("Ada PROPN B-PER\nleft VERB O\nOslo PROPN B-LOC\n")
    corpus = specs.CorpusSpec("A corpus", "MIT", test=["test.conll"], read={"fields": "form upos entities"})
    config = PipelineConfig("x", "X", "MIT", [], {"own": corpus}, path=tmp_path / "x.toml")
    test = specs.TestSpec("own", "own.test", ["ud", "entities"])
    raw, gold = score_test(Pipeline([Names()]), test, CorpusReader(config))
    assert (gold["from"], "calibration" in raw) == ("gold words", False)
    assert {name: gold["scores"][name] for name in ("entities", "PER", "LOC")} == {
        "entities": pytest.approx(50), "PER": pytest.approx(200 / 3), "LOC": 0.0
    }  # fmt: skip
    assert gold["calibration"]["upos"] == {
        "decisions": 3, "right": 1.0, "probability": pytest.approx(0.9), "error": pytest.approx(0.1)
    }  # fmt: skip
    assert gold["calibration"]["entities"]["right"] == 0.5
    assert gold["calibration"]["entities"]["error"] == pytest.approx(0.4)

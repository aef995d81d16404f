"""The blended parser: members vote, and what they know is kept in one model."""

from __future__ import annotations

import numpy as np
import pytest
from small_treebank import bare, treebank

from weft.errors import ConfigError, ModelError, WeftError
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import new_component
from weft.tasks.parsing.blend import Blender
from weft.tasks.parsing.blended import BlendedParser, BlendedSettings
from weft.text import Doc

SMALL = {"one": "arc-eager+epochs:8", "two": "arc-eager+epochs:8+reverse:true", "three": "mst1+epochs:4+bits:14"}


class Says:
    """A parser that always says the same."""

    task = "parser"

    def __init__(self, heads: list[int]) -> None:
        self.heads = heads

    def __call__(self, docs: list[Doc]) -> None:
        for doc in docs:
            doc.head = np.array(self.heads, np.int32)
            doc.set_column("deprel", ["dep" if head else "root" for head in self.heads])


def voting(*members: list[int]) -> BlendedParser:
    parser = BlendedParser()
    parser.members = [Says(heads) for heads in members]
    parser.blender = Blender.equal(len(members))
    return parser


@pytest.fixture(scope="module")
def fitted() -> BlendedParser:
    parser = BlendedParser(BlendedSettings(parsers=SMALL))
    parser.fit([treebank()])
    return parser


def test_the_majority_decides_word_by_word() -> None:
    doc = Doc.from_words([["she", "saw", "him", "there"]], upos=[["PRON", "VERB", "PRON", "ADV"]])
    voting([2, 0, 2, 3], [2, 0, 2, 2], [3, 0, 2, 2])([doc])
    assert doc.head.tolist() == [2, 0, 2, 2]
    assert doc.column("deprel") == ["dep", "root", "dep", "dep"]


def test_members_see_the_same_document_and_not_each_others_trees() -> None:
    doc = Doc.from_words([["she", "slept"]], upos=[["PRON", "VERB"]])
    seen = []

    class Looks(Says):
        def __call__(self, docs: list[Doc]) -> None:
            seen.append([docs[0].head, docs[0].has("deprel")])
            super().__call__(docs)

    parser = voting([2, 0], [2, 0])
    parser.members = [Looks([2, 0]), Looks([2, 0])]
    parser([doc])
    assert seen == [[None, False]] * 2


def test_it_learns_a_small_treebank(fitted: BlendedParser) -> None:
    doc, gold = bare(treebank()), treebank()
    fitted([doc, Doc("")])
    assert doc.head.tolist() == gold.head.tolist()
    assert doc.column("deprel") == gold.column("deprel")
    assert fitted.scores([gold]) == {"UAS": 1.0, "LAS": 1.0}


def test_dev_data_weigh_the_members_by_tag() -> None:
    parser = BlendedParser(BlendedSettings(parsers={"one": "arc-eager+epochs:8", "two": "arc-hybrid+epochs:8"}))
    report = parser.fit([treebank()], [treebank()])
    assert report["scores"] == {"dev UAS": 1.0, "dev LAS": 1.0}
    assert report["training"]["parsers"] == 2
    assert parser.blender is not None
    assert set(parser.blender.weights) == set(treebank().column("upos"))


def test_a_saved_blend_says_the_same(tmp_path, fitted: BlendedParser) -> None:
    Pipeline([fitted]).save(tmp_path / "blend.weft")
    again = Pipeline.load(tmp_path / "blend.weft")
    one, other = bare(treebank()), bare(treebank())
    fitted([one])
    again.annotate([other])
    assert one.head.tolist() == other.head.tolist()
    assert one.column("deprel") == other.column("deprel")
    assert [type(each) for each in again.components[0].members] == [type(each) for each in fitted.members]


def test_weights_of_other_numbers_of_parsers_are_refused(fitted: BlendedParser) -> None:
    header, arrays = fitted.state()
    with pytest.raises(ModelError, match="not those of 3 parsers"):
        BlendedParser.from_state({**header, "others": [1.0, 1.0]}, arrays)


def test_the_system_blend_chooses_the_method() -> None:
    assert new_component("parser", {"system": "blend"}).task == "blended-parser"


@pytest.mark.parametrize(
    ("parsers", "message"),
    [
        ({"one": "arc-eager"}, "two parsers or more, got 1"),
        ({"one": "arc-eager", "two": "arc-eager+reverse"}, "NAME=SYSTEM"),
        ({"one": "arc-eager", "two": "arc-eagre"}, "the parser two of the blend: system must be one of"),
        ({"one": "arc-eager", "two": "mst2+beam:4"}, "the parser two of the blend: unknown setting 'beam'"),
    ],
)
def test_members_that_cannot_be_are_refused(parsers: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        BlendedParser(BlendedSettings(parsers=parsers))


def test_an_untrained_blend_says_so() -> None:
    with pytest.raises(WeftError, match="not trained yet"):
        BlendedParser()([Doc.from_words([["dogs", "bark"]], upos=[["NOUN", "VERB"]])])

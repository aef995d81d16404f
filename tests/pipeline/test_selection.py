"""Parts of models: components by task, layers to keep, and two models that write one layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from weft.errors import ConfigError
from weft.pipeline.component import Asked, Component, State
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.selection import Selection, combined, keep_layers, layers_read
from weft.storage import Arrays
from weft.text import Doc, SpanLayer


class Part(Component):
    """A component that writes its task into the layers it provides."""

    def __init__(self, task: str, provides: Sequence[str], requires: Sequence[str] = ()) -> None:
        self.task = task  # type: ignore[misc]
        self.provides, self.requires = tuple(provides), tuple(requires)

    def annotate(self, docs: Sequence[Doc], asked: Asked) -> None:
        for doc in docs:
            for layer in self.provides:
                kind, _, name = layer.rpartition("/")
                if kind:
                    doc.spans[name] = SpanLayer.of(doc.strings, [(0, 1, self.task)])
                else:
                    doc.set_column(layer, [self.task] * doc.n_words)
                    doc.confidence[layer] = np.full(doc.n_words, 0.5, dtype=np.float32)

    def state(self) -> State:
        return {}, {}

    @classmethod
    def from_state(cls, header: dict[str, object], arrays: Arrays) -> Part:
        raise NotImplementedError


def english() -> Pipeline:
    return Pipeline([
        Part("tagger", ["upos", "xpos"]),
        Part("lemmatizer", ["lemma"], ["upos"]),
        Part("parser", ["deprel"], ["upos"]),
        Part("chunker", ["spans/chunks"], ["xpos"]),
        Part("ner", ["spans/entities"]),
    ])  # fmt: skip


def tasks(nlp: Pipeline) -> list[str]:
    return [component.task for component in nlp.components]


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        (Selection(only=("ner",)), ["ner"]),
        (Selection(only=("chunker",)), ["tagger", "chunker"]),
        (Selection(only=("lemmatizer", "ner")), ["tagger", "lemmatizer", "ner"]),
        (Selection(without=("parser", "chunker")), ["tagger", "lemmatizer", "ner"]),
        (Selection(layers=("entities",)), ["ner"]),
        (Selection(layers=("lemma", "spans/entities")), ["tagger", "lemmatizer", "ner"]),
        (Selection(layers=("words",)), []),
        (Selection(only=("chunker",), without=("tagger",)), ["chunker"]),
        (Selection(), ["tagger", "lemmatizer", "parser", "chunker", "ner"]),
    ],
)
def test_the_components_named_run_with_those_they_require(selection: Selection, kept: list[str]) -> None:
    assert tasks(selection.of(english())) == kept


@pytest.mark.parametrize(
    ("selection", "words"),
    [
        (Selection(only=("nerr",)), "no component 'nerr'; did you mean ner"),
        (Selection(without=("speech",)), "no component 'speech'; it has tagger, lemmatizer, parser, chunker, ner"),
        (Selection(layers=("entites",)), "no layer 'entites'; did you mean entities"),
    ],
)
def test_parts_that_a_model_does_not_have_are_told(selection: Selection, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        selection.of(english())
    assert words in str(caught.value)


def test_layers_that_no_component_provides_are_read_from_the_input() -> None:
    assert layers_read(english()) == []
    assert layers_read(Selection(without=("tagger",)).of(english())) == ["upos", "xpos"]


def test_two_models_that_write_one_layer_are_an_error() -> None:
    food = Pipeline([Part("food", ["spans/entities"])])
    with pytest.raises(ConfigError, match=r"food.weft writes the layer entities, which en writes too; .*--layer-as"):
        combined([("en", english()), ("food.weft", food)])


def test_a_layer_by_another_name_leaves_that_of_the_earlier_model_as_it_was() -> None:
    food = Pipeline([Part("food", ["spans/entities"])])
    nlp = combined([("en", english()), ("food.weft", food)], ["food"])
    doc = nlp(Doc.from_words([["Ada", "baked"]]))
    assert [span.label for span in doc.span_views("entities")] == ["ner"]
    assert [span.label for span in doc.span_views("food")] == ["food"]


def test_columns_get_other_names_with_their_probabilities() -> None:
    other = Pipeline([Part("retagger", ["upos", "xpos"])])
    nlp = combined([("en", english()), ("other.weft", other)], ["xpos=penn", "coarse"])
    doc = nlp(Doc.from_words([["Ada", "baked"]]))
    assert (doc.column("upos")[0], doc.column("coarse")[0], doc.column("penn")[0]) == ("tagger", "retagger", "retagger")
    assert {"upos", "coarse", "penn"} <= set(doc.confidence)


def test_names_that_no_layer_needs_and_layers_that_have_one_place_are_told() -> None:
    with pytest.raises(ConfigError, match="--layer-as food: no two models"):
        combined([("en", english())], ["food"])
    parser = Pipeline([Part("parser", ["head"])])
    with pytest.raises(ConfigError, match="a document has one layer head"):
        combined([("a", parser), ("b", parser)], ["other"])


def test_a_component_that_changes_a_layer_it_reads_is_no_conflict() -> None:
    refiner = Pipeline([Part("refiner", ["upos"], ["upos"])])
    assert tasks(combined([("en", english()), ("refiner", refiner)]))[-1] == "refiner"


def annotated() -> Doc:
    doc = Doc.from_words([["Ada", "baked"]], head=[[2, 0]])
    english().annotate([doc])
    return doc


def test_only_the_layers_named_are_kept() -> None:
    doc = annotated()
    keep_layers(doc, ["upos", "entities"], words=False)
    assert set(doc.columns) == {"form", "upos"}
    assert set(doc.confidence) == {"upos"}
    assert (set(doc.spans), doc.head) == ({"entities"}, None)
    assert doc.n_sentences == 1


def test_trees_are_kept_with_their_relations() -> None:
    doc = annotated()
    keep_layers(doc, ["trees"], words=False)
    assert set(doc.columns) == {"form", "deprel"}
    assert doc.head is not None
    assert not doc.spans


def test_without_words_spans_are_counted_in_characters() -> None:
    doc = annotated()
    keep_layers(doc, ["entities"], words=False)
    assert (doc.n_words, doc.n_sentences, doc.spans["entities"].unit) == (0, 0, "chars")
    assert [span.text for span in doc.entities] == ["Ada"]
    doc = annotated()
    keep_layers(doc, ["entities"], words=True)
    assert (doc.n_words, doc.spans["entities"].unit) == (2, "words")

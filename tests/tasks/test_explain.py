"""Explanations: their reasons add up to the margin that the model itself computes, for chains and parsers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import weft
from weft.errors import ConfigError, WeftError
from weft.features.extract import Extractor
from weft.features.gazetteer import Gazetteer
from weft.features.surroundings import Surroundings
from weft.features.templates import Templates
from weft.infer.transitions import Constraints, constrain
from weft.infer.transitions.trace import trace
from weft.pipeline.component import Component
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings
from weft.tasks.parsing.mst.parser import MSTParser
from weft.tasks.parsing.mst.settings import MSTSettings
from weft.tasks.parsing.transitions.parser import Parser, ParserSettings
from weft.tasks.segmentation.segmenter import Segmenter
from weft.tasks.spans.chunker import Chunker, ChunkerSettings
from weft.tasks.tagging.tagger import Tagger, TaggerSettings
from weft.text import Doc, SpanLayer


@pytest.fixture(scope="module")
def story(examples: Path) -> list[Doc]:
    return list(weft.read(examples / "story.conllu"))


@pytest.fixture(scope="module")
def chunks(examples: Path) -> list[Doc]:
    return list(weft.read(examples / "chunks.conll"))


@pytest.mark.parametrize("learner", ["crf", "perceptron", "memm"])
@pytest.mark.parametrize("order", [1, 2])
def test_reasons_for_a_label_add_up_to_the_distance_to_the_next_best_labelling(
    chunks: list[Doc], learner: str, order: int
) -> None:
    if learner == "memm" and order == 2:
        pytest.skip("one order is enough for locally normalized models")
    chunker = Chunker(ChunkerSettings(learner=learner, order=order, iterations=8, epochs=2))
    train = [chunks[0].subset(range(30))]
    chunker.fit(train)
    doc = chunks[0].subset([40])
    for word in (0, 2, doc.n_words - 1):
        found = chunker.explain(doc, word)
        ranked = [(labels[word], np.log(p)) for labels, p in chunker.kbest(doc, 5000)[0]]
        best, second = ranked[0], next(each for each in ranked if each[0] != ranked[0][0])
        assert (found.decision, found.runner_up) == (best[0], second[0])
        assert found.margin == pytest.approx((best[1] - second[1]) * chunker.temperature, rel=1e-4, abs=1e-6)
        labels, posteriors = chunker.posteriors([doc])
        assert found.probability == pytest.approx(posteriors[word, labels.index(found.decision)])
        assert "true" in {reason.template for reason in found.reasons}
        sizes = [abs(reason.difference) for reason in found.reasons]
        assert sizes == sorted(sizes, reverse=True)


def test_templates_with_the_label_before_are_explained(chunks: list[Doc]) -> None:
    chunker = Chunker(
        ChunkerSettings(templates="y[-1]|t[0] y[-1] w[0]", fields={"t": "xpos", "w": "form"}, iterations=5)
    )
    chunker.fit([chunks[0].subset(range(30))])
    doc = chunks[0].subset([40])
    found = chunker.explain(doc, 1)
    assert "y[-1]|t[0]" in {reason.template for reason in found.reasons}
    best, second = (
        next(np.log(p) for labels, p in chunker.kbest(doc, 100)[0] if labels[1] == label)
        for label in (found.decision, found.runner_up)
    )
    assert found.margin == pytest.approx(best - second, rel=1e-4)


def test_values_of_sets_are_told_in_words() -> None:
    doc = Doc.from_words(
        [["Mr", "Hill", "left", "New", "York"], ["Hill", "slept"]], feats=[["A=b|C=d"] + [""] * 4, ["", ""]]
    )
    fields = {
        "g": Gazetteer({"city": ["New York", "York"]}), "e": Surroundings(), "f": "feats:set", "w": "form",
        "l": "form:lower",
    }  # fmt: skip
    extractor = Extractor(list(Templates("g[0] e[0] f[-1]|w[0] w{-1..1} l[0].suffix2 w[-2]")), fields)
    features, _ = extractor.features([doc])
    for word in range(doc.n_words):
        assert len(extractor.describe(doc, word)) == features.offsets[word + 1] - features.offsets[word]
    said = [(str(template), value) for template, value in extractor.describe(doc, 4)]
    assert said == [
        ("g[0]", "city:E"), ("g[0]", "city:S"), ("w{-1..1}", "New"), ("w{-1..1}", "York"), ("l[0].suffix2", "rk"),
        ("w[-2]", "left"),
    ]  # fmt: skip
    said = [(str(template), value) for template, value in extractor.describe(doc, 1)]
    assert ("f[-1]|w[0]", "A=b|Hill") in said
    assert ("e[0]", "after elsewhere: slept") in said
    assert ("w[-2]", "<before>") in said


@pytest.mark.parametrize(("system", "beam"), [("arc-eager", 1), ("arc-hybrid", 4), ("easy-first", 1)])
def test_reasons_for_a_head_add_up_to_the_distance_of_the_actions(story: list[Doc], system: str, beam: int) -> None:
    parser = Parser(ParserSettings(system=system, beam=beam, epochs=2, prune=0.0))
    parser.fit(story)
    doc = story[0].subset([5])
    parser([doc])
    assert parser.parser is not None
    words, offsets = parser.words_of([doc])
    fixed: Constraints | None = None if beam == 1 else constrain(offsets, doc.head)
    derivation = trace(parser.parser, words, constraints=fixed)
    explained = 0
    for word in doc.words:
        found = parser.explain(doc, word.index)
        head = "" if word.head is None else f" of {word.head.form}"
        assert found.decision.startswith(f"{word.deprel}{head}")
        if not found.runner_up:
            continue
        explained += 1
        step = derivation.attaching(word.index + 1)
        move = parser.parser.actions[int(derivation.steps[step, 0])][0]
        chosen = parser.parser.actions.index((move, parser.labels.index(word.deprel)))
        legal = [
            a for a, (m, _) in enumerate(parser.parser.actions) if derivation.steps[step, 1] >> m & 1 and a != chosen
        ]
        scores = derivation.scores[step]
        assert found.margin == pytest.approx(scores[chosen] - max(scores[a] for a in legal))
    assert explained > doc.n_words / 2


@pytest.mark.parametrize("system", ["mst1", "mst2", "mst3", "crossing"])
def test_reasons_for_a_head_add_up_to_the_distance_of_the_trees(story: list[Doc], system: str) -> None:
    parser = MSTParser(MSTSettings(system=system, epochs=1, bits=16, threshold=0.0))
    parser.fit([story[0].subset(range(8))])
    doc = story[0].subset([10])
    parser([doc])
    found = parser.explain(doc, 1)
    ((batch, space),) = parser.searches(parser.batch_of([doc]))
    trees = parser.model.trees(space, batch.words, parser.weights, batch.arc_marks)
    best = trees.best()
    others = trees.restrict((space.modifier != 2) | (space.head != best[1])).best()
    margin = float(trees.score(best)[0] - trees.score(others)[0])
    assert found.margin == pytest.approx(margin, rel=1e-4, abs=1e-4)
    assert found.runner_up.startswith("head ")
    assert any(reason.value == "arc" for reason in found.reasons)
    assert system == "mst1" or any(reason.value in ("sibling", "grand", "grandsib") for reason in found.reasons)


def test_explanations_become_json_and_a_table(story: list[Doc]) -> None:
    tagger = Tagger(TaggerSettings(column="upos", epochs=2))
    tagger.fit(story)
    found = tagger.explain(story[0], 3)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["form"] == story[0][3].form
    assert plain["margin"] == pytest.approx(sum(each["weight"] - each["runner_up"] for each in plain["reasons"]))
    lines = str(found).splitlines()
    assert lines[0].startswith(f"{found.form}: {found.decision} (tagger, probability ")
    assert len(lines) == 2 + 10 + 1
    assert len(found.text(None).splitlines()) == 2 + len(found.reasons)


def test_a_recognizer_explains_the_word_inside_its_document() -> None:
    doc = Doc.from_words([["Ada", "Byron", "lived", "in", "London"], ["She", "left", "Paris"]] * 3)
    spans = [(0, 2, "PER"), (4, 5, "LOC"), (7, 8, "LOC")]
    doc.spans["entities"] = SpanLayer.of(
        doc.strings, [(a + 8 * k, b + 8 * k, label) for k in range(3) for a, b, label in spans]
    )
    recognizer = EntityRecognizer(EntitySettings(epochs=3))
    recognizer.fit([doc])
    found = recognizer.explain(doc, 4)
    assert found.decision == "S-LOC"
    assert "e[0]" in {reason.template for reason in found.reasons}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Tagger(), "not trained yet"),
        (lambda: Segmenter(), "cannot explain its decisions"),
    ],
)
def test_what_cannot_be_explained_is_told(make: Callable[[], Component], message: str) -> None:
    with pytest.raises(WeftError, match=message):
        make().explain(Doc.from_words([["Hi"]]), 0)


def test_words_and_layers_that_are_not_there_are_told(story: list[Doc]) -> None:
    parser = Parser(ParserSettings(epochs=1))
    parser.fit(story)
    with pytest.raises(ConfigError, match="no word 2; the document has 1 words"):
        parser.explain(Doc.from_words([["Hi"]], upos=[["INTJ"]]), 2)
    with pytest.raises(WeftError, match="needs the layer upos to explain"):
        parser.explain(Doc.from_words([["Hi"]]), 0)

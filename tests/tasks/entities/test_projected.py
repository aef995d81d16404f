"""Recognizers from a bitext: what crosses the links, what the objective is, what the model file holds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from weft.errors import ConfigError, DataError, WeftError
from weft.evaluate import evaluate_spans
from weft.learn.bitext.source_noise import Confusion
from weft.pipeline.pipeline import Pipeline
from weft.tasks.entities.projected import (
    Bitext,
    ProjectedRecognizer,
    ProjectionSettings,
    count_confusions,
    project,
    source_posteriors,
)
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings
from weft.text import Doc, SpanLayer
from weft.text.bitext import Links

PEOPLE = ["Ada", "Bo", "Cleo", "Dan", "Eve", "Finn"]
PLACES = ["Arlen", "Brill", "Corvo", "Delm", "Eskil", "Farn"]


def english(n, seed=0):
    """Sentences like `Ada went to Brill .`; the same in a language that puts places first; and the links."""
    rng = np.random.default_rng(seed)
    ours, theirs, links, spans, other_spans, at = [], [], [], [], [], 0
    for _ in range(n):
        person, place = str(rng.choice(PEOPLE)), str(rng.choice(PLACES))
        ours.append([person, "went", "to", place, "."])
        theirs.append(["nach", place + "a", "zog", person + "o", "."])
        links.append([(0, 3), (1, 2), (2, 0), (3, 1), (4, 4)])
        spans += [(at, at + 1, "PER"), (at + 3, at + 4, "LOC")]
        other_spans += [(at + 1, at + 2, "LOC"), (at + 3, at + 4, "PER")]
        at += 5
    return _doc(ours, spans), _doc(theirs, other_spans), Links.of(links)


def _doc(words, spans):
    doc = Doc.from_words(words)
    doc.spans["entities"] = SpanLayer.of(doc.strings, spans)
    return doc


def bare(doc):
    forms = doc.column("form")
    return Doc.from_words([forms[a:b] for a, b in pairwise(doc.sentence_offsets.tolist())])


def f1(recognizer, doc):
    new = bare(doc)
    recognizer([new])
    return evaluate_spans([doc], [new], "entities").score.f1


@pytest.fixture(scope="module")
def source():
    found = EntityRecognizer(EntitySettings(learner="crf", window=0, iterations=15))
    found.fit([english(60)[0]])
    return found


@pytest.fixture(scope="module")
def bitext():
    ours, theirs, links = english(50, seed=1)
    return Bitext([bare(ours)], [bare(theirs)], links)


@pytest.mark.parametrize("how", ["soft", "hard", "ptt"])
def test_a_recognizer_is_learnt_without_a_labelled_sentence(source, bitext, how):
    recognizer = ProjectedRecognizer(ProjectionSettings(project=how, iterations=20))
    report = recognizer.fit_bitext(bitext, source)
    assert f1(recognizer, english(30, seed=2)[1]) == 1.0
    assert report["training"]["pairs"] == 50
    assert report["training"]["labelled_sentences"] == 0
    assert report["bitext"]["linked_words"] == 1.0
    assert "entities" not in bitext.target[0].spans  # what is given stays as it is
    assert "entities" not in bitext.source[0].spans


@pytest.mark.parametrize("settings", [{"distance": "kl"}, {"start": "labelled"}, {"strength": 3.0}, {"workers": 2}])
def test_labelled_sentences_join_in(source, bitext, settings):
    labelled = english(3, seed=3)[1]
    recognizer = ProjectedRecognizer(ProjectionSettings(iterations=20, **settings))
    report = recognizer.fit_bitext(bitext, source, [labelled], dev=[english(10, seed=4)[1]])
    assert report["training"]["labelled_sentences"] == 3
    assert report["scores"]["dev f1"] == 1.0
    assert f1(recognizer, english(30, seed=2)[1]) == 1.0


def test_dev_data_are_looked_at_after_every_iteration_and_the_best_weights_kept(source, bitext):
    recognizer = ProjectedRecognizer(ProjectionSettings(iterations=60))
    assert recognizer.settings.patience == 20
    report = recognizer.fit_bitext(bitext, source, dev=[english(10, seed=4)[1]])
    best = report["scores"]["best_iteration"]
    assert report["training"]["iterations"] == best + 20
    assert report["training"]["stopped"] == "no better on held-out data"


def test_the_model_is_an_ordinary_recognizer(source, bitext, tmp_path):
    recognizer = ProjectedRecognizer(ProjectionSettings(iterations=10))
    recognizer.fit_bitext(bitext, source)
    Pipeline([recognizer]).save(tmp_path / "ner.weft")
    found = Pipeline.load(tmp_path / "ner.weft").components[0]
    assert type(found) is EntityRecognizer
    assert f1(found, english(30, seed=2)[1]) == f1(recognizer, english(30, seed=2)[1])


def test_fit_alone_is_ordinary_training():
    recognizer = ProjectedRecognizer(ProjectionSettings(iterations=20))
    recognizer.fit([english(40, seed=5)[1]])
    assert f1(recognizer, english(30, seed=2)[1]) == 1.0


def test_soft_projection_averages_probabilities_and_leaves_words_without_a_link_free(source):
    ours = bare(english(2, seed=1)[0])
    labels, values, _ = source_posteriors(source, [ours])
    assert labels == ["I-LOC", "I-PER", "O"]
    np.testing.assert_allclose(values.sum(axis=1), 1.0)
    theirs = Doc.from_words([["x", "y", "z"], ["u"]])
    links = Links.of([[(0, 0), (1, 0), (3, 1)], [(2, 0)]])
    found = project(Bitext([ours], [theirs], links), source)
    assert found.constrained.tolist() == [True, True, False, True]
    np.testing.assert_allclose(found.values, [(values[0] + values[1]) / 2, values[3], np.zeros(3), values[7]])


def test_hard_projection_averages_best_labels(source):
    ours = bare(english(1, seed=1)[0])
    found = project(
        Bitext([ours], [Doc.from_words([["x", "y"]])], Links.of([[(0, 0), (1, 0), (3, 1)]])), source, "hard"
    )
    assert found.values.tolist() == [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]


def test_projected_training_takes_words_without_a_link_for_outside(source, bitext):
    links = Links.of([[(i, j) for i, j in pair if i != 3] for pair in bitext.links])
    recognizer = ProjectedRecognizer(ProjectionSettings(project="ptt", iterations=20))
    recognizer.fit_bitext(Bitext(bitext.source, bitext.target, links), source)
    new = bare(english(20, seed=2)[1])
    recognizer([new])
    assert {span.label for span in new.span_views("entities")} == {"PER"}


def test_a_confusion_corrects_what_crosses_the_links(source, bitext):
    confusion = Confusion(["I-LOC", "O"], [[9, 0], [1, 20]])
    raw, corrected = (project(bitext, source, "soft", given) for given in (None, confusion))
    np.testing.assert_allclose(corrected.values[:, 0], 0.9 * raw.values[:, 0])
    np.testing.assert_allclose(corrected.values[:, 2], raw.values[:, 2] + 0.1 * raw.values[:, 0])
    np.testing.assert_allclose(corrected.values.sum(axis=1), 1.0)


def test_confusions_are_counted_on_labelled_text(source):
    confusion = count_confusions(source, [english(30, seed=6)[0]])
    assert list(confusion.labels) == ["I-LOC", "I-PER", "O"]
    assert confusion.counts.sum() == 150
    assert np.trace(confusion.counts) >= 145


def test_links_below_the_threshold_are_left_out(source, bitext):
    doubtful = Links(bitext.links.offsets, bitext.links.source, bitext.links.target, np.full(len(bitext.links), 0.3))
    recognizer = ProjectedRecognizer(ProjectionSettings(threshold=0.5))
    with pytest.raises(DataError, match="no target word is linked"):
        recognizer.fit_bitext(Bitext(bitext.source, bitext.target, doubtful), source)


def test_bad_settings_and_models_are_refused_in_plain_words(source, bitext):
    for wrong in ({"project": "spans"}, {"distance": "l1"}, {"scheme": "IOB2"}, {"learner": "mira"},
                  {"strength": 0.0}, {"threshold": 2.0}, {"nested": True}, {"start": "random"}):  # fmt: skip
        with pytest.raises(ConfigError, match=next(iter(wrong))):
            ProjectedRecognizer(ProjectionSettings(**wrong))
    with pytest.raises(ConfigError, match="set source_text"):
        ProjectedRecognizer(ProjectionSettings(links="x.links")).fit([])
    with pytest.raises(ConfigError, match="the source model does nothing; expected one that recognizes entities"):
        project(bitext, Pipeline([]))
    with pytest.raises(ConfigError, match="project must be one of soft, hard, ptt"):
        project(bitext, source, "firm")
    with pytest.raises(WeftError, match="links of 50 sentence pairs, but 1 target sentences"):
        project(Bitext(bitext.source, [Doc.from_words([["x"]])], bitext.links), source)

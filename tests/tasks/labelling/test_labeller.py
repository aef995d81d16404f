"""Taggers and chunkers: every learner learns, every setting does what it says, bad input is told plainly."""

import numpy as np
import pytest
from places import EXAMPLES

from weft.errors import ConfigError, DataError, TemplateError, WeftError
from weft.evaluate.labels.spans import evaluate_spans
from weft.formats import read
from weft.pipeline.pipeline import Pipeline
from weft.tasks.labelling.labeller import LEARNERS, OPTIMIZERS
from weft.tasks.spans.chunker import Chunker, ChunkerSettings
from weft.tasks.tagging.tagger import Tagger
from weft.text import Doc, SpanLayer


@pytest.fixture(scope="module")
def chunks():
    return list(read(EXAMPLES / "chunks.conll"))


@pytest.fixture(scope="module")
def unseen():
    return EXAMPLES / "unseen.conll"


def f1(component, path):
    gold, system = list(read(path)), list(read(path))
    for doc in system:
        del doc.spans["chunks"]
    component(system)
    return evaluate_spans(gold, system, "chunks").score.f1


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_chunks_unseen_sentences(learner, chunks, unseen):
    chunker = Chunker.from_options({"learner": learner, "iterations": 60, "order": 1, "sigma": 3.0})
    chunker.fit(chunks)
    assert f1(chunker, unseen) > 0.8


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_every_optimizer_trains_a_crf(optimizer, chunks, unseen):
    chunker = Chunker.from_options({"optimizer": optimizer, "order": 1, "iterations": 60, "sigma": 3.0})
    chunker.fit(chunks)
    assert f1(chunker, unseen) > 0.8


@pytest.mark.parametrize("options", [{"order": 2}, {"order": 1}, {"scheme": "BIOES"}, {"scheme": "IO"},
                                     {"features": "all"}, {"hash_bits": 18}, {"min_count": 2},
                                     {"precision": "int16"}, {"precision": "int8", "prune": 0.01}])  # fmt: skip
def test_every_setting_gives_a_working_model(options, chunks, unseen, tmp_path):
    chunker = Chunker.from_options({"iterations": 40, "sigma": 3.0, **options})
    chunker.fit(chunks)
    Pipeline([chunker]).save(tmp_path / "m.weft")
    loaded = Pipeline.load(tmp_path / "m.weft").components[0]
    score = f1(chunker, unseen)
    assert score > 0.8
    assert f1(loaded, unseen) == score


def test_text_without_tags_gets_features_of_its_own(chunks):
    plain = []
    for doc in chunks:
        copy = Doc.from_words([[word.form for word in sentence] for sentence in doc.sentences])
        copy.spans["chunks"] = doc.spans["chunks"]
        plain.append(copy)
    chunker = Chunker.from_options({"iterations": 30})
    chunker.fit(plain)
    assert "shape" in chunker.settings.templates
    assert chunker.requires == ("tokens",)
    doc = Pipeline([chunker])("The old man walked slowly to the harbour.")
    assert len(doc.spans["chunks"]) > 0


def test_templates_of_ones_own_use_the_fields_of_the_task(chunks):
    chunker = Chunker.from_options({"templates": "w[0] w[0].suffix2 y[-1]", "iterations": 10})
    chunker.fit(chunks)
    assert chunker.settings.fields == {"w": "form"}
    assert chunker.requires == ("tokens",)


def test_dev_data_stops_training_and_keeps_the_best(chunks, unseen):
    chunker = Chunker.from_options({"iterations": 200, "order": 1, "patience": 3})
    report = chunker.fit(chunks, read(unseen))
    assert report["training"]["stopped"] in ("no better on held-out data", "converged", "no lower point")
    assert f1(chunker, unseen) == pytest.approx(report["scores"]["dev f1"], abs=1e-9)


def test_probabilities_and_k_best_are_those_of_the_chain(chunks, unseen):
    chunker = Chunker.from_options({"iterations": 40})
    chunker.fit(chunks)
    doc = next(iter(read(unseen)))
    chunker([doc], probabilities=True)
    values = [span.attributes["probability"] for span in doc.span_views("chunks")]
    assert values
    assert all(0.0 < value <= 1.0 for value in values)
    first = chunker.kbest(doc, 4)[0]
    probabilities = [probability for _, probability in first]
    assert probabilities == sorted(probabilities, reverse=True)
    assert sum(probabilities) <= 1.0 + 1e-9
    assert len({tuple(labels) for labels, _ in first}) == len(first)


def test_tagger_learns_any_column():
    docs = list(read(EXAMPLES / "story.conllu"))
    for column in ("upos", "deprel"):
        tagger = Tagger.from_options({"column": column, "epochs": 5})
        tagger.fit(docs)
        fresh = list(read(EXAMPLES / "story.conllu"))
        gold = [doc.column(column) for doc in fresh]
        for doc in fresh:
            doc.columns.pop(column)
        tagger(fresh)
        pairs = [
            (a, b) for one, doc in zip(gold, fresh, strict=True) for a, b in zip(one, doc.column(column), strict=True)
        ]
        assert np.mean([a == b for a, b in pairs]) > 0.95


def test_training_twice_with_one_seed_gives_the_same_weights(chunks):
    found = []
    for _ in range(2):
        chunker = Chunker.from_options({"learner": "perceptron", "epochs": 2, "seed": 7})
        chunker.fit(chunks)
        found.append(chunker.scorer.node.arrays["weights"].tobytes())
    assert found[0] == found[1]


def test_workers_do_not_change_the_result(chunks):
    losses = [Chunker.from_options({"iterations": 10, "workers": n}).fit(chunks)["training"]["loss"] for n in (1, 2)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)


def test_a_model_does_not_tell_where_it_was_trained(chunks, tmp_path):
    chunker = Chunker.from_options({"iterations": 3, "checkpoint": str(tmp_path / "run"), "workers": 2})
    chunker.fit(chunks)
    assert not {"checkpoint", "scheduler", "workers"} & set(chunker.state()[0]["settings"])


def test_a_cluster_trains_the_same_model(chunks):
    distributed = pytest.importorskip("distributed")
    options = {"iterations": 5, "order": 1}
    with distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster:
        there = Chunker.from_options({**options, "scheduler": cluster.scheduler_address}).fit(chunks)
    here = Chunker.from_options(options).fit(chunks)
    assert there["training"]["loss"] == pytest.approx(here["training"]["loss"], rel=1e-9)


@pytest.mark.parametrize(
    ("options", "error", "complaint"),
    [
        ({"colour": 1}, ConfigError, "unknown setting 'colour'"),
        ({"learner": "magic"}, ConfigError, "learner must be one of"),
        ({"sigma": -1}, ConfigError, "sigma must be above 0"),
        ({"sigma": "wide"}, ConfigError, "sigma must be a number"),
        ({"scheme": "XYZ"}, WeftError, "no label scheme"),
        ({"layer": "names"}, DataError, "no span layer 'names'"),
        ({"templates": "q[0]"}, TemplateError, "unknown field 'q'"),
        ({"templates": "y[-3]|y[-2]|y[-1]"}, TemplateError, "at most two previous labels"),
        ({"fields": "w"}, ConfigError, "written as w=form"),
        ({"precision": "int7"}, ConfigError, "precision must be one of"),
        ({"scheduler": "nowhere"}, ConfigError, "no Dask scheduler answers at 'nowhere'"),
    ],
)
def test_bad_settings_are_told_plainly(options, error, complaint, chunks):
    with pytest.raises(error, match=complaint):
        Chunker.from_options(options).fit(chunks)


def test_spans_that_a_chunker_cannot_learn_are_refused():
    doc = Doc.from_words([["a", "b", "c"], ["d"]])
    for spans, complaint in (
        ([[(0, 2)], [(1, 3)]], "overlap"),
        ([[(0, 1), (2, 3)]], "gaps"),
        ([[(2, 4)]], "crosses a sentence boundary"),
    ):
        layer = SpanLayer(doc.strings)
        for pieces in spans:
            layer.add(pieces, "X")
        doc.spans["chunks"] = layer
        with pytest.raises(DataError, match=complaint):
            Chunker(ChunkerSettings()).fit([doc])


def test_untrained_and_empty_are_told_plainly():
    with pytest.raises(WeftError, match="not trained yet"):
        Chunker()([Doc.from_words([["a"]])])
    with pytest.raises(DataError, match="nothing to train on"):
        Chunker().fit([])

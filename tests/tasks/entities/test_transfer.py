"""Entity recognizers from other languages, on made-up languages whose words only clusters have in common."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.evaluate import evaluate_spans
from weft.pipeline.pipeline import Pipeline
from weft.tasks.entities.recognizer import EntityRecognizer
from weft.tasks.entities.transfer import TransferRecognizer, read_clusters
from weft.tasks.entities.transfer_data import Languages, TransferData, TransferSettings
from weft.text import Doc, SpanLayer

SETTINGS = TransferSettings(learner="adagrad", epochs=2, self_train=3, min_count=1)
#: A model with a prior is not sure of names that it met once.
CALIBRATED = replace(SETTINGS, learner="crf", iterations=40, retrain_iterations=30, threshold=0.7)


def language(mark, n, seed, types=("PER", "LOC")):
    """Sentences `word verb cue NAME .` with words and names of its own; spelling does not tell the type of a name. The
    cue does, in half of the sentences. Cues are in shared clusters, names in native ones."""
    rng = np.random.default_rng(seed)
    words, spans, clusters, at = [], [], {}, 0
    for _ in range(n):
        kind = str(rng.choice(["PER", "LOC", "O"], p=[0.35, 0.35, 0.3]))
        cue = {"PER": "mr", "LOC": "in", "O": "the"}[kind] + mark if rng.random() < 0.5 else "and" + mark
        stem = "".join(rng.choice(list("abdefgiklmnoprstu"), 5))
        name = stem.title() if kind != "O" else stem
        clusters[(name + mark).lower()] = kind
        row = [f"w{rng.integers(30)}{mark}", f"v{rng.integers(10)}{mark}", cue, name + mark, "."]
        if kind in types:
            spans.append((at + 3, at + 4, kind))
        words.append(row)
        at += len(row)
    doc = Doc.from_words(words)
    doc.spans["entities"] = SpanLayer.of(doc.strings, spans)
    doc.meta["native"] = clusters
    return doc


def shared(mark):
    return {"mr" + mark: "0", "in" + mark: "10", "the" + mark: "11"}


def made(seed=0, **changes):
    target, test = language("z", 150, seed + 2), language("z", 120, seed + 3)
    given = {
        "sources": {"xx": [language("x", 80, seed)], "yy": [language("y", 80, seed + 1)]},
        "target": [bare(target)],
        "code": "zz",
        "clusters": {"xx": shared("x"), "yy": shared("y"), "zz": shared("z")},
        "native": {**target.meta["native"], **test.meta["native"]},
    }
    return Languages(**{**given, **changes}), test


def bare(doc):
    forms = doc.column("form")
    return Doc.from_words([forms[a:b] for a, b in pairwise(doc.sentence_offsets.tolist())])


def f1(recognizer, test):
    found = bare(test)
    Pipeline([recognizer]).annotate([found])
    return evaluate_spans([test], [found], "entities").score.f1


@pytest.fixture(scope="module")
def material():
    languages, test = made()
    return TransferData(SETTINGS, languages), test


@pytest.mark.must_show("direct-transfer-ner", 4)
@pytest.mark.parametrize("learner", ["adagrad", "crf", "sgd"])
def test_native_clusters_weigh_exactly_nothing_before_the_first_round_and_something_after(learner):
    languages, _ = made()
    data = TransferData(replace(SETTINGS, learner=learner, iterations=15, retrain_iterations=10), languages)
    outcome = data.train(rounds=1)
    before, after = data.native_weights(outcome.first), data.native_weights(outcome.model)
    assert len(before) > 20
    assert (before == 0.0).all()
    assert (after != 0.0).any()
    plain = data.train(rounds=1, native=False)  # without them on target sentences they stay at nothing
    assert (data.native_weights(plain.model) == 0.0).all()


def test_rounds_are_told_and_seeds_matter_only_where_chance_does(material):
    data, _ = material
    outcome = data.train(rounds=2, seed=1)
    assert [told.number for told in outcome.rounds] == [1, 2]
    assert all(0 < told.chosen <= told.sentences == 150 for told in outcome.rounds)
    again = data.train(rounds=2, seed=1)
    assert np.array_equal(outcome.model, again.model)
    assert not np.array_equal(outcome.model, data.train(rounds=2, seed=2).model)


def test_self_training_with_native_clusters_finds_what_transfer_alone_does_not():
    scores = {"direct": [], "self": [], "native": []}
    for seed in (10, 20):
        languages, test = made(seed)
        data = TransferData(CALIBRATED, languages)
        for name, rounds, own in (("direct", 0, False), ("self", 3, False), ("native", 3, True)):
            recognizer = TransferRecognizer(replace(CALIBRATED))
            recognizer.take(data, data.train(rounds=rounds, native=own).model, native=own)
            scores[name].append(f1(recognizer, test))
    means = {name: np.mean(found) for name, found in scores.items()}
    assert means["native"] > means["direct"] + 0.1, scores
    assert means["native"] > means["self"] + 0.1, scores


def test_labelled_target_sentences_join_the_sources():
    languages, test = made()
    own = language("z", 60, 9)
    languages = replace(languages, labelled=[own], native={**languages.native, **own.meta["native"]})
    data = TransferData(CALIBRATED, languages)
    scores = {}
    for labelled in (0, 60):
        recognizer = TransferRecognizer(replace(CALIBRATED))
        recognizer.take(data, data.train(rounds=0, labelled=range(labelled)).model)
        scores[labelled] = f1(recognizer, test)
    assert scores[60] > scores[0] + 0.05, scores
    alone = data.train([], rounds=0)
    recognizer = TransferRecognizer(replace(CALIBRATED))
    recognizer.take(data, alone.model)
    assert f1(recognizer, test) > 0.5


def test_the_saved_model_is_an_ordinary_recognizer(tmp_path):
    languages, test = made()
    recognizer = TransferRecognizer(replace(SETTINGS))
    report = recognizer.fit_languages(languages)
    assert report["training"]["sentences"] == 160
    assert report["training"]["target_sentences"] == 150
    assert set(report["clusters"]) == {"shared", "native"}
    assert report["types"]["types"] == ("LOC", "PER")
    assert sum(count for *_, count in report["target"]["histogram"]) == 750
    Pipeline([recognizer]).save(tmp_path / "m.weft")
    loaded = Pipeline.load(tmp_path / "m.weft").components[0]
    assert type(loaded) is EntityRecognizer
    assert f1(loaded, test) == pytest.approx(f1(recognizer, test), abs=1e-6)
    assert f1(loaded, test) > 0.6


def test_words_are_read_in_lower_case_where_the_target_is_german():
    small = {"sources": {"xx": [language("x", 20, 0)]}, "clusters": None, "native": None}
    german = TransferData(SETTINGS, made(code="de", **small)[0])
    assert german.fields["w"] == "form:lower"
    assert "capital" not in german.templates
    other = TransferData(SETTINGS, made(code="zz", **small)[0])
    assert other.fields["w"] == "form"
    assert "capital" in other.templates
    sources = {"de": [language("x", 20, 0)]}
    from_german = TransferData(SETTINGS, made(code="zz", sources=sources, clusters=None, native=None)[0])
    assert "capital" in from_german.templates  # kept where German is a source
    asked = TransferData(replace(SETTINGS, capitals="see"), made(code="de", **small)[0])
    assert "capital" in asked.templates


def test_tags_are_read_where_all_languages_have_them():
    tagged = Doc.from_words([["Ada", "left"]], upos=[["NOUN", "VERB"]])
    tagged.spans["entities"] = SpanLayer.of(tagged.strings, [(0, 1, "PER")])
    data = TransferData(SETTINGS, Languages({"en": [tagged]}, [tagged], "fr"))
    assert data.tagged
    assert "t[0]" in data.templates
    assert not TransferData(SETTINGS, Languages({"en": [tagged]}, [bare(tagged)], "fr")).tagged


def test_a_type_that_one_corpus_lacks_is_left_out_or_left_open():
    lacking = {"xx": [language("x", 80, 0)], "yy": [language("y", 80, 1, types=("PER",))]}
    languages, test = made(sources=lacking)
    common = TransferData(SETTINGS, languages)
    assert common.types.types == ("PER",)
    assert common.types.dropped["xx"]["LOC"] > 0
    every = TransferData(replace(SETTINGS, types="all"), languages)
    assert every.types.missing == {"xx": (), "yy": ("LOC",)}
    allowed = every.batch("yy").allowed
    labels = every.data.model.space.labels
    gold = every.batch("yy").gold
    outside = gold == labels.index("O")
    assert allowed[outside][:, labels.index("I-LOC")].all()
    assert not allowed[~outside][:, labels.index("I-LOC")].any()
    assert every.batch("xx").allowed is None
    recognizer = TransferRecognizer(replace(SETTINGS, types="all"))
    recognizer.take(every, every.train(rounds=0).model)
    open_score = f1(recognizer, test)
    closed = TransferData(replace(SETTINGS, types="LOC PER"), languages)
    closed._masks.clear()  # as if unmarked words of the second corpus were known to be no places
    recognizer.take(closed, closed.train(rounds=0).model)
    assert open_score > f1(recognizer, test)


def test_clusters_come_in_one_file_or_one_a_language(tmp_path):
    (tmp_path / "a").write_text("0\tcat\t1\n")
    (tmp_path / "b").write_text("0\tchat\t1\n")
    assert read_clusters(str(tmp_path / "a"), ["en", "fr"]) == {"en": {"cat": "0"}, "fr": {"cat": "0"}}
    both = f"en={tmp_path / 'a'},fr={tmp_path / 'b'}"
    assert read_clusters(both, ["en", "fr"])["fr"] == {"chat": "0"}
    with pytest.raises(ConfigError, match="no clusters are given for de"):
        read_clusters(both, ["en", "de"])


def test_what_makes_no_sense_is_refused():
    with pytest.raises(ConfigError, match="by must be one of weight, sample, all"):
        TransferSettings(by="top").check()
    with pytest.raises(ConfigError, match="scheme must be one of IO"):
        TransferSettings(scheme="BIOES").check()
    with pytest.raises(DataError, match="nothing to train on"):
        TransferData(SETTINGS, Languages({}, [Doc.from_words([["a"]])]))
    languages, _ = made()
    with pytest.raises(ConfigError, match="xx is both a source language and the target"):
        TransferData(SETTINGS, replace(languages, code="xx"))
    with pytest.raises(DataError, match="name a source language"):
        TransferData(SETTINGS, languages).train([])
    with pytest.raises(ConfigError, match="no source language 'qq'; there are xx, yy"):
        TransferData(SETTINGS, languages).train(["qq"])

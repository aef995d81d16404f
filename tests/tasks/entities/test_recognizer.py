"""The entity recognizer: lists, clusters, surroundings and levels do what they say; alternatives and probabilities."""

import copy
import itertools
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from weft import data
from weft.cli.app import app
from weft.errors import ConfigError, DataError
from weft.evaluate import calibration_of_spans, evaluate_spans
from weft.formats import read, write
from weft.pipeline.pipeline import Pipeline
from weft.tasks.entities.recognizer import EntityRecognizer, EntitySettings
from weft.tasks.spans.chunker import Chunker
from weft.text import Doc, SpanLayer
from weft.text.conventions.alternatives import alternatives

FIRST = ["Ada", "Bo", "Cleo", "Dan", "Eve", "Finn"]
LAST = ["Abel", "Berg", "Cole", "Dorn"]
PLACES = ["Arlen", "Brill", "Corvo", "Delm", "Eskil", "Farn"]


def made(n, seed=0, places=PLACES, nested=False):
    """Sentences with people and places, and companies that are named after places."""
    rng = np.random.default_rng(seed)
    words, spans, at = [], [], 0
    for _ in range(n):
        person = [str(rng.choice(FIRST)), str(rng.choice(LAST))]
        place = str(rng.choice(places))
        row = ["Then", *person, "went", "to", place, "Bank" if nested else "again", "."]
        spans += [(at + 1, at + 3, "PER"), (at + 5, at + 6, "LOC")] + [(at + 5, at + 7, "ORG")] * nested
        words.append(row)
        at += len(row)
    doc = Doc.from_words(words)
    doc.spans["entities"] = SpanLayer.of(doc.strings, spans)
    return doc


def annotated(recognizer, doc, **asked):
    forms = doc.column("form")
    offsets = doc.sentence_offsets.tolist()
    new = Doc.from_words([forms[a:b] for a, b in itertools.pairwise(offsets)])
    recognizer([new], **asked)
    return new


def f1(recognizer, doc):
    return evaluate_spans([doc], [annotated(recognizer, doc)], "entities").score.f1


@pytest.fixture(scope="module")
def recognizer():
    found = EntityRecognizer(EntitySettings(epochs=3))
    found.fit([made(60)])
    return found


@pytest.mark.parametrize("scheme", ["IO", "IOB2", "BIOES"])
@pytest.mark.parametrize("learner", ["perceptron", "crf"])
def test_every_scheme_is_learned(scheme, learner):
    recognizer = EntityRecognizer(EntitySettings(scheme=scheme, learner=learner, epochs=3, iterations=20))
    recognizer.fit([made(40)])
    assert f1(recognizer, made(20, seed=1)) == 1.0


def test_gazetteers_find_names_that_were_never_seen_and_stay_in_the_model(tmp_path):
    unknown = ["korva", "lumen", "mirow"]  # small letters: nothing but the list tells them
    (tmp_path / "places.txt").write_text("\n".join([*unknown, *map(str.lower, PLACES)]) + "\n")
    train = made(60, places=[place.lower() for place in PLACES] + ["home", "work", "bed"])
    keep = [row for row in train.spans["entities"] if row.label == "PER" or train.words[row.pieces[0][0]].form in
            [place.lower() for place in PLACES]]  # fmt: skip
    train.spans["entities"] = SpanLayer.of(train.strings, [(*row.pieces[0], row.label) for row in keep])
    test = made(30, seed=2, places=unknown)
    templates = "true y[-1] w[-1].kind w[0].kind"
    without = EntityRecognizer(EntitySettings(epochs=5, templates=templates))
    without.fit([train])
    lists = {"place": str(tmp_path / "places.txt")}
    with_list = EntityRecognizer(EntitySettings(epochs=5, gazetteers=lists, templates=templates + " g[0]"))
    with_list.fit([train])
    assert f1(with_list, test) == 1.0
    assert f1(without, test) < 0.9
    Pipeline([with_list]).save(tmp_path / "m.weft")
    (tmp_path / "places.txt").unlink()
    assert f1(Pipeline.load(tmp_path / "m.weft").components[0], test) == 1.0


def test_clusters_are_read_used_and_saved(tmp_path):
    (tmp_path / "paths").write_text("".join(f"0011\t{place}\t9\n" for place in [*PLACES, "Zork"]))
    recognizer = EntityRecognizer(
        EntitySettings(epochs=3, clusters=str(tmp_path / "paths"), templates="y[-1] c[0] w[0]")
    )
    recognizer.fit([made(40)])
    doc = made(10, seed=3, places=["Zork"])
    assert f1(recognizer, doc) == 1.0
    Pipeline([recognizer]).save(tmp_path / "m.weft")
    (tmp_path / "paths").unlink()
    assert f1(Pipeline.load(tmp_path / "m.weft").components[0], doc) == 1.0


def test_two_kinds_of_clusters_stand_beside_each_other_and_are_saved(tmp_path):
    (tmp_path / "shared").write_text("".join(f"0\t{name}\t3\n" for name in FIRST))
    (tmp_path / "native").write_text("".join(f"10\t{name.lower()}\t3\n" for name in PLACES))
    settings = EntitySettings(epochs=3, clusters=str(tmp_path / "shared"), native_clusters=str(tmp_path / "native"))
    recognizer = EntityRecognizer(settings)
    recognizer.fit([made(30)])
    assert "n[0]" in recognizer.settings.templates
    Pipeline([recognizer]).save(tmp_path / "model.weft")
    loaded = Pipeline.load(tmp_path / "model.weft").components[0]
    assert loaded.settings.native_clusters == ""
    assert loaded._native.of("Arlen") == "10"
    assert f1(loaded, made(20, seed=1)) == 1.0


def test_other_mentions_in_the_document_tell_what_a_word_is():
    """The bare word is a person or a place; only its other mention, behind Mr or behind in, says which."""
    rng = np.random.default_rng(5)

    def doc(seed):
        name = "N" + "".join(rng.choice(list("aeioulmnr"), 5))
        person = bool(rng.random() < 0.5)
        found = Doc.from_words([["we", "saw", "Mr" if person else "in", name, "once"], ["then", name, "spoke"]])
        label = "PER" if person else "LOC"
        found.spans["entities"] = SpanLayer.of(found.strings, [(3, 4, label), (6, 7, label)])
        return found

    train, test = [doc(i) for i in range(80)], [doc(i) for i in range(30)]

    def score(window):
        recognizer = EntityRecognizer(EntitySettings(epochs=5, window=window))
        recognizer.fit(train)
        system = [annotated(recognizer, each) for each in test]
        return evaluate_spans(test, system, "entities").score.f1

    assert score(100) > 0.95
    assert score(0) < 0.9


def test_nested_entities_are_found_level_by_level_and_saved(tmp_path):
    recognizer = EntityRecognizer(EntitySettings(epochs=3, nested=True))
    report = recognizer.fit([made(60, nested=True)])
    assert report["training"]["levels"] == 2
    doc = made(20, seed=4, nested=True)
    system = annotated(recognizer, doc, probabilities=True)
    assert evaluate_spans([doc], [system], "entities").score.f1 == 1.0
    assert all(0 < system.spans["entities"].attributes[i]["probability"] <= 1 for i in range(60))
    assert not system.spans["entities"].is_flat()
    Pipeline([recognizer]).save(tmp_path / "m.weft")
    assert f1(Pipeline.load(tmp_path / "m.weft").components[0], doc) == 1.0


def test_alternatives_of_nested_entities_are_the_best_products_over_the_levels():
    recognizer = EntityRecognizer(EntitySettings(epochs=2, nested=True, window=0))
    recognizer.fit([made(60, nested=True)])
    recognizer.temperature = recognizer.inner.temperature = 6.0  # so that the best is not certain
    doc = made(4, seed=4, nested=True)
    outer = Chunker.kbest(recognizer, doc, 30)
    bounds = doc.sentence_offsets.tolist()
    for s, answers in enumerate(recognizer.kbest(doc, 5)):
        first, end = bounds[s], bounds[s + 1]
        every = {}
        for labels, p in outer[s]:
            around = ["O"] * doc.n_words
            around[first:end] = labels
            for path, q in recognizer.inner.kbest(recognizer._with_labels(doc, around), 30)[s]:
                every[tuple(f"{a} {b}" for a, b in zip(labels, path, strict=True))] = p * q
        best = sorted(every.values(), reverse=True)[:5]
        assert [p for _, p in answers] == pytest.approx(best)
        assert all(every[tuple(labels)] == pytest.approx(p) for labels, p in answers)
        assert len({tuple(labels) for labels, _ in answers}) == 5


def test_flat_training_refuses_nested_spans_and_says_what_to_do():
    with pytest.raises(DataError, match="--nested"):
        EntityRecognizer().fit([made(5, nested=True)])
    gaps = made(5)
    gaps.spans["entities"].add([(0, 1), (3, 4)], "PER")
    with pytest.raises(DataError, match="weft train spans"):
        EntityRecognizer(EntitySettings(nested=True)).fit([gaps])
    with pytest.raises(DataError, match="set layer=NAME"):
        EntityRecognizer().fit([Doc.from_words([["a"]])])
    with pytest.raises(ConfigError, match="window"):
        EntitySettings.from_options({"window": -1})


def test_alternatives_are_probable_different_and_begin_with_the_answer(recognizer):
    doc = made(5, seed=6)
    system = annotated(recognizer, doc, kbest=3)
    for ranked, sentence in zip(alternatives(system, "ner"), system.sentences, strict=True):
        p = [each["probability"] for each in ranked]
        assert len(ranked) == 3
        assert p == sorted(p, reverse=True)
        assert 0 < sum(p) <= 1.0001
        assert len({tuple(each["labels"]) for each in ranked}) == 3
        assert all(len(each["labels"]) == len(sentence.words) for each in ranked)
    best = [label for ranked in alternatives(system, "ner") for label in ranked[0]["labels"]]
    assert best == recognizer.gold(system)


def test_a_perceptron_is_given_a_temperature_and_keeps_it(recognizer, tmp_path):
    assert recognizer.temperature != 1.0
    Pipeline([recognizer]).save(tmp_path / "m.weft")
    assert Pipeline.load(tmp_path / "m.weft").components[0].temperature == recognizer.temperature
    plain = EntityRecognizer(EntitySettings(epochs=2, calibrate=False))
    plain.fit([made(60)])
    assert plain.temperature == 1.0


def test_the_command_line_trains_and_annotates_with_alternatives(tmp_path):
    def weft(*arguments):
        done = CliRunner().invoke(app, [str(each) for each in arguments])
        assert done.exit_code == 0, done.output
        return done.output

    train, new, lists = tmp_path / "train.conll", tmp_path / "new.conllu", tmp_path / "places.txt"
    write([made(40)], train, "columns")
    lists.write_text("\n".join(PLACES))
    doc = made(2, seed=7)
    doc.spans = {}
    write([doc], new, "conllu")
    model = tmp_path / "ner.weft"
    weft("train", "ner", train, "--out", model, "--gazetteer", f"LOC={lists}", "--epochs", "3")
    weft("annotate", new, "-m", model, "-o", tmp_path / "out.conllu", "--kbest", 2)
    text = (tmp_path / "out.conllu").read_text()
    assert text.count("NER=B-PER") == 2
    assert text.count("# ner_1 = ") == text.count("# ner_2 = ") == 2
    weft("annotate", new, "-m", model, "-o", tmp_path / "out.jsonl", "--kbest", 2, "--probabilities")
    record = json.loads((tmp_path / "out.jsonl").read_text().splitlines()[0])
    assert len(record["meta"]["alternatives"]["ner"][0]) == 2
    assert record["spans"]["entities"]["attributes"][0][1]["probability"] > 0.5
    weft("annotate", new, "-m", model, "-o", tmp_path / "sure.conllu", "--probabilities")
    assert (tmp_path / "sure.conllu").read_text().count("NERProb=") == 4
    again = tmp_path / "again.weft"  # what was written into MISC can be learned from
    weft("train", "ner", tmp_path / "out.conllu", "--out", again, "--epochs", "3")
    failed = CliRunner().invoke(app, ["train", "ner", str(train), "-o", str(model), "--gazetteer", "places.txt"])
    assert failed.exit_code != 0


@pytest.fixture(scope="module")
def conll2003():
    try:
        path = data.find("ner/conll2003-en/train.txt.gz")
    except DataError as error:
        pytest.skip(str(error))
    docs = [doc for _, doc in zip(range(300), read(path, "columns"), strict=False)]
    return docs[:200], docs[200:]


def test_a_slice_of_conll2003_is_recognized_well_with_honest_probabilities(conll2003):
    train, test = conll2003
    recognizer = EntityRecognizer(EntitySettings(epochs=5))
    recognizer.fit(train)
    system = [copy_without_spans(doc) for doc in test]
    recognizer(system, probabilities=True)
    assert evaluate_spans(test, system, "entities").score.f1 > 0.8
    assert calibration_of_spans(test, system, "entities").error < 0.06


def copy_without_spans(doc):
    found = copy.copy(doc)
    found.spans = {}
    return found

"""Lemmatizing: seen and unseen words, casing, tags, saving, accuracy and speed."""

import time

import numpy as np
import pytest

from weft.errors import ConfigError, DataError, ModelError, WeftError
from weft.evaluate.trees.ud import evaluate_ud
from weft.pipeline.pipeline import Pipeline
from weft.tasks.tagging.lemmatize import Lemmatizer
from weft.tasks.tagging.tagger import Tagger
from weft.text import Doc

ROWS = [
    ("walked", "walk", "VERB"), ("talked", "talk", "VERB"), ("jumped", "jump", "VERB"), ("asked", "ask", "VERB"),
    ("walks", "walk", "VERB"), ("talks", "talk", "VERB"), ("jumps", "jump", "VERB"), ("Dogs", "dog", "NOUN"),
    ("cats", "cat", "NOUN"), ("birds", "bird", "NOUN"), ("trees", "tree", "NOUN"), ("dog", "dog", "NOUN"),
    ("bird", "bird", "NOUN"), ("tree", "tree", "NOUN"), ("mice", "mouse", "NOUN"), ("was", "be", "AUX"),
    ("London", "London", "PROPN"), ("Paris", "Paris", "PROPN"), ("Rome", "Rome", "PROPN"), ("NATO", "NATO", "PROPN"),
    ("saw", "see", "VERB"), ("saw", "saw", "NOUN"), ("The", "the", "DET"), ("the", "the", "DET"), ("7", "7", "NUM"),
]  # fmt: skip


@pytest.fixture(scope="module")
def lemmatizer():
    forms, lemmas, tags = zip(*ROWS, strict=True)
    found = Lemmatizer.from_options({"min_count": 1})
    found.fit([Doc.from_words([forms] * 3, lemma=[lemmas] * 3, upos=[tags] * 3)])
    return found


def lemmas(lemmatizer, *words):
    doc = Doc.from_words([[form for form, _ in words]], upos=[[tag for _, tag in words]])
    lemmatizer([doc])
    return doc.column("lemma")


def test_every_word_of_the_training_data_gets_its_lemma(lemmatizer):
    assert lemmas(lemmatizer, *((form, tag) for form, _, tag in ROWS)) == [lemma for _, lemma, _ in ROWS]


def test_lemmas_come_with_probabilities_if_asked(lemmatizer, tmp_path):
    doc = Doc.from_words([["barked", "was", "zzyzx"]], upos=[["VERB", "AUX", "NOUN"]])
    lemmatizer([doc])
    assert "lemma" not in doc.confidence
    Pipeline([lemmatizer]).save(tmp_path / "m.weft")
    loaded = Pipeline.load(tmp_path / "m.weft").components[0]
    loaded([doc], probabilities=True)
    p = doc.confidence["lemma"]
    assert ((p > 0) & (p <= 1.0001)).all()
    keys = [("barked", "VERB")]
    chain, _ = loaded.scorer.chain([loaded._document(keys)], loaded._groups(keys))
    assert p[0] >= chain.temper(loaded.temperature).marginals().node.max() - 1e-6  # of the best rule, or more


def test_lemmas_of_words_seen_often_are_nearly_certain(lemmatizer):
    words = [("the", "DET"), ("dogs", "NOUN"), ("zzyzx", "NOUN")]
    often = Doc.from_words([["the", "dogs"]] * 60, upos=[["DET", "NOUN"]] * 60, lemma=[["the", "dog"]] * 60)
    forms, found, tags = zip(*ROWS, strict=True)
    trained = Lemmatizer.from_options({"min_count": 1})
    trained.fit([often, Doc.from_words([forms], lemma=[found], upos=[tags])])
    p = dict(zip(words, trained.certainty(words), strict=True))
    assert min(p[words[0]], p[words[1]]) > 0.98
    assert p[words[2]] < 0.98


def test_a_lemma_that_was_wrong_in_training_is_less_certain():
    doc = Doc.from_words([["saw"] * 10], upos=[["VERB"] * 10], lemma=[["see"] * 7 + ["saw"] * 3])
    trained = Lemmatizer()
    trained.fit([doc])
    assert trained.certainty([("saw", "VERB")])[0] == pytest.approx((7 + 0.5) / 10.5, abs=0.03)


@pytest.mark.parametrize("value", ["", "1", "3 2", "a b", "1 2 3", "-1 2", "1000 1000"])
def test_damaged_counts_of_words_are_refused(lemmatizer, value):
    header, arrays = lemmatizer.state()
    with pytest.raises(ModelError, match="not counts"):
        Lemmatizer.from_state({**header, "seen": {"the\tDET": value}}, arrays)


def test_unseen_words_follow_the_rules_of_their_endings(lemmatizer):
    assert lemmas(lemmatizer, ("barked", "VERB"), ("ships", "NOUN")) == ["bark", "ship"]


def test_the_tag_tells_words_of_one_form_apart(lemmatizer):
    assert lemmas(lemmatizer, ("saw", "VERB"), ("saw", "NOUN")) == ["see", "saw"]


def test_casing_round_trips(lemmatizer):
    found = lemmas(
        lemmatizer, ("THE", "DET"), ("DOGS", "NOUN"), ("Berlin", "PROPN"), ("Mice", "NOUN"), ("UNO", "PROPN")
    )
    assert found == ["the", "dog", "Berlin", "mouse", "UNO"]


def test_numbers_and_unknown_tags_are_no_trouble(lemmatizer):
    assert lemmas(lemmatizer, ("1984", "NUM"), ("s", "NOUN"), ("x", "INTJ"), ("y", ""))[0] == "1984"


def test_empty_documents_are_left_alone(lemmatizer):
    empty = Doc("")
    lemmatizer([empty, Doc("")])
    lemmatizer([])
    assert empty.n_words == 0


def test_a_saved_lemmatizer_gives_the_same(lemmatizer, tmp_path):
    Pipeline([lemmatizer]).save(tmp_path / "m.weft")
    loaded = Pipeline.load(tmp_path / "m.weft").components[0]
    words = [(form + end, tag) for form, _, tag in ROWS for end in ("", "ed", "s", "X")]
    assert lemmas(loaded, *words) == lemmas(lemmatizer, *words)
    assert loaded.requires == lemmatizer.requires


@pytest.mark.parametrize("learner", ["perceptron", "mira", "crf"])
def test_every_learner_lemmatizes_after_its_tagger(learner, document, bare):
    columns = ("lemma", "upos", "xpos", "feats")
    train = document(100, columns=columns)
    tagger, lemmatizer = Tagger(), Lemmatizer.from_options({"learner": learner})
    tagger.fit([train])
    report = lemmatizer.fit([train], [document(20, seed=2, columns=columns)])
    assert report["scores"]["dev accuracy"] == 1.0
    gold = document(30, seed=1, columns=columns)
    system = bare(gold)
    Pipeline([tagger, lemmatizer])(system)
    assert np.mean(np.array(gold.column("lemma")) == np.array(system.column("lemma"))) > 0.97


def test_data_without_tags_are_lemmatized_by_form_alone():
    doc = Doc.from_words([["dogs", "cats", "birds", "trees"]], lemma=[["dog", "cat", "bird", "tree"]])
    lemmatizer = Lemmatizer()
    lemmatizer.fit([doc])
    new = Doc.from_words([["ships"]])
    lemmatizer([new])
    assert new.column("lemma") == ["ship"]


def test_what_is_remembered_of_words_is_bounded(lemmatizer, monkeypatch):
    monkeypatch.setattr("weft.tasks.tagging.lemmatize.LIMIT", 10)
    words = [(f"w{i}s", "NOUN") for i in range(50)]
    expected = lemmas(lemmatizer, *words)
    assert [lemmas(lemmatizer, word)[0] for word in words] == expected
    assert len(lemmatizer._known) <= 60


def test_what_cannot_be_learned_is_told_plainly():
    with pytest.raises(DataError, match="no lemmas"):
        Lemmatizer().fit([Doc.from_words([["a"]])])
    with pytest.raises(ConfigError, match="learner must be one of"):
        Lemmatizer.from_options({"learner": "magic"})
    with pytest.raises(WeftError, match="not trained yet"):
        Lemmatizer()([Doc.from_words([["a"]])])


@pytest.fixture(scope="module")
def english(treebank):
    """A lemmatizer of a slice of a treebank."""
    lemmatizer = Lemmatizer()
    lemmatizer.fit(treebank("train", 25_000))
    return lemmatizer


def test_a_slice_of_a_treebank_is_lemmatized_well(english, treebank):
    gold, system = treebank("dev", 6_000), treebank("dev", 6_000)
    english(system)
    assert evaluate_ud(gold, system).scores["Lemmas"].f1 > 0.95


@pytest.mark.timing
def test_a_slice_of_a_treebank_is_lemmatized_fast(english, treebank):
    system = treebank("dev", 6_000)
    english(system)
    start = time.process_time()
    english(system)
    assert sum(doc.n_words for doc in system) / (time.process_time() - start) > 30_000

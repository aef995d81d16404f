"""Joint tagging: consistent columns, unknown words, probabilities, k best, saving, accuracy and speed."""

import time

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.evaluate.trees.ud import evaluate_ud
from weft.pipeline.pipeline import Pipeline
from weft.tasks.tagging.tagger import Tagger
from weft.text import Doc


@pytest.fixture(scope="module")
def tagger(document):
    tagger = Tagger()
    tagger.fit([document(150)])
    return tagger


@pytest.mark.parametrize("learner", ["adagrad", "perceptron", "mira", "margin", "sgd", "crf"])
def test_every_learner_tags_three_columns(learner, document, bare):
    tagger = Tagger.from_options({"learner": learner, "iterations": 30, "epochs": 4})
    report = tagger.fit([document(80)])
    assert tagger.provides == ("upos", "xpos", "feats")
    assert report["training"]["joint_tags"] == 5
    gold = document(40, seed=1)
    system = bare(gold)
    tagger([system])
    for column in ("upos", "xpos", "feats"):
        assert np.mean(np.array(gold.column(column)) == np.array(system.column(column))) > 0.97


def test_columns_never_contradict_each_other(tagger):
    seen = {tuple(tag) for tag in tagger.inventory.tags}
    rng = np.random.default_rng(5)
    letters = list("abcdefgsTHE1.-")
    words = [["".join(rng.choice(letters, rng.integers(1, 9))) for _ in range(8)] for _ in range(60)]
    doc = Doc.from_words(words)
    tagger([doc])
    found = set(zip(doc.column("upos"), doc.column("xpos"), doc.column("feats"), strict=True))
    assert found <= seen


def test_unknown_words_are_tagged_by_their_endings_and_neighbours(tagger):
    doc = Doc.from_words([["The", "wugs", "follow", "the", "blick"]])
    tagger([doc])
    assert doc.column("upos") == ["DET", "NOUN", "VERB", "DET", "NOUN"]
    assert doc.column("xpos")[1] == "NNS"
    assert doc.column("feats")[4] == "Number=Sing"


def test_casing_numbers_and_one_letter_words_are_tagged(tagger):
    doc = Doc.from_words([["THE", "DOGS", "HELP", "the", "girl"], ["7"], ["x", "1,000", "..."]])
    tagger([doc])
    assert all(doc.column("upos"))
    assert doc.column("upos")[:2] == ["DET", "NOUN"]


def test_empty_documents_and_no_documents_are_left_alone(tagger):
    empty = Doc("")
    tagger([empty])
    assert empty.n_words == 0
    tagger([])
    full = Doc.from_words([["the", "dog"]])
    tagger([empty, full, Doc("")])
    assert full.column("upos") == ["DET", "NOUN"]


def test_documents_with_tables_of_their_own_get_the_same_tags(tagger, document, bare):
    together, apart = bare(document(20, seed=3)), [bare(document(20, seed=3)), Doc.from_words([["the", "cats"]])]
    tagger([together])
    tagger(apart)
    assert apart[0].column("feats") == together.column("feats")
    assert apart[1].column("xpos") == ["DT", "NNS"]


def test_a_saved_tagger_tags_the_same(tagger, tmp_path, document, bare):
    Pipeline([tagger]).save(tmp_path / "m.weft")
    loaded = Pipeline.load(tmp_path / "m.weft").components[0]
    one, other = bare(document(50, seed=9)), bare(document(50, seed=9))
    tagger([one])
    loaded([other])
    assert loaded.provides == tagger.provides
    for column in ("upos", "xpos", "feats"):
        assert one.column(column) == other.column(column)


@pytest.mark.parametrize("options", [{"precision": "int8"}, {"precision": "int16", "prune": 0.01}, {"dictionary": 0}])
def test_small_models_tag_as_well(options, document, bare):
    tagger = Tagger.from_options(options)
    tagger.fit([document(100)])
    gold = document(40, seed=1)
    system = bare(gold)
    tagger([system])
    assert np.mean(np.array(gold.column("feats")) == np.array(system.column("feats"))) > 0.97


@pytest.mark.parametrize("columns", [("upos",), ("xpos",), ("feats",), ("upos", "feats"), ("upos", "xpos")])
def test_the_columns_of_the_data_are_learned(columns, document):
    tagger = Tagger()
    tagger.fit([document(60, columns=columns)])
    assert tagger.provides == columns
    doc = Doc.from_words([["the", "dogs"]])
    tagger([doc])
    assert all(doc.has(column) for column in columns)


def test_parts_of_speech_that_decide_everything_need_no_second_step(document):
    doc = document(60, columns=("upos",))
    doc.set_column("xpos", [f"X{tag}" for tag in doc.column("upos")])
    tagger = Tagger()
    tagger.fit([doc])
    assert tagger.refiner is None
    new = Doc.from_words([["the", "dogs"]])
    tagger([new])
    assert new.column("xpos") == ["XDET", "XNOUN"]


def test_probabilities_are_those_of_the_best_values(document, bare):
    tagger = Tagger.from_options({"learner": "crf", "iterations": 30})
    tagger.fit([document(60)])
    doc = bare(document(10, seed=4))
    tagger([doc], probabilities=True)
    for column in ("upos", "xpos", "feats"):
        assert len(doc.confidence[column]) == doc.n_words
        assert (doc.confidence[column] > 0.3).all()
        assert (doc.confidence[column] <= 1.0 + 1e-6).all()
    assert (doc.confidence["xpos"] <= doc.confidence["upos"] + 1e-6).all()


def test_k_best_taggings_are_probable_different_and_begin_with_the_best(document):
    tagger = Tagger.from_options({"learner": "crf", "iterations": 30})
    tagger.fit([document(60)])
    doc = Doc.from_words([["The", "wug", "sees", "the", "dogs"], ["the", "cat"]])
    lists = tagger.kbest(doc, 4)
    tagger([doc])
    assert len(lists) == 2
    for taggings in lists:
        probabilities = [p for _, p in taggings]
        assert probabilities == sorted(probabilities, reverse=True)
        assert sum(probabilities) <= 1.0 + 1e-9
        assert len({tuple(labels) for labels, _ in taggings}) == len(taggings)
    assert lists[1][0][0] == ["DET DT Definite=Def|PronType=Art", "NOUN NN Number=Sing"]


@pytest.mark.parametrize(("setting", "template"), [("clusters", "c[0]"), ("native_clusters", "n[0]")])
def test_clusters_are_read_used_and_saved(tmp_path, document, bare, setting, template):
    rows = ["00\tdogs\t3", "01\tcats\t3", "1\tsee\t3", "1\thear\t3"]
    (tmp_path / "paths").write_text("\n".join(rows) + "\n")
    tagger = Tagger.from_options({setting: str(tmp_path / "paths")})
    tagger.fit([document(60)])
    assert template in tagger.settings.templates
    Pipeline([tagger]).save(tmp_path / "m.weft")
    (tmp_path / "paths").unlink()
    loaded = Pipeline.load(tmp_path / "m.weft").components[0]
    one, other = bare(document(30, seed=9)), bare(document(30, seed=9))
    tagger([one])
    loaded([other])
    assert one.column("feats") == other.column("feats")


def test_dev_data_are_watched_in_both_steps(document):
    report = Tagger().fit([document(60)], [document(20, seed=2)])
    assert report["scores"]["dev accuracy"] > 0.97
    assert report["scores"]["dev joint accuracy"] > 0.97


def test_what_cannot_be_learned_is_told_plainly(document):
    with pytest.raises(DataError, match="has no upos"):
        Tagger().fit([Doc.from_words([["a", "b"]])])
    with pytest.raises(ConfigError, match="cannot learn joint tags"):
        Tagger.from_options({"learner": "memm", "iterations": 2}).fit([document(20)])
    with pytest.raises(ConfigError, match="dictionary must be at least 0"):
        Tagger.from_options({"dictionary": -1})


@pytest.fixture(scope="module")
def english(treebank):
    """A tagger of a slice of a treebank."""
    tagger = Tagger()
    tagger.fit(treebank("train", 25_000))
    return tagger


def test_a_slice_of_a_treebank_is_tagged_well(english, treebank):
    gold, system = treebank("dev", 6_000), treebank("dev", 6_000)
    english(system)
    scores = evaluate_ud(gold, system).scores
    assert scores["UPOS"].f1 > 0.87
    assert scores["XPOS"].f1 > 0.86
    assert scores["UFeats"].f1 > 0.88


@pytest.mark.timing
def test_a_slice_of_a_treebank_is_tagged_fast(english, treebank):
    system = treebank("dev", 6_000)
    english(system)
    start = time.process_time()
    english(system)
    assert sum(doc.n_words for doc in system) / (time.process_time() - start) > 20_000

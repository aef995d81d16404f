"""Taggers learned from a dictionary and projected tags."""

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.lexical.dictionary import TagDictionary
from weft.pipeline.pipeline import Pipeline
from weft.tasks.tagging.weak import WeakTagger, WeakTaggerSettings
from weft.text import Doc

NOUNS = ["stone", "river", "lamp", "crane", "sail"]
VERBS = ["sinks", "glows", "turns", "drifts"]
BOTH = ["drifts", "turns", "crane"]


def sentences(n, seed=0):
    """A small language: DET (ADJ) NOUN VERB, in which some words are nouns and verbs."""
    rng = np.random.default_rng(seed)
    words, tags = [], []
    for _ in range(n):
        own = [("the", "DET")] + [(str(rng.choice(["old", "small"])), "ADJ")] * int(rng.random() < 0.4)
        own += [(str(rng.choice([*NOUNS, *BOTH])), "NOUN"), (str(rng.choice([*VERBS, "crane"])), "VERB"), (".", ".")]
        words.append([word for word, _ in own])
        tags.append([tag for _, tag in own])
    return words, tags


def document(n, seed=0, keep=1.0):
    """A document whose tags are kept with a probability."""
    words, tags = sentences(n, seed)
    rng = np.random.default_rng(seed + 1)
    return Doc.from_words(words, upos=[[tag if rng.random() < keep else "" for tag in own] for own in tags])


@pytest.fixture
def dictionary():
    entries = {"the": ["DET"], "old": ["ADJ", "NOUN"], "drifts": ["NOUN", "VERB"], "turns": ["NOUN", "VERB"]}
    return TagDictionary({**entries, "crane": ["NOUN", "VERB"], "river": ["NOUN"], "sinks": ["VERB"]})


def accuracy(tagger, gold):
    return tagger.report([gold]).accuracy


@pytest.mark.parametrize("model", ["crf", "hmm"])
def test_both_models_learn_a_small_language_from_a_few_projected_tags(model, dictionary):
    tagger = WeakTagger(WeakTaggerSettings(learner=model), dictionary)
    report = tagger.fit([document(150, keep=0.3)], [document(80, seed=9)])
    assert report["scores"]["dev accuracy"] > 0.95
    assert report["weak"]["accuracy"] == report["scores"]["dev accuracy"]
    assert 0.2 < report["constraints"]["projected"] < 0.4
    assert report["constraints"]["conflicts"] == 0


@pytest.mark.parametrize("model", ["crf", "hmm"])
def test_a_dictionary_or_projected_tags_alone_will_do(model, dictionary):
    gold = document(80, seed=9)
    only_types = WeakTagger(WeakTaggerSettings(learner=model), dictionary)
    only_types.fit([document(150, keep=0.0)])
    only_tokens = WeakTagger(WeakTaggerSettings(learner=model))
    only_tokens.fit([document(150, keep=0.3)])
    assert accuracy(only_types, gold) > 0.6
    assert accuracy(only_tokens, gold) > 0.95
    assert only_tokens.lattice([gold])[0].all()


def test_tags_are_searched_within_the_dictionary_even_where_projections_say_otherwise(dictionary):
    words = [["the", "river", "sinks", "."]] * 30
    wrong = Doc.from_words(words, upos=[["DET", "VERB", "NOUN", "."]] * 30)
    tagger = WeakTagger(WeakTaggerSettings(conflict="token"), dictionary)
    report = tagger.fit([wrong, document(50)])
    assert report["constraints"]["conflicts"] > 0.1
    new = Doc.from_words([["the", "river", "sinks", "."]])
    tagger([new])
    assert new.column("upos") == ["DET", "NOUN", "VERB", "."]


def test_tags_of_universal_dependencies_are_mapped_and_foreign_ones_left_out():
    doc = Doc.from_words([["Rome", "was", "burning", "!"]] * 5, upos=[["PROPN", "AUX", "???", "PUNCT"]] * 5)
    tagger = WeakTagger()
    assert tagger.gold(doc)[:4] == ["NOUN", "VERB", "", "."]
    report = tagger.fit([doc])
    assert report["constraints"]["projected"] == 0.75


def test_projected_types_make_a_dictionary_of_their_own():
    tagger = WeakTagger(WeakTaggerSettings(type_threshold=0.2))
    tagger.fit([document(100, keep=0.5)])
    assert tagger.dictionary.tags_of("stone") == ("NOUN",)
    assert set(tagger.dictionary.tags_of("crane")) == {"NOUN", "VERB"}


@pytest.mark.parametrize("model", ["crf", "hmm"])
def test_a_saved_model_tags_as_before(model, dictionary, tmp_path):
    clusters = tmp_path / "clusters"
    clusters.write_text("".join(f"{'01' if word in NOUNS else '10'}\t{word}\t5\n" for word in [*NOUNS, "sinks"]))
    tagger = WeakTagger(WeakTaggerSettings(learner=model, clusters=str(clusters)), dictionary)
    tagger.fit([document(100, keep=0.3)])
    Pipeline([tagger]).save(tmp_path / "weak.weft")
    loaded = Pipeline.load(tmp_path / "weak.weft").components[0]
    docs = [Doc.from_words(sentences(30, seed=4)[0]) for _ in range(2)]
    for each, doc in zip((tagger, loaded), docs, strict=True):
        each([doc], probabilities=True, kbest=2)
    assert docs[0].column("upos") == docs[1].column("upos")
    assert docs[0].confidence["upos"] == pytest.approx(docs[1].confidence["upos"], abs=1e-5)
    tags, p = loaded.posteriors([docs[0]])
    assert p.sum(axis=1) == pytest.approx(1)
    assert p[np.arange(len(p)), list(map(tags.index, docs[0].column("upos")))] == pytest.approx(
        docs[0].confidence["upos"], abs=1e-5
    )
    best = loaded.kbest(docs[0], 2)
    assert [tag for own in best for tag in own[0][0]] == docs[0].column("upos")
    assert all(sum(p for _, p in own) <= 1 + 1e-6 for own in best)


def test_templates_may_look_around_in_the_crf_and_not_in_the_hmm(dictionary):
    around = "y[-1] w[0] w[-1]"
    tagger = WeakTagger(WeakTaggerSettings(templates=around), dictionary)
    tagger.fit([document(100, keep=0.3)])
    assert accuracy(tagger, document(60, seed=9)) > 0.95
    with pytest.raises(ConfigError, match="may only read the word itself"):
        WeakTagger(WeakTaggerSettings(templates=around, learner="hmm"), dictionary).fit([document(10, keep=0.3)])
    with pytest.raises(ConfigError, match="first-order"):
        WeakTagger(WeakTaggerSettings(templates="w[0]"), dictionary).fit([document(10, keep=0.3)])


def test_of_several_starts_the_most_probable_end_is_kept(dictionary):
    text = document(60, keep=0.0)
    losses = [
        WeakTagger(WeakTaggerSettings(learner="hmm", starts=starts, noise=1.0), dictionary).fit([text])["training"][
            "loss"
        ]
        for starts in (1, 4)
    ]
    assert losses[1] <= losses[0]


def test_other_tag_sets_can_be_used():
    doc = Doc.from_words([["a", "b"]] * 4, xpos=[["A", ""], ["A", "B"]] * 2)
    tagger = WeakTagger(WeakTaggerSettings(tagset="A B C", column="xpos"))
    tagger.fit([doc])
    new = Doc.from_words([["a", "b"]])
    tagger([new])
    assert new.column("xpos") == ["A", "B"]


def test_plain_errors_for_what_cannot_be_learned(dictionary):
    empty = Doc.from_words([["a", "b"]])
    with pytest.raises(DataError, match="nothing to train on: give a dictionary"):
        WeakTagger().fit([empty])
    with pytest.raises(DataError, match="the documents have no words"):
        WeakTagger(dictionary=dictionary).fit([])
    with pytest.raises(DataError, match="the constraints are vacuous"):
        WeakTagger(dictionary=TagDictionary({"zzz": ["NOUN"]}, rules=False)).fit([empty])
    with pytest.raises(ConfigError, match="both must be the same"):
        WeakTagger(dictionary=TagDictionary({"a": ["A"]}, tags=["A"])).fit([empty])
    with pytest.raises(ConfigError, match="learner must be one of crf, hmm"):
        WeakTagger.from_options({"learner": "svm"})
    with pytest.raises(ConfigError, match="learner must be one of crf, hmm"):
        WeakTagger.from_options({"learner": "perceptron"})
    with pytest.raises(ConfigError, match="type_threshold"):
        WeakTagger.from_options({"type_threshold": 2})

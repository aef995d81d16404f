"""Parsers that learn from tags: what they read and write, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import ConfigError, DataError, WeftError
from weft.infer.trees.projectivity import is_projective, is_tree
from weft.pipeline.pipeline import Pipeline
from weft.tasks.parsing.induce_grammar import MODELS, GrammarInducer, GrammarSettings
from weft.text.doc import Doc

TAGS = [
    ["DET", "NOUN", "VERB", "PUNCT"],
    ["NOUN", "VERB", "DET", "NOUN", "PUNCT"],
    ["PROPN", "VERB", "DET", "ADJ", "NOUN", "PUNCT"],
    ["DET", "ADJ", "NOUN", "VERB", "ADV"],
    ["NOUN", "VERB"],
    ["PUNCT", "PROPN", "VERB", "NOUN", "PUNCT"],
]


def text(times=3):
    return Doc.from_words(TAGS * times, upos=TAGS * times)


@pytest.fixture(scope="module")
def parser():
    component = GrammarInducer(GrammarSettings(strength=1000, iterations=15))
    component.fit([text()])
    return component


def test_trees_are_projective_with_one_root_and_punctuation_hangs_on_it(parser):
    doc = text(1)
    parser([doc])
    for first, end in zip(doc.sentence_offsets, doc.sentence_offsets[1:], strict=False):
        heads = np.ascontiguousarray(doc.head[first:end])
        tags, relations = doc.column("upos")[first:end], doc.column("deprel")[first:end]
        assert is_tree(heads)
        assert int((heads == 0).sum()) == 1
        root = int((heads == 0).argmax()) + 1
        assert [heads[i] for i, tag in enumerate(tags) if tag == "PUNCT"] == [root] * tags.count("PUNCT")
        assert relations[root - 1] == "root"
        assert [relations[i] for i, tag in enumerate(tags) if tag == "PUNCT"] == ["punct"] * tags.count("PUNCT")
        words = [i for i, tag in enumerate(tags) if tag != "PUNCT"]
        place = {0: 0, **{word + 1: i for i, word in enumerate(words, start=1)}}
        assert is_projective(np.array([place[int(heads[i])] for i in words], dtype=np.int32))


def test_tags_never_seen_and_sentences_of_punctuation_get_trees_too(parser):
    doc = Doc.from_words([["dah", "dit"], ["!", "?"], ["dit"]], upos=[["INTJ", "NUM"], ["PUNCT", "PUNCT"], ["INTJ"]])
    parser([doc])
    assert sorted(doc.head[:2].tolist())[0] == 0
    assert doc.head[2:].tolist() == [0, 1, 0]


def test_trees_of_the_training_text_are_not_looked_at(parser):
    with_trees = text()
    with_trees.head = np.zeros(with_trees.n_words, dtype=np.int32)
    other = GrammarInducer(parser.settings)
    other.fit([with_trees])
    assert np.array_equal(other.model.child, parser.model.child)


@pytest.mark.parametrize("model", MODELS)
def test_models_are_saved_and_loaded(model, tmp_path):
    component = GrammarInducer(GrammarSettings(valence=model, objective="em", iterations=3))
    component.fit([text()])
    Pipeline([component]).save(tmp_path / "g.weft")
    loaded = Pipeline.load(tmp_path / "g.weft").components[0]
    one, other = text(1), text(1)
    component([one])
    loaded([other])
    assert one.head.tolist() == other.head.tolist()
    assert loaded.settings.valence == model


def test_reports_tell_what_was_learned_from_and_scores_of_dev():
    gold = Doc.from_words([["cats", "sleep", "."]], upos=[["NOUN", "VERB", "PUNCT"]], head=[[2, 0, 2]])
    component = GrammarInducer(GrammarSettings(strength=1000, iterations=15, max_words=4))
    report = component.fit([text(), Doc.from_words([["a"] * 20], upos=[["NOUN"] * 20])], [gold])
    assert (report["training"]["sentences"], report["training"]["short sentences"]) == (19, 12)
    assert report["training"]["pairs in use"] > 1
    assert report["scores"] == {"dev UAS": 1.0, "dev undirected": 1.0}


def test_a_random_start_depends_on_its_seed_only():
    found = []
    for seed in (1, 1, 2):
        component = GrammarInducer(GrammarSettings(objective="em", start="random", seed=seed, iterations=2))
        component.fit([text()])
        found.append(component.model.child)
    assert np.array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])


def test_other_columns_of_tags_are_read():
    doc = Doc.from_words([["dogs", "bark", "!"]] * 2, xpos=[["NNS", "VBP", "."]] * 2)
    component = GrammarInducer(GrammarSettings(column="xpos", objective="em", iterations=2))
    component.fit([doc])
    assert component.tags == ["NNS", "VBP"]
    assert component.requires == ("tokens", "xpos")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "pr"}, "objective must be one of em, dd, pr-s, pr-as, got 'pr'"),
        ({"valence": "5-5"}, "valence must be one of dmv, 2-1"),
        ({"iterations": 0}, "iterations must be at least 1"),
        ({"strength": -1}, "strength must be at least 0"),
        ({"sigma": 1}, "unknown setting 'sigma'"),
    ],
)
def test_bad_settings_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        GrammarInducer.from_options(options)


def test_text_without_tags_and_without_short_sentences_is_refused():
    with pytest.raises(DataError, match="no tags in the column upos"):
        GrammarInducer().fit([Doc.from_words([["a", "b"]])])
    with pytest.raises(DataError, match="it has no words"):
        GrammarInducer().fit([Doc("raw text")])
    with pytest.raises(DataError, match="none of the 1 sentences has 1 to 10 words"):
        GrammarInducer().fit([Doc.from_words([["a"] * 11], upos=[["X"] * 11])])
    with pytest.raises(WeftError, match="not trained yet"):
        GrammarInducer().parse([["X"]])

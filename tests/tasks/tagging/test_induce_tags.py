import numpy as np
import pytest

from weft.errors import ConfigError, DataError, WeftError
from weft.formats import read
from weft.learn.label_cover.cover import cover_labels
from weft.lexical.dictionary import TagDictionary
from weft.pipeline.pipeline import Pipeline
from weft.tasks.tagging.induce_tags import InducedTaggerSettings, TagInducer, counts_of, induce, lattice
from weft.text.doc import Doc
from weft.text.split import split_by_rule

DICTIONARY = "examples/induction/market.dic"


@pytest.fixture(scope="module")
def text():
    docs = list(read("examples/induction/market.txt"))
    for doc in docs:
        split_by_rule(doc)
    return docs


@pytest.fixture(scope="module")
def gold():
    return list(read("examples/induction/market-tags.conllu"))


def tagger(**settings):
    return TagInducer(InducedTaggerSettings(dictionaries=DICTIONARY, **settings))


@pytest.mark.parametrize("method", ["dmlc", "min-greedy", "ilp"])
def test_few_labels_are_worth_more_than_em_alone(text, gold, method):
    alone, few = tagger(objective="em"), tagger(objective=method)
    em = alone.fit(text, gold)["scores"]["dev accuracy"]
    report = few.fit(text, gold)
    assert report["scores"]["dev accuracy"] >= em
    assert report["training"]["labels in use"] <= alone.found.phases[-1].labels


def test_tags_are_those_of_the_dictionary_and_others_of_new_words(text, gold):
    own = tagger()
    own.fit(text)
    own.tag_text(text)
    words = [(w, t) for doc in text for w, t in zip(doc.column("form"), doc.column("upos"), strict=True)]
    assert all(t in (own.dictionary.tags_of(w) or own.tags) for w, t in words)
    new = Doc.from_words([["The", "zyx", "sells", "a", "fish", "."], ["."]])
    own([new])
    assert set(new.column("upos")) <= set(own.tags)
    assert new.column("upos")[0] == "DET"


def test_a_saved_tagger_tags_as_before(text, gold, tmp_path):
    for settings in ({}, {"grow": True, "fitting": "tagging", "tagger": "adagrad"}):
        own = tagger(**settings)
        own.fit(text)
        Pipeline([own]).save(tmp_path / "tags.weft")
        loaded = Pipeline.load(tmp_path / "tags.weft").components[0]
        docs = [gold[0].subset(range(gold[0].n_sentences)) for _ in range(2)]
        own(docs[:1])
        loaded(docs[1:])
        assert docs[0].column("upos") == docs[1].column("upos")


def test_growing_the_dictionary_leaves_no_word_with_all_tags(text, gold):
    plain, grown = tagger(), tagger(grow=True)
    before, after = plain.fit(text, gold), grown.fit(text, gold)
    assert after["training"]["tags per word"] < before["training"]["tags per word"]
    assert after["training"]["words grown"] > 0


@pytest.mark.parametrize("learner", ["crf", "memm"])
def test_another_tagger_learns_from_the_tags_found(text, gold, learner):
    own = tagger(grow=True, fitting="tagging", tagger=learner)
    assert own.fit(text, gold)["scores"]["dev accuracy"] > 0.95


def test_weights_are_of_the_tagging_found_first(text, gold):
    assert tagger(weighted=True).fit(text, gold)["scores"]["dev accuracy"] > 0.95


def test_shards_change_nothing(text):
    words = [form for doc in text for form in doc.column("form")]
    offsets = np.array([0, len(words)])
    _, lists = lattice(words, offsets, TagDictionary.read(DICTIONARY, TagDictionary.tags_in([DICTIONARY])))
    one, two = (induce(lists, InducedTaggerSettings(shards=shards)) for shards in (1, 2))
    assert np.array_equal(one.tags, two.tags)


def test_counts_of_a_tagging_are_those_of_its_pairs_and_words(text):
    doc = Doc.from_words([["a", "b"], ["b"]])
    _, lists = lattice(doc.column("form"), doc.sentence_offsets, TagDictionary({}, ["X", "Y"], rules=False))
    counts = counts_of(lists, np.array([0, 1, 1], dtype=np.int32))
    assert np.argwhere(counts.transitions).tolist() == [[0, 1], [1, 3], [2, 0], [2, 1]]
    assert counts.transitions[1, 3] == 2.0
    assert counts.emissions.tolist() == [1.0, 0.0, 0.0, 2.0]
    assert cover_labels(lists).tags.tolist() == [0, 0, 0]


def test_a_tag_set_may_be_larger_than_a_machine_word():
    tags = [f"T{k}" for k in range(100)]
    own = TagDictionary({"a": ["T3", "T99"], "b": ["T70"]}, tags, rules=False)
    assert own.mask(["a", "b", "c"]).sum(axis=1).tolist() == [2, 1, 100]
    kept = TagDictionary.from_arrays(own.arrays(), tags, rules=False)
    assert kept.tags_of("a") == ("T3", "T99")
    assert kept.tags_of("b") == ("T70",)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"objective": "fast"}, "objective must be one of"),
        ({"objective": "em", "fitting": "tagging"}, "which objective=em lacks"),
        ({"objective": "ilp", "fitting": "tagging"}, "objective=ilp does not give"),
        ({"shards": 0}, "at least 1"),
        ({"change": 2.0}, "must be from 0 to below 1"),
    ],
)
def test_senseless_settings_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        TagInducer.from_options(settings)


def test_bad_input_is_named(text):
    with pytest.raises(ConfigError, match="give files of words with tags"):
        TagInducer().fit(text)
    with pytest.raises(DataError, match="has none of the"):
        TagInducer(dictionary=TagDictionary({"ost": ["NOUN"]}), settings=InducedTaggerSettings(rules=False)).fit(text)
    with pytest.raises(DataError, match="nothing to train on"):
        tagger().fit([])
    with pytest.raises(WeftError, match="not trained yet"):
        tagger()(text)

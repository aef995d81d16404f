"""The tagger of multiword expressions on sentences made up here."""

from itertools import pairwise, product

import numpy as np
import pytest
from mwe_twins import StringFeatures

from weft.errors import ConfigError, DataError
from weft.hashing import hash_string, hash_strings
from weft.learn.chains.labels import LabelSpace
from weft.lexical.mwe_lexicon import MweLexicon
from weft.lexical.wordnet import WordNet
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import train
from weft.tasks.spans.mwe import MweSettings, MweTagger, recall_cost
from weft.tasks.spans.mwe_features import ExpressionFeatures, lower_lemma, word_class
from weft.text import Doc
from weft.text.conventions.expressions import SCHEMES, TOPOLOGIES, Expressions, expressions_of, has_gap, set_expressions
from weft.text.corpus import Corpus

SUBJECTS, OBJECTS = ["He", "She", "Anna"], ["it", "hope", "work"]


def corpus():
    """Sentences with `give ... up` (strong, gappy), `of course` (strong), `strong tea` (weak)."""
    sentences, tags, found = [], [], []
    for subject, thing in product(SUBJECTS, OBJECTS):
        sentences += [
            [subject, "gave", thing, "up"],
            [subject, "sees", thing, "of", "course"],
            [subject, "drinks", "strong", "tea"],
        ]
        tags += [["PRP", "VBD", "NN", "RP"], ["PRP", "VBZ", "NN", "IN", "NN"], ["PRP", "VBZ", "JJ", "NN"]]
        found += [Expressions.of(strong=[(1, 3)]), Expressions.of(strong=[(3, 4)]), Expressions.of(weak=[(2, 3)])]
    lemmas = [[{"gave": "give", "sees": "see", "drinks": "drink"}.get(w, w.lower()) for w in s] for s in sentences]
    doc = Doc.from_words(sentences, xpos=tags, lemma=lemmas)
    set_expressions(doc, found)
    return doc


def unseen():
    return Doc.from_words(
        [["They", "gave", "cats", "up"], ["Of", "course"], ["strong", "tea"]],
        xpos=[["PRP", "VBD", "NN", "RP"], ["IN", "NN"], ["JJ", "NN"]],
        lemma=[["they", "give", "cat", "up"], ["of", "course"], ["strong", "tea"]],
    )


@pytest.mark.parametrize("tags", SCHEMES)
def test_every_scheme_learns_what_it_can_say(tags):
    tagger = MweTagger(MweSettings(tags=tags, epochs=10))
    tagger.fit([corpus()])
    doc = unseen()
    tagger([doc])
    first, *others = expressions_of(doc)
    assert first.outermost() == ([(1, 3)] if tags in (6, 8) else [])
    assert any(map(has_gap, first.outermost())) == (tags in (6, 8))
    assert [each.outermost() for each in others] == [[(0, 1)], [(0, 1)]]
    assert bool(others[1].weak) == (tags in (4, 8))


@pytest.mark.parametrize("learner", ["perceptron", "mira", "margin", "crf"])
def test_all_learners_find_expressions(learner):
    tagger = MweTagger.from_options({"learner": learner, "epochs": "10", "features": "seen", "recall_cost": "2"})
    tagger.fit([corpus()], [corpus()])
    doc = unseen()
    tagger([doc])
    assert expressions_of(doc)[0] == Expressions.of(strong=[(1, 3)])


def test_a_saved_model_knows_its_lexicons_and_finds_the_same(tmp_path):
    (tmp_path / "idioms.txt").write_text("give <something> up\tverb\nof course\n")
    (tmp_path / "paths.txt").write_text("00\tgave\t3\n01\ttea\t2\n")
    for name, rows in {"noun": "tea n 1\nstrong_tea n 1\n", "verb": "give v 1\n", "adj": "", "adv": ""}.items():
        (tmp_path / f"index.{name}").write_text(rows)
    options = {"lexicons": str(tmp_path / "idioms.txt"), "clusters": str(tmp_path / "paths.txt"),
               "wordnet": str(tmp_path), "seen_count": 2, "epochs": 3}  # fmt: skip
    report = train("mwe", Corpus(lambda: iter([corpus()])), None, tmp_path / "model.weft", options)
    assert report["training"]["labels"] == 8
    for name in ("idioms.txt", "paths.txt", "index.noun"):
        (tmp_path / name).unlink()
    loaded = Pipeline.load(tmp_path / "model.weft")
    (component,) = loaded.components
    assert {lexicon.name for lexicon in component.lexicons} == {"wordnet", "idioms"}
    assert ("give", "up") in component._seen.entries
    doc = unseen()
    component([doc])
    assert expressions_of(doc)[0] == Expressions.of(strong=[(1, 3)])
    again = tmp_path / "again.weft"
    loaded.save(again)
    assert again.read_bytes() == (tmp_path / "model.weft").read_bytes()


def test_the_lexicon_of_a_fold_leaves_its_own_expressions_out():
    doc = Doc.from_words([["of", "course"], ["at", "all"], ["of", "course"]])
    set_expressions(doc, [Expressions.of(strong=[(0, 1)])] * 3)
    tagger = MweTagger(MweSettings(seen_count=1, folds=2, epochs=1))
    tagger.fit([doc])
    assert set(tagger._seen.entries) == {("of", "course"), ("at", "all")}
    assert [set(lexicon.entries) for lexicon in tagger._folds] == [{("at", "all")}, {("of", "course")}]


def test_probabilities_come_with_expressions():
    tagger = MweTagger(MweSettings(learner="crf", epochs=10))
    tagger.fit([corpus()])
    doc = unseen()
    tagger([doc], probabilities=True)
    assert 0.0 < doc.spans["mwe"].attributes[0]["probability"] <= 1.0


def test_expressions_below_the_threshold_are_left_out():
    tagger = MweTagger(MweSettings(learner="crf", epochs=10))
    tagger.fit([corpus()])
    doc = unseen()
    tagger([doc], probabilities=True)
    layer = doc.spans["mwe"]
    p = sorted(layer.attributes[number]["probability"] for number in range(len(layer)))
    assert p[0] < p[-1]
    tagger.settings.threshold = p[-1]
    tagger([doc])
    assert len(doc.spans["mwe"]) == sum(each == p[-1] for each in p)
    assert not doc.spans["mwe"].attributes
    tagger([doc], probabilities=True)
    assert [own["probability"] for own in doc.spans["mwe"].attributes.values()] == [p[-1]]


def test_missed_beginnings_are_dear_and_nothing_else():
    space = LabelSpace(SCHEMES[8], topology=TOPOLOGIES[8])
    table = np.array(recall_cost(space, 100.0).table)
    dear = {(space.labels[i], space.labels[j]) for i, j in zip(*np.nonzero(table > 1), strict=True)}
    assert dear == {("B", "O"), ("B", "o"), ("b", "O"), ("b", "o")}
    assert (table.diagonal() == 0).all()
    assert table.max() == 101.0
    assert MweTagger(MweSettings(recall_cost=0.0, hamming=False)).cost(space) is None


def test_features_of_the_appendix():
    net = WordNet({"look": "nv", "glass": "n", "looking glass": "n", "check in": "v", "check-in": "n"})
    lexicons = [MweLexicon.of("wordnet", net.multiwords()), MweLexicon.of("two", [("check in", "x")])]
    features = ExpressionFeatures(lexicons, net)

    def found(forms, lemmas, tags):
        doc = Doc.from_words([forms], lemma=[lemmas], xpos=[tags])
        offsets, keys = features.members([doc], "xpos")
        return [set(keys[a:b].tolist()) for a, b in pairwise(offsets)]

    def keys(*names):
        return set(map(hash_string, names))

    words = ["Check", "it", "in", "4", "-"]
    own = found(words, [word.lower() for word in words], ["VB", "PRP", "RP", "CD", ":"])
    assert keys("2 0", "4 first", "12 2 check in", "23 1", "23 2", "24 2 VB RP") <= own[0]
    assert keys("21 wordnet B v gappy", "22 two B x gappy VB RP", "17 VB") <= own[0]
    assert keys("21 wordnet O", "2 1") <= own[1]
    assert keys("8", "3 1") <= own[3]
    assert keys("9 -", "3 0") <= own[4]
    own = found(["a", "check", "-", "in"], ["a", "check", "-", "in"], ["DT", "NN", "HYPH", "RP"])
    assert keys("18 next") <= own[1]
    assert keys("19") <= own[2]
    assert keys("18 previous") <= own[3]
    own = found(["looking", "glass"], ["look", "glass"], ["NN", "NN"])
    assert keys("20 nv n B") <= own[0]
    assert keys("20 n n I") <= own[1]
    assert word_class("AUX") == "verb"


def test_a_threshold_is_a_probability():
    with pytest.raises(ConfigError, match="threshold must be a probability"):
        MweTagger(MweSettings(threshold=1.5))


WORDS = ["Take", "took", "it", "in", "to", "account", "4x", "-", "a|b", "É", "up", "\ud83d", ""]
LEMMAS, TAGS = ["take", "", "in", "into", "account", "up"], ["VB", "NN", "RP", "DT", "A|B", ""]
ENTRIES = ["take in", "take <something> into account", "take up to", "in account", "it in to account", "up <x> up"]


@pytest.mark.parametrize("seed", range(12))
def test_features_are_those_written_as_strings(seed):
    rng = np.random.default_rng(seed)
    docs = []
    for _ in range(3):
        sizes = rng.integers(1, 9, rng.integers(1, 6)).tolist()
        rows = [[[str(rng.choice(own)) for _ in range(size)] for size in sizes] for own in (WORDS, LEMMAS, TAGS)]
        docs.append(Doc.from_words(rows[0], lemma=rows[1], xpos=rows[2]))
    docs[1] = Doc.from_words([list(docs[0].column("form"))])  # without lemmas and tags
    net = WordNet({"take": "v", "in": "r", "take in": "v", "take-up": "n"}) if seed % 3 == 0 else None
    lexicons = [MweLexicon.of("a|b", [(entry, "x|y") for entry in ENTRIES[: seed % 5]])]
    lexicons += [MweLexicon.of("wordnet", net.multiwords())] if net else []
    seen = [MweLexicon.of("seen", ENTRIES[k::2]) for k in range(seed % 3)]
    expected, s = [], 7
    twin = StringFeatures(lexicons, net, max_gap=seed % 4)
    for doc in docs:
        forms = doc.column("form")
        lemmas = list(map(lower_lemma, forms, doc.column("lemma")))
        tags = doc.column("xpos")
        for a, b in pairwise(doc.sentence_offsets.tolist()):
            own = twin.from_sentence(forms[a:b], lemmas[a:b], tags[a:b], [seen[s % len(seen)]] if seen else [])
            expected += [[part for name in names for part in name.split("|") if part] for names in own]
            s += 1
    offsets, keys = ExpressionFeatures(lexicons, net, max_gap=seed % 4).members(docs, "xpos", seen, 7)
    assert [keys[a:b].tolist() for a, b in pairwise(offsets)] == [hash_strings(names).tolist() for names in expected]
    if len(seen) == 1:
        named = ExpressionFeatures(lexicons, net, max_gap=seed % 4).names(docs[0], "xpos", seen)
        for key, name in zip(
            keys.tolist(), (name for names in expected[: docs[0].n_words] for name in names), strict=False
        ):
            assert named[key] == name


def test_bad_settings_and_data_are_refused(tmp_path):
    with pytest.raises(ConfigError, match="3, 4, 6, 8"):
        MweSettings.from_options({"tags": 5})
    with pytest.raises(ConfigError, match="at least 0"):
        MweSettings.from_options({"recall_cost": -1})
    with pytest.raises(DataError, match="no span layer 'mwe'"):
        MweTagger().fit([Doc.from_words([["a"]])])
    (tmp_path / "a.txt").write_text("of course\n")
    same = f"{tmp_path}/a.txt,{tmp_path}/a.txt"
    with pytest.raises(ConfigError, match="lexicons need different names"):
        MweTagger(MweSettings(lexicons=same)).fit([corpus()])

"""The recipe of visual-denotations: its readers, features and items; the order of models on a small run; the record."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from places import ROOT

from weft import data
from weft.graph.denotations.counts import npmi
from weft.recipes.grounding.visual_denotations import corpora, judgements
from weft.tasks.denotations import DenotationGraph, entailment
from weft.tasks.denotations.captions import Caption, CaptionParser, Parses, Token, read_captions
from weft.tasks.denotations.entailment import Item, Materials, Table
from weft.tasks.denotations.frames import Frame, frames_of
from weft.tasks.denotations.lexicon import PEOPLE, chains_of, choose_senses, learned
from weft.tasks.denotations.phrases import Heads, analysed
from weft.tasks.denotations.similarity import SIMILARITIES, WordVectors, similarities

SLUG = "visual-denotations"
LEXICON = {"man": ["person"], "woman": ["person"], "poodle": ["dog"], "girl": ["child"]}


@pytest.fixture(scope="module")
def graph():
    captions = list(read_captions(ROOT / "examples" / "denotations" / "captions.tsv"))
    parser = CaptionParser()
    return DenotationGraph.of_parses(captions, parser.parse(c.text for c in captions), Heads(LEXICON))


def test_similarities_are_their_definitions():
    random = np.random.default_rng(0)
    a, b = (np.maximum(random.normal(size=(n, 6)), 0) + np.eye(n, 6) for n in (3, 4))
    for x in range(3):
        for y in range(4):
            w, v = a[x], b[y]
            both = (w > 0) & (v > 0)
            lin = (w + v)[both].sum() / (w.sum() + v.sum())
            expected = {
                "cos": w @ v / np.sqrt((w @ w) * (v @ v)),
                "Lin": lin,
                "Bal": np.sqrt(w[both].sum() / w.sum() * lin),
                "Clk": np.minimum(w, v)[both].sum() / w.sum(),
            }
            for name in SIMILARITIES:
                assert similarities(a, b, name)[x, y] == pytest.approx(expected[name])


def test_vectors_are_positive_npmi_with_the_most_frequent_words():
    texts = [["dog", "run"], ["dog", "run"], ["dog", "sleep"], ["cat", "sleep"]]
    vectors = WordVectors.count(texts, least=1, dimensions=2)
    assert list(vectors.number) == ["dog", "run", "sleep", "cat"]
    assert vectors.rows.shape == (4, 2)
    expected = np.log((2 / 4) / ((3 / 4) * (2 / 4))) / -np.log(2 / 4)
    assert vectors.rows[vectors.number["dog"], vectors.number["run"]] == pytest.approx(expected)
    assert vectors.rows[vectors.number["cat"], 0] == 0
    own = vectors.composed(["dog", "run"], product=False)
    assert own == pytest.approx(vectors.rows[0] + vectors.rows[1])
    assert vectors.composed(["dog", "run"], product=True) == pytest.approx(vectors.rows[0] * vectors.rows[1])
    same = vectors.compositional(["dog", "run"], [["dog", "run"], ["dog", "run"]], product=False)
    assert same == pytest.approx(1)


def test_bags_count_words_and_their_hypernyms():
    plain = entailment.bag_features(["dog", "run"], [["poodle"], ["poodle", "run"]])
    wide = entailment.bag_features(["dog", "run"], [["poodle"], ["poodle", "run"]], Heads(LEXICON))
    assert (plain["share"], wide["share"]) == (0.5, 1.0)
    assert (plain["word run"], wide["word dog"]) == (1.0, 2.0)
    assert "word dog" not in plain


def test_denotational_features_are_sums_maxima_and_noisy_or(graph, monkeypatch):
    monkeypatch.setattr(entailment, "LEAST", 2)
    monkeypatch.setattr(entailment, "JOINT", 1)
    material = Materials(graph, graph.sets, graph.heads)
    frame = Frame("VP", "eat lunch", "", "eat lunch", "eat", "lunch")
    premises = np.array([graph.find(phrase) for phrase in ("sit", "sit on bench", "woman")])
    p = [graph.p("eat lunch", given=phrase) for phrase in ("sit", "sit on bench", "woman")]
    found = entailment.denotational_features(material, frame, premises, "P")
    assert found["P sum VP"] == pytest.approx(sum(p))
    assert found["P max VP=eat lunch"] == pytest.approx(max(p))
    assert found["P P(h|P) VP"] == pytest.approx(1 - np.prod([1 - each for each in p]))
    similar = [graph.npmi("eat lunch", phrase) for phrase in ("sit", "sit on bench", "woman")]
    found = entailment.denotational_features(material, frame, premises, "nPMI")
    assert found["nPMI max VP"] == pytest.approx(max(similar))
    assert found["nPMI sum VP"] == pytest.approx(sum(s for s in similar if s))
    assert "nPMI sum sbj" not in found


def test_pairs_below_ten_images_or_two_shared_ones_do_not_count(graph):
    material = Materials(graph, graph.sets, graph.heads)
    frame = Frame("VP", "eat lunch", "", "eat lunch", "eat", "lunch")
    found = entailment.denotational_features(material, frame, np.array([graph.find("sit")]), "nPMI")
    assert found == {"nPMI sum": 0.0, "nPMI max": 0.0}


def test_items_leave_out_the_caption_that_says_it_and_come_in_pairs(graph, monkeypatch):
    captions = [Caption(c.image, f"{c.name}{k}", c.text) for c in graph.captions for k in range(1)]
    extra = [Caption(image, f"x{k}", "People are here.") for image in graph.image_names for k in range(2)]
    parser = CaptionParser()
    both = captions + extra
    wide = DenotationGraph.of_parses(both, parser.parse(c.text for c in both), Heads(LEXICON))
    monkeypatch.setattr(entailment, "LEAST", 2)
    images = np.arange(len(wide.image_names), dtype=np.int32)
    items = entailment.make_items(wide, images, "VP", 40, 0, wide.sets, most_share=0.9, folds=2)
    assert len(items) > 10
    for positive, negative in zip(items[::2], items[1::2], strict=True):
        assert positive.hypothesis == negative.hypothesis
        assert (positive.holds, negative.holds) == (True, False)
        assert positive.image % 2 == negative.image % 2
        name = positive.hypothesis.phrase
        assert wide.image_names[positive.image] in wide.images(name)
        assert wide.image_names[negative.image] not in wide.images(name)
        nodes, of = wide.caption_incidences()
        says = set(of[nodes == wide.find(name)].tolist())
        for item in (positive, negative):
            assert len(set(item.premises)) == 4
            assert not says & set(item.premises)
            assert {wide.captions[c].image for c in item.premises} == {wide.image_names[item.image]}


def test_frames_are_verb_phrases_and_sentences_with_their_constituents():
    tokens = CaptionParser()(["A man plays baseball on a beach."])[0]
    heads = Heads(LEXICON)
    found = {frame.phrase: frame for frame in frames_of(analysed(tokens, heads), heads)}
    assert set(found) == {"play baseball", "man play baseball", "person play baseball"}
    assert found["person play baseball"].constituents() == {
        "S": "person play baseball", "sbj": "person", "VP": "play baseball", "v": "play", "dobj": "baseball"
    }  # fmt: skip


def test_rare_features_are_not_made_large():
    rows = np.zeros((100, 2))
    rows[:, 0], rows[0, 1] = 2.0, 2.0
    from scipy.sparse import csr_array

    assert entailment.scale_of(csr_array(rows)) == pytest.approx([0.5, 0.5])


def test_a_classifier_learns_what_a_feature_says():
    random = np.random.default_rng(0)
    labels = random.random(200) < 0.5
    train, test = Table(), Table()
    for k, holds in enumerate(labels):
        (train if k < 150 else test).add({"a": float(holds), f"noise {k % 7}": 1.0, f"only {k}": 1.0})
    found = entailment.fit(train, test, labels[:150], labels[150:], np.arange(150) % 20)
    assert found.accuracy == 1.0
    assert found.features == 158


class Senses:
    """A small WordNet: `bank` is an institution or a slope, and so on up."""

    def __init__(self) -> None:
        self.of = {"bank": [1, 2], "slope": [3], "hill": [4], "institution": [5], "person": [6]}
        self.up = {1: [5], 2: [3], 3: [], 4: [3], 5: [], 6: []}

    def senses(self, noun):
        return self.of.get(noun, [])

    def above(self, sense):
        return self.up[sense]

    def linked(self, a, b):
        return a == b or b in self.up[a] or a in self.up[b]


def test_senses_are_those_that_other_captions_of_an_image_agree_with():
    net, counts = Senses(), {"bank": 10, "slope": 8, "institution": 8}
    slopes = {str(k): [["bank"], ["slope"]] for k in range(6)}
    assert chains_of(slopes, net) == [["bank", "slope"]] * 6
    assert choose_senses(chains_of(slopes, net), counts, net)["bank"] == 2
    assert choose_senses([], counts, net)["bank"] == 1  # nothing speaks against the most frequent one
    both = slopes | {f"x{k}": [["bank"], ["institution"]] for k in range(4)}
    assert choose_senses(chains_of(both, net), counts, net)["bank"] == 1  # six against four is not clear


def test_nouns_of_one_caption_are_no_chain():
    assert chains_of({"a": [["bank", "slope"], ["bank"]]}, Senses()) == []


def test_without_a_wordnet_only_people_have_hypernyms(monkeypatch):
    monkeypatch.setattr("weft.tasks.denotations.lexicon.find_wordnet", lambda: None)
    assert learned(Parses(), []) == PEOPLE


def test_ridge_regression_and_overlaps_of_sentences():
    one, other = Parses(), Parses()
    for words, more in (("a dog runs", "a dog runs"), ("a dog runs", "cats sleep")):
        for parses, text in ((one, words), (other, more)):
            parses.add([Token(w, w, "NN", "root", -1) for w in text.split()])
    rows = judgements.baseline_rows(one, other, Heads({}))
    assert rows[0, :9] == pytest.approx(1)
    assert rows[1, :3] == pytest.approx(0)
    assert npmi(np.array([1]), np.array([1]), np.array([1]), 4)[0] == 1
    x = np.random.default_rng(0).normal(size=(200, 3))
    y = x @ [1.0, 2.0, 0.0]
    assert np.corrcoef(judgements.regressed(x[:150], y[:150], x[150:]), y[150:])[0, 1] > 0.99


@pytest.mark.corpus
def test_corpora_are_read_with_their_faults_left_out():
    for path in (f"{corpora.CAPTIONS}/train.images.txt", f"{corpora.MPE}/mpe_dev.txt"):
        if not data.have(path):
            pytest.skip(f"{path} is not there")
    captions = corpora.multi30k(20)
    lengths = defaultdict(list)
    for caption in captions:
        lengths[caption.image].append(len(caption.text))
    assert len(captions) == 100
    assert sum(own != sorted(own, reverse=True) for own in lengths.values()) > 15  # not by length
    assert len(corpora.judged("dev")) == 999
    some = frozenset([captions[0].image])
    assert captions[0].image not in {caption.image for caption in corpora.multi30k(20, without=some)}


def test_an_item_is_four_captions_and_a_frame():
    assert Item._fields == ("premises", "hypothesis", "image", "holds")

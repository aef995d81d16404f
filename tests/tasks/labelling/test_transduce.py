"""Labelling together: consistent, true to what is labelled, between the labeller and the pure cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.infer.chains.chain import Chain
from weft.tasks.labelling import transduce
from weft.tasks.labelling.transduce import (
    TiedParts,
    TogetherSettings,
    choose_beta,
    cut_together,
    label_together,
    part_vectors,
    tie_parts,
)
from weft.tasks.tagging.tagger import Tagger, TaggerSettings
from weft.text.doc import Doc

NOUNS, VERBS = ("cat", "dog", "cow", "hen", "pig", "owl"), ("runs", "sits", "eats", "naps", "hums", "digs")


def sentences(n, seed):
    """Determiner, noun, verb, now and then an adverb."""
    random = np.random.default_rng(seed)
    words, tags = [], []
    for _ in range(n):
        adverb = random.random() < 0.4
        words.append([random.choice(("the", "a")), random.choice(NOUNS), random.choice(VERBS), *["often"] * adverb])
        tags.append(["DET", "NOUN", "VERB", *["ADV"] * adverb])
    return [Doc.from_words([each], upos=[marks]) for each, marks in zip(words, tags, strict=True)]


def trained(docs, templates="w[0] w[-1] y[-1]"):
    tagger = Tagger(TaggerSettings(
        templates=templates, learner="crf", column="upos", dictionary=0, min_count=1, precision="float32", prune=0.0
    ))  # fmt: skip
    tagger.fit(docs)
    return tagger


@pytest.fixture(scope="module")
def few():
    return sentences(6, 0)


@pytest.fixture(scope="module")
def tagger(few):
    return trained(few)


@pytest.mark.must_show("constrained-min-cuts", 4)
@pytest.mark.parametrize("beta", [0.0, 0.1, 1.0, 10.0])
def test_labels_are_paths_of_the_label_set_and_labelled_sentences_keep_theirs(few, tagger, beta):
    before = [doc.column("upos") for doc in few]
    new = sentences(10, 1)
    found = label_together(tagger, few, new, TogetherSettings(beta=beta))
    assert [
        label for doc in new for label in doc.column("upos")
    ] == found.labels  # one label a word, whatever its parts
    assert set(found.labels) <= {"DET", "NOUN", "VERB", "ADV"}
    assert [doc.column("upos") for doc in few] == before
    # Sequences that are labelled already and stand among the unlabelled as well get back their labels: the tie to
    # their twin is the nearest of all.
    again = cut_together(tagger, few, few, TogetherSettings(beta=beta, neighbours=1))
    assert again.labels == [label for doc in few for label in doc.column("upos")]


@pytest.mark.must_show("constrained-min-cuts", 5)
def test_much_weight_of_the_labeller_gives_its_own_best_labelling_and_so_does_no_tie(few, tagger):
    new = sentences(12, 2)
    chain = tagger.conditional(tagger._trained().chain(new))
    p = np.maximum(chain.marginals(per_position=True).edge, 1e-12)
    own = Chain(np.zeros_like(chain.node), np.log(p), chain.offsets).best()
    labels = [tagger._trained().space.labels[state] for state in own.tolist()]
    assert cut_together(tagger, few, new, TogetherSettings(beta=1e4)).labels == labels
    assert cut_together(tagger, few, new, TogetherSettings(beta=0.5, neighbours=0)).labels == labels


@pytest.mark.must_show("constrained-min-cuts", 5)
def test_no_weight_of_the_labeller_gives_the_pure_cut(few, tagger):
    new = sentences(12, 3)
    other = trained(few, "w[0] w[-1] w[1] y[-1]")  # another labeller
    plain = TogetherSettings(beta=0.0)
    vectors, is_part = part_vectors(tagger, [*few, *new])
    u, v, _ = tie_parts(vectors, np.flatnonzero(is_part), plain)
    known = np.array([label for doc in few for label in tagger.gold(doc)])
    found = cut_together(tagger, few, new, plain)
    everything = np.concatenate([known, found.labels])
    # The cost of a pure cut is the number of ties between parts with different pairs of labels.
    pairs = np.array([f"{a} {b}" for a, b in zip(["", *everything[:-1]], everything, strict=True)])
    loose = np.maximum(u, v) >= len(known)
    assert found.relaxation.rounded == pytest.approx((pairs[u] != pairs[v])[loose].sum())
    # The labeller enters through what it observes alone: weights of its own do not matter.
    assert other.settings.templates != tagger.settings.templates
    heavier = trained(few)
    heavier.temperature = 3.0
    assert cut_together(heavier, few, new, plain).labels == found.labels


def test_unlabelled_parts_are_tied_to_each_other(few, tagger, monkeypatch):
    parts = TiedParts.of(tagger, few, sentences(12, 3), TogetherSettings())
    u, v, weights = parts.ties
    among = np.minimum(u, v) >= len(parts.known)
    seen = []
    tied = transduce.TiedChains
    monkeypatch.setattr(transduce, "TiedChains", lambda *given: seen.append(given[2:]) or tied(*given))
    parts.cut(0.1)
    (given,) = seen
    assert among.sum() > 10
    assert sorted(given[2].tolist()) == sorted(weights[among].tolist())


def test_like_surroundings_carry_labels_to_unknown_words():
    few = [Doc.from_words([["the", "cat", "runs", "often"]], upos=[["DET", "NOUN", "VERB", "ADV"]])]
    new = [Doc.from_words([["the", word, "runs", "often"]]) for word in ("zib", "zob")]
    found = label_together(trained(few), few, new, TogetherSettings(beta=0.1, neighbours=1))
    assert found.labels == ["DET", "NOUN", "VERB", "ADV"] * 2


def test_one_word_sentences_are_left_to_the_labeller(few, tagger):
    words = [["often"], ["the", "cat", "naps"], ["dog"]]
    new, alone = [Doc.from_words(words)], [Doc.from_words(words)]
    tagger(alone)
    found = label_together(tagger, few, new).labels
    assert (found[0], found[-1]) == (alone[0].column("upos")[0], alone[0].column("upos")[-1])


def test_a_label_that_swallows_the_others_is_reported():
    few = [Doc.from_words([["x", "x", "x", "y"], ["y", "y"]], upos=[["A", "A", "A", "B"], ["B", "B"]])]
    new = [Doc.from_words([["x", "x", "x", "x", "x"]] * 3)]
    settings = TogetherSettings(beta=0.0, neighbours=1)
    assert label_together(trained(few, "w[0] y[-1]"), few, new, settings).collapsed == "A"
    assert label_together(trained(few, "w[0] y[-1]"), few, [Doc.from_words([["x", "y"]])], settings).collapsed is None


def test_beta_is_chosen_on_labelled_sentences_alone(few):
    beta, shares = choose_beta(trained, few, (0.1, 1.0), folds=3)
    assert beta in shares
    assert set(shares) == {0.1, 1.0}
    assert shares[beta] == max(shares.values())


def test_weights_of_ties_may_fall_with_distance(few, tagger):
    settings = TogetherSettings(ties="gaussian")
    vectors, is_part = part_vectors(tagger, few)
    _, _, weights = tie_parts(vectors, np.flatnonzero(is_part), settings)
    assert weights.min() < weights.max() <= 1.0
    assert len(label_together(tagger, few, sentences(4, 5), settings).labels)
    assert len(label_together(tagger, few, sentences(4, 5), replace(settings, bias="linear")).labels)


def test_bad_requests_are_refused(few, tagger):
    with pytest.raises(ConfigError, match="unit, gaussian"):
        label_together(tagger, few, sentences(2, 6), TogetherSettings(ties="long"))
    with pytest.raises(ConfigError, match="must be at least 0"):
        label_together(tagger, few, sentences(2, 6), TogetherSettings(beta=-1))
    with pytest.raises(DataError, match="labelled and unlabelled"):
        label_together(tagger, few, [])
    with pytest.raises(DataError, match="at least two"):
        choose_beta(trained, few[:1])

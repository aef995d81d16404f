"""The role-swap probe: pairs, ties, and embeddings that can and cannot tell roles apart."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from weft.errors import DataError, FormatError
from weft.tasks.images.probe import NOUNS, VERBS, Outcome, Pair, Triple, read_pairs, standard_pairs, triples


def test_triples_are_different_and_none_is_another_one_swapped():
    found = triples(500, 1)
    assert len({frozenset((t.subject, t.object)) | {t.verb} for t in found}) == 500
    assert all(t.subject != t.object for t in found)
    assert {t.subject for t in found} == set(NOUNS)
    assert triples(5, 1) == found[:5]
    with pytest.raises(DataError, match="6,624 pairs, not 0"):
        triples(0)


def test_a_bag_of_words_gets_exactly_half_of_the_pairs():
    random = np.random.default_rng(0)
    vectors: dict[str, np.ndarray] = {}

    def bag(sentence):
        words = sorted(sentence.lower().rstrip(".").split())
        return sum(vectors.setdefault(word, random.standard_normal(8)) for word in words)

    pairs = standard_pairs(50)
    scores = [[float(bag(pair.anchor) @ bag(pair[k])) for pair in pairs] for k in (1, 2)]
    outcome = Outcome.of(*scores)
    assert (outcome.share, outcome.ties) == (0.5, 50)
    assert all(pair.same_words for pair in pairs)
    assert outcome.interval[0] < 0.5 < outcome.interval[1]


def test_an_order_that_counts_gets_all_and_its_opposite_none():
    pairs = standard_pairs(50)

    def agents(sentence):
        words = sentence.rstrip(".").split()
        return words[-1] if " by " in sentence else words[1]

    meant = [float(agents(pair.anchor) == agents(pair.sentence)) for pair in pairs]
    swapped = [float(agents(pair.anchor) == agents(pair.swapped)) for pair in pairs]
    assert Outcome.of(meant, swapped).share == 1.0
    assert Outcome.of(swapped, meant).share == 0.0


def test_pairs_of_ones_own_may_differ_in_more_than_order(tmp_path):
    (tmp_path / "pairs.tsv").write_text("x.jpg\tA man bites a dog.\tA dog bites a man.\ny\tTwo cats.\tThree cats.\n\n")
    assert [pair.same_words for pair in read_pairs(tmp_path / "pairs.tsv")] == [True, False]
    (tmp_path / "pairs.tsv").write_text("x.jpg\tA man bites a dog.\n")
    with pytest.raises(FormatError, match="an anchor and two sentences"):
        read_pairs(tmp_path / "pairs.tsv")


def test_sentences_and_passives_say_the_same_of_all_verbs():
    for verb in VERBS:
        triple = Triple("man", verb, "dog")
        assert triple.swapped.swapped == triple
        assert Pair(triple.passive, triple.active, triple.swapped.active).same_words
    docs = list(weft.load("en").pipe([Triple("man", "bites", "dog").passive]))
    assert "nsubj:pass" in docs[0].column("deprel")

"""Features of sentences: words, negation, votes and what another model thinks."""

from __future__ import annotations

import numpy as np

from weft.lexical.polarity_lexicon import PolarityLexicon
from weft.tasks.sentiment.features import SentenceFeatures, derived_keys, document_offsets
from weft.text.doc import Doc

LEXICON = PolarityLexicon({"good": 1, "slow": -1})


def keys_of(*words: str) -> set[int]:
    keys, _ = SentenceFeatures(LEXICON).keys([Doc.from_words([list(words)])])
    assert len(set(keys.tolist())) == len(keys)
    return set(keys.tolist())


def test_sentences_of_several_documents_have_the_features_they_have_alone():
    docs = [Doc.from_words([["A", "slow", "start", "."], ["Good", "!"]]), Doc.from_words([["NOT", "good", "?"]])]
    features = SentenceFeatures(LEXICON)
    keys, offsets = features.keys(docs)
    assert offsets[-1] == len(keys)
    sentences = [["A", "slow", "start", "."], ["Good", "!"], ["NOT", "good", "?"]]
    for i, words in enumerate(sentences):
        assert set(keys[offsets[i] : offsets[i + 1]].tolist()) == keys_of(*words)
    assert document_offsets(docs).tolist() == [0, 2, 3]


def test_negation_case_and_marks_make_a_difference_where_they_should():
    assert keys_of("good") == keys_of("Good")
    assert keys_of("GOOD") > keys_of("good")
    assert keys_of("good", "!") != keys_of("good", "?")
    plain, turned = keys_of("so", "good"), keys_of("not", "good")
    assert len(plain & turned) == 1  # only that every sentence has


def test_votes_are_those_of_the_lexicon():
    sentences = [["not", "slow", ",", "good"], ["slow"], ["table"], ["good", "but", "slow"]]
    votes = SentenceFeatures(LEXICON).votes([Doc.from_words(sentences)])
    assert votes.tolist() == [LEXICON.vote(words) for words in sentences] == [2, -1, 0, 0]


def test_rare_words_have_no_row_and_votes_always_have():
    docs = [Doc.from_words([["good", "film"], ["good", "plot"]])]
    features = SentenceFeatures(LEXICON)
    features.learn(docs, least=2)
    rows = features.rows(docs)
    assert (rows.rows == -1).sum() == 4  # film, good film, plot, good plot
    signs = features.signs(0.5)
    assert signs.sum() == 0.5
    assert signs[:, 0].max() == 0.5


def test_derived_features_are_all_probabilities_winners_and_their_pairs():
    rng = np.random.default_rng(0)
    label = rng.random((4, 3, 3))
    label /= label.sum(axis=(1, 2), keepdims=True)
    keys = derived_keys(label, label.sum(axis=2))
    assert keys.shape == (4, 18 + 18 * 17 // 2)
    assert all(len(set(row)) == len(row) for row in keys.tolist())
    same = derived_keys(label + 1e-9, label.sum(axis=2))
    np.testing.assert_array_equal(keys, same)
    certain = np.zeros((1, 3, 3))
    certain[0, 1, 2] = 1.0
    assert (derived_keys(certain, certain.sum(axis=2)) != keys[:1]).any()


def test_further_keys_join_the_rows_of_their_sentences():
    docs = [Doc.from_words([["good"], ["slow", "plot"]])]
    features = SentenceFeatures(LEXICON)
    extra = np.array([[1, 2], [3, 2]], dtype=np.uint64)
    features.learn(docs, least=1, extra=extra)
    plain, joined = features.rows(docs), features.rows(docs, extra)
    sizes = np.diff(joined.offsets) - np.diff(plain.offsets)
    assert sizes.tolist() == [2, 2]
    assert (joined.rows >= 0).all()
    first, second = (set(joined.rows[joined.offsets[i] : joined.offsets[i + 1]].tolist()) for i in (0, 1))
    assert features.index.rows(np.array([2], dtype=np.uint64))[0] in first & second

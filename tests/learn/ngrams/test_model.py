"""Queries, sampling, pruning and mixtures against models in dictionaries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_twins import SENTENCES, Plain, counted

from weft.errors import ConfigError, DataError
from weft.learn.ngrams.mixture import mix, probabilities
from weft.learn.ngrams.model import NgramModel
from weft.learn.ngrams.pruning import history_probabilities, prune
from weft.learn.ngrams.sampling import sample, sample_ids
from weft.learn.ngrams.smoothing import METHODS, Estimates, backing_off, estimate
from weft.learn.ngrams.vocabulary import BEGIN_ID, END_ID


def model_of(sentences: list[list[str]], order: int, method: str = "absolute", interpolate: bool = False) -> NgramModel:
    vocabulary, counts, _ = counted(sentences, order)
    return NgramModel.of(vocabulary, estimate(counts, method, interpolate))


@settings(max_examples=25, deadline=None)
@given(SENTENCES, st.integers(1, 4), st.sampled_from(METHODS), st.lists(st.integers(0, 5), max_size=8))
def test_scores_are_those_of_the_definition(
    sentences: list[list[str]], order: int, method: str, words: list[int]
) -> None:
    model = model_of(sentences, order, method)
    plain = Plain(model.estimates())
    text = np.array([min(word, len(model.vocabulary) - 1) for word in words], dtype=np.int32)
    text[text == BEGIN_ID] = 0
    scores = model.scores(text, np.array([0, len(text)]))
    state, history = np.array([model.start], dtype=np.int32), (BEGIN_ID,)
    for word, score in zip(text.tolist(), scores.tolist(), strict=True):
        step, state = model.step(state, np.array([word], dtype=np.int32))
        assert step[0] == score
        wanted = plain.p(history, word)
        assert 10**score == pytest.approx(wanted, rel=1e-5) if wanted > 1e-30 else score < -30
        history = (*history, word)


def one_by_one(model: NgramModel, words: list[str]) -> float:
    """The score of a sentence by single steps."""
    states, total = np.array([model.start], dtype=np.int32), 0.0
    for word in [*model.vocabulary.encode(words).tolist(), END_ID]:
        scores, states = model.step(states, np.array([word], dtype=np.int32))
        total += float(scores[0])
    return total


def test_states_are_as_short_as_the_model_allows() -> None:
    model = model_of([["a", "b", "c"], ["c", "a"]], 3)
    ids = model.vocabulary.ids
    states = np.array([model.start], dtype=np.int32)
    for word in "ab":
        states = model.step(states, np.array([ids[word]]))[1]
    assert model.trie.ngram(int(states[0])) == (ids["a"], ids["b"])
    after = model.step(states, np.array([0]))[1]  # never seen: nothing of what came before matters
    assert after.tolist() == [0]


def test_states_and_words_that_do_not_exist_are_refused() -> None:
    model = model_of([["a"]], 2)
    for states, words in (([10**6], [0]), ([-1], [0]), ([0], [99]), ([0], [-1]), ([0, 0], [1])):
        with pytest.raises(DataError):
            model.step(np.array(states), np.array(words))


def test_perplexity_counts_ends_and_tells_unknown_words_apart() -> None:
    model = model_of([["a", "b"], ["a"]], 2)
    found = model.perplexity([["a", "x"], []])
    assert (found.words, found.unknown) == (4, 1)
    scores = np.concatenate([scores for _, scores in model.score_all([["a", "x"], []])])
    assert found.all == pytest.approx(10 ** (-scores.mean()))
    assert found.known == pytest.approx(10 ** (-(scores.sum() - scores[1]) / 3))
    assert model.score(["a", "x"]) == pytest.approx(scores[:3].sum())
    assert model.score(["a", "x"], end=False) == pytest.approx(scores[:2].sum())


@settings(max_examples=20, deadline=None)
@given(SENTENCES, st.integers(1, 4), st.lists(st.lists(st.sampled_from("abcx"), max_size=6), max_size=25))
def test_sentences_side_by_side_score_as_one_by_one(
    sentences: list[list[str]], order: int, new: list[list[str]]
) -> None:
    model = model_of(sentences, order)
    found = list(model.score_each(new))
    assert found == pytest.approx([one_by_one(model, words) for words in new])


@settings(max_examples=20, deadline=None)
@given(SENTENCES, st.integers(2, 4), st.sampled_from(METHODS), st.floats(1e-6, 0.1))
def test_what_pruning_loses_is_the_relative_entropy(
    sentences: list[list[str]], order: int, method: str, threshold: float
) -> None:
    model = model_of(sentences, order, method)
    smaller = prune(model, threshold)
    assert abs(smaller.sums() - 1).max() < 1e-6
    kept = {smaller.trie.ngram(g) for g in range(1, len(smaller.trie))}
    for gram in kept:
        assert len(gram) == 1 or {gram[1:], gram[:-1]} <= kept
    # One n-gram alone: the formula must give the relative entropy of the two models, summed up over words.
    joint = history_probabilities(model, model)
    plain, trie, given_ = Plain(model.estimates()), model.trie, model.estimates()
    parents = trie.parents()
    for g in range(trie.level(order).start, len(trie)):
        gram = trie.ngram(g)
        without = np.ones(len(trie), dtype=np.bool_)
        without[g] = False
        small = trie.subset(without)
        prob = given_.prob[without]
        other = Plain(Estimates(small, prob, backing_off(small, prob)))
        pairs = [(plain.p(gram[:-1], word), other.p(gram[:-1], word)) for word in plain.words]
        if all(q > 1e-9 for p, q in pairs if p > 0):
            lost = sum(p * math.log(p / q) for p, q in pairs if p > 0)
            is_kept = math.expm1(joint[parents[g]] * lost) >= threshold
            if abs(math.expm1(joint[parents[g]] * lost) - threshold) > 1e-5:
                assert is_kept == (gram in kept)


def test_a_size_is_reached_from_below_and_words_stay() -> None:
    model = model_of([list("abcab"), list("cabbc"), list("bcaab"), list("accb")], 4, "witten-bell")
    for size in (8, 15, 30):
        smaller = prune(model, size=size)
        assert smaller.counts()[0] == len(model.vocabulary)
        assert size - 6 <= sum(smaller.counts()) <= size
    assert prune(model, size=10**6).counts() == model.counts()
    assert sum(prune(model, size=15, criterion="weighted-difference").counts()) <= 15
    for wrong in ({}, {"size": 3, "threshold": 0.1}, {"size": 3, "criterion": "luck"}):
        with pytest.raises(ConfigError):
            prune(model, **wrong)


def test_another_model_can_say_how_often_histories_occur() -> None:
    text = [["san", "francisco"]] * 8 + [["francisco", "x"], ["san", "x"], ["y", "san"]]
    kneser, bell = model_of(text, 2, "kneser-ney"), model_of(text, 2, "witten-bell")
    node = 1 + kneser.vocabulary.ids["francisco"]
    assert history_probabilities(bell, kneser)[node] > 1.2 * history_probabilities(kneser, kneser)[node]
    assert prune(kneser, size=9, histories=bell).counts()[0] == prune(kneser, size=9).counts()[0]
    with pytest.raises(ConfigError, match="vocabulary"):
        prune(kneser, size=9, histories=model_of([["a"]], 2))


@settings(max_examples=15, deadline=None)
@given(SENTENCES, SENTENCES, st.floats(0, 1))
def test_a_mixture_has_the_mean_of_the_probabilities(one: list[list[str]], two: list[list[str]], share: float) -> None:
    words = [["a", "b", "c"]]
    a, b = model_of(one + words, 3), model_of(two + words, 2, "witten-bell")
    b = NgramModel(a.vocabulary, b.trie, b.logp, b.backoff) if a.vocabulary.words != b.vocabulary.words else b
    mixed = mix([a, b], [share, 1 - share])
    assert abs(mixed.sums() - 1).max() < 1e-6
    plain = [Plain(model.estimates()) for model in (a, b, mixed)]
    for gram, prob in plain[2].prob.items():
        wanted = share * plain[0].p(gram[:-1], gram[-1]) + (1 - share) * plain[1].p(gram[:-1], gram[-1])
        assert prob == pytest.approx(wanted, rel=1e-5, abs=1e-12)
    assert np.allclose(probabilities(a, a.trie)[1:], a.estimates().prob[1:], rtol=1e-5)
    with pytest.raises(ConfigError):
        mix([a, b], [0.5, 0.6])


@pytest.mark.parametrize("interpolate", [True, False])
def test_sampled_words_have_the_probabilities_of_the_model(interpolate: bool) -> None:
    text = [list("abab"), list("abc"), list("cab"), list("bca"), list("aab")]
    model = model_of(text, 3, "absolute", interpolate)
    plain = Plain(model.estimates())
    drawn = sample_ids(model, 60_000, seed=3, longest=40)
    follows: dict[tuple[int, ...], dict[int, int]] = {}
    for begin, end in zip(drawn.offsets[:-1].tolist(), drawn.offsets[1:].tolist(), strict=True):
        sentence = (BEGIN_ID, *drawn.text[begin:end].tolist())
        for i in range(1, len(sentence)):
            own = follows.setdefault(sentence[max(0, i - 2) : i], {})
            own[sentence[i]] = own.get(sentence[i], 0) + 1
    for history, own in follows.items():
        n = sum(own.values())
        if n > 5000:
            for word in plain.words:
                p = plain.p(history, word)
                assert abs(own.get(word, 0) / n - p) < 5 * math.sqrt(p * (1 - p) / n) + 1e-9


def test_samples_are_the_same_for_a_seed_and_end_where_they_must() -> None:
    model = model_of([["a", "b"]] * 3, 2)
    assert list(sample(model, 5, seed=1)) == list(sample(model, 5, seed=1)) != list(sample(model, 5, seed=2))
    assert all(len(words) <= 2 for words in sample(model, 50, longest=2))
    assert sample_ids(model, 3, longest=1).text.tolist().count(END_ID) <= 3
    with pytest.raises(ConfigError):
        sample_ids(model, -1)

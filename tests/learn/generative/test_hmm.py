import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from label_twins import taggings, texts

from weft.errors import ConfigError, DataError
from weft.infer.chains.label_lists import LabelLists
from weft.learn.generative.hmm import (
    HMM,
    best_tags,
    expected_counts,
    fit_hmm,
    full_transitions,
    observed_transitions,
    uniform_hmm,
    used_emissions,
)


def random_hmm(lists, seed, sparse=False):
    """Random probabilities; with `sparse`, half of the transitions have none."""
    rng = np.random.default_rng(seed)
    start = uniform_hmm(lists)
    transitions = start.transitions * rng.random(start.transitions.shape)
    if sparse:
        transitions *= rng.random(transitions.shape) < 0.6
    sums = transitions.sum(axis=1, keepdims=True)
    return HMM(transitions / np.where(sums > 0, sums, 1), start.emissions * rng.random(len(start.emissions)))


def probability(lists, hmm, sentence, tags):
    n = lists.n_labels
    p = math.prod(hmm.transitions[a, b] for a, b in pairwise((n, *tags, n + 1)))
    for kind, tag in zip(lists.types[lists.offsets[sentence] :], tags, strict=False):
        place = lists.begin[kind] + lists.listed[lists.begin[kind] : lists.begin[kind + 1]].tolist().index(tag)
        p *= hmm.emissions[place]
    return p


@pytest.mark.must_show("dmlc-unsupervised-tagging", 5)
@settings(max_examples=40, deadline=None)
@given(texts(empty=True), st.integers(0, 1000))
def test_forward_backward_is_enumeration(lists, seed):
    hmm = random_hmm(lists, seed)
    counts, log_likelihood = expected_counts(lists, hmm)
    n, total = lists.n_labels, 0.0
    pairs, words = np.zeros_like(hmm.transitions), np.zeros((len(lists.begin) - 1, n))
    for s in range(len(lists.offsets) - 1):
        first, end = lists.offsets[s], lists.offsets[s + 1]
        if first == end:
            continue
        own = [(probability(lists, hmm, s, tags), tags) for tags in taggings(lists, s)]
        z = sum(p for p, _ in own)
        total += math.log(z)
        for p, tags in own:
            np.add.at(pairs, tuple(np.array([*pairwise((n, *tags, n + 1))]).T), p / z)
            np.add.at(words, (lists.types[first:end], list(tags)), p / z)
    assert log_likelihood == pytest.approx(total)
    assert np.allclose(counts.transitions, pairs)
    kinds = np.repeat(np.arange(len(lists.begin) - 1), np.diff(lists.begin))
    assert np.allclose(counts.emissions, words[kinds, lists.listed])


@settings(max_examples=40, deadline=None)
@given(texts(), st.integers(0, 1000))
def test_viterbi_finds_the_most_probable_tagging_and_says_which_sentence_has_none(lists, seed):
    hmm = random_hmm(lists, seed, sparse=True)
    best = [max(probability(lists, hmm, s, tags) for tags in taggings(lists, s)) for s in range(len(lists.offsets) - 1)]
    if min(best) == 0.0:
        with pytest.raises(DataError, match=f"sentence {best.index(0.0) + 1} has no tagging"):
            best_tags(lists, hmm)
        return
    tags = best_tags(lists, hmm)
    for s, p in enumerate(best):
        own = tags[lists.offsets[s] : lists.offsets[s + 1]].tolist()
        assert probability(lists, hmm, s, own) == pytest.approx(p)


@pytest.mark.must_show("dmlc-unsupervised-tagging", 5)
@settings(max_examples=25, deadline=None)
@given(texts(sentences=10, words=8), st.integers(0, 1000), st.sampled_from([0.0, 0.5]))
def test_the_likelihood_never_falls_within_a_run_of_em(lists, seed, smoothing):
    start = random_hmm(lists, seed)
    result = fit_hmm(lists, start, iterations=15, tolerance=0.0, smoothing=smoothing)
    values = result.log_likelihoods
    assert all(b >= a - 1e-8 * abs(a) for a, b in pairwise(values))
    assert np.allclose(result.parameters.transitions.sum(axis=1)[:-1].round(9) % 1, 0)


def test_what_has_no_probability_at_the_start_never_gets_any():
    lists = LabelLists.from_types(np.ones((3, 3), dtype=bool), [0, 1, 2, 0, 2, 1], [0, 3, 6])
    allowed = full_transitions(3)
    allowed[0, 0] = allowed[1, 2] = False
    used = np.ones(9, dtype=bool)
    used[4] = False
    hmm = fit_hmm(lists, uniform_hmm(lists, allowed, used), iterations=10).parameters
    assert hmm.transitions[0, 0] == hmm.transitions[1, 2] == hmm.emissions[4] == 0.0


def test_words_with_all_tags_follow_the_sparse_transitions():
    """The loop over successors and the loop over tags are the same sum."""
    rng = np.random.default_rng(3)
    types = rng.integers(0, 5, 60)
    wide = LabelLists.from_types(np.ones((5, 4), dtype=bool), types, [0, 30, 60])
    mask = np.ones((5, 5), dtype=bool)
    mask[:, 4] = False  # the same lists, now not of all tags
    narrow = LabelLists.from_types(mask, types, [0, 30, 60])
    hmm = random_hmm(wide, 1)
    place = [0, 1, 2, 3, 5, 6]
    other = np.zeros((7, 7))
    other[np.ix_(place, place)] = hmm.transitions
    ours, theirs = expected_counts(wide, hmm), expected_counts(narrow, HMM(other, hmm.emissions))
    assert ours[1] == pytest.approx(theirs[1])
    assert np.allclose(ours[0].transitions, theirs[0].transitions[np.ix_(place, place)])


@settings(max_examples=25, deadline=None)
@given(texts(), st.integers(0, 1000))
def test_labels_and_emissions_of_a_tagging_are_those_it_uses(lists, seed):
    tags = best_tags(lists, random_hmm(lists, seed))
    n = lists.n_labels
    pairs = {
        pair
        for first, end in pairwise(lists.offsets.tolist())
        for pair in pairwise((n, *tags[first:end].tolist(), n + 1))
    }
    assert set(map(tuple, np.argwhere(observed_transitions(lists, tags)).tolist())) == pairs
    kinds = np.repeat(np.arange(len(lists.begin) - 1), np.diff(lists.begin))
    used = used_emissions(lists, tags)
    assert set(zip(kinds[used].tolist(), lists.listed[used].tolist(), strict=True)) == set(
        zip(lists.types.tolist(), tags.tolist(), strict=True)
    )


def test_senseless_settings_are_refused():
    lists = LabelLists.from_types([[True, True]], [0], [0, 1])
    with pytest.raises(ConfigError, match="smoothing must be at least 0"):
        fit_hmm(lists, smoothing=-1.0)

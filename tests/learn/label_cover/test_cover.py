import resource
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from label_twins import fewest_labels, long_text, random_text, texts

from weft.errors import ConfigError
from weft.infer.chains.label_lists import LabelLists
from weft.learn.generative.hmm import best_tags, observed_transitions, uniform_hmm
from weft.learn.label_cover.cluster import cover_labels_in_shards
from weft.learn.label_cover.cover import cover_labels, greedy_cover, label_names
from weft.learn.label_cover.references import exact_cover, min_greedy
from weft.learn.label_cover.shards import LabelShard, TagSets, cut, padded


def is_valid(lists, found):
    mask = np.zeros((len(lists.begin) - 1, lists.n_labels), dtype=bool)
    mask[np.repeat(np.arange(len(mask)), np.diff(lists.begin)), lists.listed] = True
    return bool(mask[lists.types, found.tags].all()) and np.array_equal(
        observed_transitions(lists, found.tags), found.labels
    )


def same(one, other):
    return (
        one.chosen == other.chosen and np.array_equal(one.tags, other.tags) and np.array_equal(one.labels, other.labels)
    )


@pytest.mark.must_show("dmlc-unsupervised-tagging", 1)
@settings(max_examples=100, deadline=None)
@given(texts(tags=6, types=8, sentences=10, words=9, empty=True), st.integers(0, 2**40))
def test_the_tagging_is_allowed_and_its_labels_are_the_cover(lists, seed):
    assert is_valid(lists, cover_labels(lists, seed=seed))


@pytest.mark.must_show("dmlc-unsupervised-tagging", 1)
def test_it_ends_on_alternating_ambiguous_words_for_a_thousand_seeds():
    """Every word may be both tags: all pairs ask for the same label, and every token tosses a coin."""
    same_sets = LabelLists.from_types([[True, True]], [0] * 40, [0, 23, 40])
    crossed = LabelLists.from_types([[True, True, False], [False, True, True]], [0, 1] * 20, [0, 17, 40])
    weights = np.ones((5, 5))
    weights[0, 1] = 3.0  # a label of two tags, which no token can have on both sides
    taggings = set()
    for seed in range(1000):
        for lists, own in ((same_sets, weights[:4, :4]), (crossed, weights), (crossed, None)):
            found = cover_labels(lists, seed=seed, weights=own)
            assert is_valid(lists, found)
            taggings.add(tuple(found.tags.tolist()))
    assert len(taggings) > 500  # the coins do fall in different ways


@pytest.mark.must_show("dmlc-unsupervised-tagging", 2)
def test_covers_of_small_texts_are_near_the_smallest_ones_and_never_below_them():
    rng = np.random.default_rng(0)
    ratios = []
    for seed in range(120):
        lists = random_text(rng)
        least = fewest_labels(lists)
        found = cover_labels(lists, seed=seed)
        assert found.forced <= least <= len(found)  # forced labels are a lower bound of every cover
        ratios.append(len(found) / least)
    assert np.mean(ratios) <= 1.3, np.mean(ratios)


@pytest.mark.must_show("dmlc-unsupervised-tagging", 2)
@settings(max_examples=30, deadline=None)
@given(texts())
def test_integer_programming_finds_the_smallest_cover(lists):
    found = exact_cover(lists)
    assert found.optimal
    assert len(found) == found.bound == fewest_labels(lists)


@settings(max_examples=30, deadline=None)
@given(texts(sentences=8, words=7))
def test_min_greedy_leaves_a_whole_path_for_every_sentence(lists):
    labels = min_greedy(lists)
    assert len(exact_cover(lists)) <= labels.sum()
    tags = best_tags(lists, uniform_hmm(lists, labels))  # it would say which sentence has none
    assert (labels | ~observed_transitions(lists, tags)).all()


@pytest.mark.must_show("dmlc-unsupervised-tagging", 3)
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12), st.integers(2, 25))
def test_of_sentences_of_one_word_it_is_greedy_set_cover(seed, n_tags, n_words):
    """A word's tags are the sets that hold it: a tag chosen covers all words that may have it, by two labels."""
    rng = np.random.default_rng(seed)
    mask = rng.random((n_words, n_tags)) < 0.35
    mask[np.arange(n_words), rng.integers(0, n_tags, n_words)] = True
    found = cover_labels(LabelLists.from_types(mask, np.arange(n_words), np.arange(n_words + 1)), seed=seed)
    left = np.ones(n_words, dtype=bool)
    sets = set(np.flatnonzero(mask[mask.sum(axis=1) == 1].any(axis=0)).tolist())  # words with one tag leave no choice
    left &= ~mask[:, sorted(sets)].any(axis=1)
    while left.any():
        best = int(mask[left].sum(axis=0).argmax())
        sets.add(best)
        left &= ~mask[:, best]
    assert len(found) == 2 * len(sets)


@pytest.mark.must_show("dmlc-unsupervised-tagging", 4)
@settings(max_examples=60, deadline=None)
@given(texts(tags=6, types=8, sentences=10, words=9, empty=True), st.integers(0, 2**40), st.booleans())
def test_plain_lazy_and_batched_searches_choose_the_same_labels_in_the_same_order(lists, seed, weighted):
    size = lists.n_labels + 2
    weights = np.random.default_rng(seed).random((size, size)) + 0.1 if weighted else None
    plain = cover_labels(lists, "plain", seed=seed, weights=weights)
    lazy = cover_labels(lists, "lazy", seed=seed, weights=weights)
    sets, of_type = TagSets.from_lists(lists)
    batched = greedy_cover(LabelShard(sets, padded(lists, of_type)), seed=seed, weights=weights, batch=5)
    assert same(plain, lazy)
    assert same(lazy, batched)


@pytest.mark.must_show("dmlc-unsupervised-tagging", 4)
def test_shards_in_processes_choose_the_same_labels_in_the_same_order():
    lists = long_text(11, tags=8, types=40, sentences=300)
    whole = cover_labels(lists, "plain", seed=3)
    assert len(whole.chosen) > 10
    assert same(whole, cover_labels_in_shards(lists, 2, seed=3))


@pytest.mark.must_show("dmlc-unsupervised-tagging", 4)
def test_shards_on_a_dask_cluster_choose_the_same_labels_in_the_same_order():
    distributed = pytest.importorskip("distributed")
    lists = long_text(12, tags=6, types=30, sentences=100)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = cover_labels_in_shards(lists, 3, client=client, seed=5)
    assert same(found, cover_labels(lists, "plain", seed=5))


@settings(max_examples=40, deadline=None)
@given(texts(tags=6, types=8, sentences=10, words=9), st.integers(1, 6))
def test_counts_of_labels_are_those_of_their_pairs_whatever_the_shards(lists, n_shards):
    sets, of_type = TagSets.from_lists(lists)
    tokens, size = padded(lists, of_type), sets.n_tags
    counts = np.zeros(size**2, dtype=np.int64)
    member = sets.members()
    for one, other in pairwise(tokens.tolist()):
        if one != size - 1 and not (one < size and other < size):
            counts += np.outer(member[one], member[other]).ravel()
    shards = [LabelShard(sets, piece, first) for first, piece in cut(tokens, size - 1, n_shards)]
    assert np.array_equal(sum(shard.all_counts() for shard in shards), counts)
    labels = np.arange(size**2)
    assert np.array_equal(sum(shard.count(labels) for shard in shards), counts)


def test_weights_turn_the_search_to_other_labels():
    lists = LabelLists.from_types([[True, True]], [0], [0, 1])
    weights = np.ones((4, 4))
    assert label_names(cover_labels(lists).labels, "AB") == [("A", "</s>"), ("<s>", "A")]
    weights[2, 1] = 3.0
    assert label_names(cover_labels(lists, weights=weights).labels, "AB") == [("B", "</s>"), ("<s>", "B")]


def test_senseless_arguments_are_refused():
    lists = LabelLists.from_types([[True, True]], [0], [0, 1])
    with pytest.raises(ConfigError, match="method must be one of lazy, plain"):
        cover_labels(lists, "fast")
    with pytest.raises(ConfigError, match="finite and above 0"):
        cover_labels(lists, weights=np.zeros((4, 4)))
    with pytest.raises(ConfigError, match="at least 1 shard"):
        cover_labels_in_shards(lists, 0)
    with pytest.raises(ConfigError, match="take less text"):
        exact_cover(lists, most_variables=2)


@pytest.mark.must_show("dmlc-unsupervised-tagging", 7)
def test_a_thousand_tags_fit_in_memory():
    """Unknown words may have all of them: a pair of such words would be a million labels if each were listed."""
    lists = long_text(2, tags=1_200, types=400, sentences=60)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = cover_labels(lists)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert is_valid(lists, found)
    assert grown < 400_000, grown  # kilobytes

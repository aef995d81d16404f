"""Classes of words: every move and every merge is the best one, by brute force."""

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from steps import exponent, steps_of

from weft.errors import ConfigError, DataError, FormatError
from weft.lexical.clusters.monolingual import (
    class_counts,
    cluster_words,
    count_bigrams,
    exchange,
    likelihood,
    load_clusters,
    merge_order,
    tree_paths,
)

texts = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=8), min_size=1, max_size=12)


@settings(max_examples=40, deadline=None)
@given(texts, st.integers(1, 4), st.integers(1, 3))
def test_at_the_end_no_word_gains_by_moving(text, n_classes, min_count):
    words, _, bigrams = count_bigrams(text, min_count)
    if not words:
        return
    classes = exchange(bigrams, len(words), min(n_classes, len(words)), rounds=100)
    size = min(n_classes, len(words)) + 2
    reached = likelihood(class_counts(bigrams, classes, size))
    for w in range(len(words)):
        for c in range(size - 2):
            other = classes.copy()
            other[w] = c
            assert likelihood(class_counts(bigrams, other, size)) <= reached + 1e-6


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), st.integers(0, 2), st.integers(0, 2**32 - 1))
def test_every_merge_costs_least(n_classes, fixed, seed):
    table = np.random.default_rng(seed).integers(0, 6, size=(n_classes + fixed, n_classes + fixed))
    live = list(range(n_classes))
    for first, second in merge_order(table, n_classes):
        losses = {pair: likelihood(merged(table, *pair)) for pair in combinations(live, 2)}
        assert losses[first, second] == pytest.approx(max(losses.values()))
        table = merged(table, first, second)
        live.remove(second)


def merged(table, a, b):
    table = table.copy()
    table[a] += table[b]
    table[b] = 0
    table[:, a] += table[:, b]
    table[:, b] = 0
    return table


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_paths_are_a_prefix_code(n_classes, seed):
    table = np.random.default_rng(seed).integers(0, 9, size=(n_classes, n_classes))
    paths = tree_paths(merge_order(table, n_classes), n_classes)
    assert len(set(paths)) == n_classes
    assert not any(a != b and b.startswith(a) for a in paths for b in paths)


def test_counts_know_the_ends_of_sentences_and_rare_words():
    words, counts, bigrams = count_bigrams([["a", "b", "a"], [], ["A", "c"]], min_count=2, lower=True)
    assert (words, counts.tolist()) == (["a"], [3])
    assert {tuple(row) for row in bigrams.tolist()} == {(0, 1, 2), (1, 0, 1), (2, 0, 2), (0, 2, 1), (1, 2, 1)}


def test_words_of_one_kind_share_a_class_and_files_come_back(tmp_path):
    text = [[a, b, c] for a in ("the", "one") for b in ("cat", "dog", "cow") for c in ("runs", "sits", "sleeps")]
    clusters = cluster_words(text, n_classes=3, min_count=2)
    found = {frozenset(word for word, path in clusters.paths().items() if path == p) for p in clusters.path_of}
    assert {"the", "one"} in found
    assert {"cat", "dog", "cow"} in found
    clusters.save(tmp_path / "paths.txt")
    assert load_clusters(tmp_path / "paths.txt") == clusters.paths()
    (tmp_path / "bad.txt").write_text("no tabs here\n")
    with pytest.raises(FormatError, match="line 1"):
        load_clusters(tmp_path / "bad.txt")


def test_bad_requests_are_refused():
    with pytest.raises(ConfigError, match="need n_classes"):
        cluster_words([["a"]], n_classes=0)
    with pytest.raises(DataError, match="no word occurs 5 times"):
        cluster_words([["a"]], min_count=5)


def zipf_text(sentences, most):
    random = np.random.default_rng(0)
    return [[f"w{int(k)}" for k in random.zipf(1.3, 20) if k < most] for _ in range(sentences)]


def test_steps_of_a_sweep_grow_with_classes_not_with_their_square():
    words, _, bigrams = count_bigrams(zipf_text(200, 500), 2)
    classes = (10, 20, 40, 80)
    assert len(words) > 2 * classes[-1]
    steps = [steps_of(lambda n=n: exchange(bigrams, len(words), n, rounds=1)) for n in classes]
    assert exponent(classes, steps) < 1.3, steps


@pytest.mark.timing
def test_time_grows_with_classes_not_with_their_square():
    text = zipf_text(5000, 3000)
    cluster_words(text[:50], n_classes=5, min_count=1)  # compiles
    started = time.process_time()
    clusters = cluster_words(text, n_classes=100, min_count=5, rounds=5)
    assert len(clusters.path_of) <= 100
    assert time.process_time() - started < 10.0

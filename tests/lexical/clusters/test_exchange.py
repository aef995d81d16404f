"""Predictive exchange: every move is priced as the objective says, and known classes are found again."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError
from weft.lexical.clusters.exchange import PredictiveModel, predictive_clusters
from weft.lexical.clusters.monolingual import count_bigrams, load_clusters

texts = st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=8), min_size=1, max_size=12)


def log_likelihood(text, classes):
    """log prod p(w | C(w)) p(C(w) | word before), by relative frequencies, counted from the text itself."""
    pairs, befores, words, members = {}, {}, {}, {}
    for sentence in text:
        for before, word in zip(["<s>", *sentence], sentence, strict=False):
            key = (before, classes[word])
            pairs[key] = pairs.get(key, 0) + 1
            befores[before] = befores.get(before, 0) + 1
            words[word] = words.get(word, 0) + 1
            members[classes[word]] = members.get(classes[word], 0) + 1
    total = sum(n * np.log(n / befores[before]) for (before, _), n in pairs.items())
    return total + sum(n * np.log(n / members[classes[word]]) for word, n in words.items())


@pytest.mark.must_show("cross-lingual-clusters", 1)
@settings(max_examples=40, deadline=None)
@given(texts, st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_the_price_of_every_move_is_the_change_of_the_log_likelihood(text, n_classes, seed):
    words, _, bigrams = count_bigrams(text, 1)
    model = PredictiveModel(bigrams, len(words))
    classes = np.random.default_rng(seed).integers(0, n_classes, len(words))
    gains = model.gains(classes, n_classes)
    before, likely = model.objective(classes, n_classes), log_likelihood(text, dict(zip(words, classes, strict=True)))
    for w in range(len(words)):
        for c in range(n_classes):
            moved = classes.copy()
            moved[w] = c
            assert gains[w, c] == pytest.approx(model.objective(moved, n_classes) - before, abs=1e-9)
            now = log_likelihood(text, dict(zip(words, moved, strict=True)))
            assert gains[w, c] == pytest.approx(now - likely, abs=1e-9)


@pytest.mark.must_show("cross-lingual-clusters", 1)
@settings(max_examples=30, deadline=None)
@given(texts, st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))
def test_the_log_likelihood_never_falls_and_at_the_end_no_word_gains_by_moving(text, n_classes, min_count, shards):
    words, _, bigrams = count_bigrams(text, min_count)
    if not words:
        return
    model = PredictiveModel(bigrams, len(words))
    found = model.exchange(n_classes, sweeps=100, shards=shards)
    steps = [model.objective(np.arange(len(words)) % n_classes, n_classes), *(s.objective for s in found.sweeps)]
    assert np.diff(steps).min() >= -1e-9
    assert steps[-1] == pytest.approx(model.objective(found.classes, n_classes), abs=1e-9)
    assert found.sweeps[-1].moves == 0
    assert model.gains(found.classes, n_classes).max() <= 1e-6


def random_text(n_tokens, n_words, seed=0):
    random = np.random.default_rng(seed)
    ids = np.minimum(random.zipf(1.25, n_tokens) - 1, n_words - 1)
    text = [f"w{k}" for k in ids]
    return [text[a : a + 20] for a in range(0, n_tokens, 20)]


def class_text(n_classes, words_a_class, n_tokens, seed):
    """Text drawn from p(w | C(w)) p(C(w) | word before): every word has its own few classes to follow."""
    random = np.random.default_rng(seed)
    n_words = n_classes * words_a_class
    truth = np.arange(n_words) % n_classes
    follow = random.dirichlet(np.full(n_classes, 0.1), n_words + 1)
    within = random.dirichlet(np.full(words_a_class, 5.0), n_classes)
    ups = follow.cumsum(axis=1), within.cumsum(axis=1)
    text, word = [], n_words
    for k, (first, second) in enumerate(random.random((n_tokens, 2))):
        if k % 20 == 0:
            word = n_words
            text.append([])
        c = min(int(np.searchsorted(ups[0][word], first)), n_classes - 1)
        word = min(int(np.searchsorted(ups[1][c], second)), words_a_class - 1) * n_classes + c
        text[-1].append(f"w{word}")
    return text, {f"w{w}": int(truth[w]) for w in range(n_words)}


def v_measure(truth, found):
    table = np.zeros((max(truth) + 1, max(found) + 1))
    np.add.at(table, (truth, found), 1)
    table /= table.sum()

    def entropy(p):
        return -float(sum(x * np.log(x) for x in p.ravel() if x > 0))

    together = entropy(table)
    rows, columns = entropy(table.sum(1)), entropy(table.sum(0))
    homogeneous = 1 - (together - columns) / rows
    complete = 1 - (together - rows) / columns
    return 2 * homogeneous * complete / (homogeneous + complete)


@pytest.mark.must_show("cross-lingual-clusters", 1)
@pytest.mark.parametrize("shards", [2, 4])
def test_shards_reach_the_serial_objective_within_half_a_percent_and_threads_change_nothing(shards):
    text, _ = class_text(12, 40, 60_000, seed=3)
    for given_text in (text, random_text(60_000, 3000)):
        words, _, bigrams = count_bigrams(given_text, 2)
        model = PredictiveModel(bigrams, len(words))
        serial = model.exchange(32).sweeps[-1].objective
        one = model.objective(np.zeros(len(words), dtype=np.int64), 1)
        sharded = model.exchange(32, shards=shards, workers=2)
        reached = sharded.sweeps[-1].objective
        assert reached >= serial - 0.005 * abs(serial)
        assert reached - one >= 0.95 * (serial - one)  # of what clustering gains at all
        np.testing.assert_array_equal(sharded.classes, model.exchange(32, shards=shards, workers=1).classes)


@pytest.mark.must_show("cross-lingual-clusters", 2)
@pytest.mark.parametrize(("n_classes", "seed"), [(8, 0), (20, 1)])
def test_classes_of_a_known_model_are_found_again(n_classes, seed):
    text, truth = class_text(n_classes, 30, 120_000, seed)
    found = predictive_clusters(text, n_classes, min_count=1)
    assert len(found.words) == len(truth)
    assert v_measure([truth[word] for word in found.words], found.classes.tolist()) >= 0.9


@pytest.mark.must_show("cross-lingual-clusters", 3)
@settings(max_examples=30, deadline=None)
@given(texts, st.integers(1, 4), st.integers(1, 2), st.integers(0, 2**32 - 1))
def test_fixed_words_never_move(text, n_classes, shards, seed):
    words, _, bigrams = count_bigrams(text, 1)
    random = np.random.default_rng(seed)
    initial, fixed = random.integers(0, n_classes, len(words)), random.random(len(words)) < 0.5
    found = PredictiveModel(bigrams, len(words)).exchange(n_classes, initial, fixed, shards=shards)
    np.testing.assert_array_equal(found.classes[fixed], initial[fixed])


@pytest.mark.must_show("cross-lingual-clusters", 8)
@pytest.mark.timing
def test_a_million_tokens_are_counted_in_a_second_and_200_000_types_swept_in_a_minute():
    text = random_text(1_000_000, 50_000)
    started = time.process_time()
    count_bigrams(text, 3)
    assert time.process_time() - started < 1.0
    random = np.random.default_rng(0)
    n_words, n_pairs = 200_000, 3_000_000  # as many pairs as ten million words of novels have
    left = np.minimum(random.zipf(1.3, n_pairs) - 1, n_words)
    right = np.minimum((n_words * random.random(n_pairs) ** 3).astype(np.int64), n_words - 1)
    right[:n_words] = np.arange(n_words)
    pairs, times = np.unique(left * (n_words + 1) + right, return_counts=True)
    model = PredictiveModel(np.stack([pairs // (n_words + 1), pairs % (n_words + 1), times], axis=1), n_words)
    PredictiveModel(np.array([[0, 0, 1]]), 1).exchange(1)  # compiles
    started = time.process_time()
    found = model.exchange(256, sweeps=1)
    assert found.sweeps[0].moves > 0
    assert time.process_time() - started < 60


def test_clusters_are_files_that_taggers_and_parsers_read(tmp_path):
    text = [[a, b, c] for a in ("the", "one") for b in ("cat", "dog", "cow") for c in ("runs", "sits", "sleeps")]
    clusters = predictive_clusters(text, n_classes=3, min_count=2)
    found = {frozenset(word for word, path in clusters.paths().items() if path == p) for p in clusters.path_of}
    assert found == {frozenset(("the", "one")), frozenset(("cat", "dog", "cow")), frozenset(("runs", "sits", "sleeps"))}
    clusters.save(tmp_path / "paths")
    assert load_clusters(tmp_path / "paths") == clusters.paths()


def test_a_seed_starts_from_random_classes_and_gives_the_same_ones_again():
    text = random_text(4000, 200)
    one, two = (predictive_clusters(text, 10, seed=5).paths() for _ in range(2))
    assert one == two
    assert one != predictive_clusters(text, 10, seed=6).paths()


def test_only_the_most_frequent_words_are_clustered():
    text = random_text(4000, 200)
    assert len(predictive_clusters(text, 10, most=7).words) == 7


def test_bad_requests_are_refused():
    with pytest.raises(ConfigError, match="need n_classes"):
        predictive_clusters([["a"]], n_classes=0)
    with pytest.raises(DataError, match="no word occurs 5 times"):
        predictive_clusters([["a"]], min_count=5)
    words, _, bigrams = count_bigrams([["a", "b"]], 1)
    model = PredictiveModel(bigrams, len(words))
    with pytest.raises(ConfigError, match="at least one class"):
        model.exchange(2, shards=0)
    with pytest.raises(ConfigError, match="a class between 0 and 1"):
        model.exchange(2, initial=np.array([0, 2]))
    with pytest.raises(ConfigError, match="has 1 entries for 2 words"):
        model.exchange(2, fixed=np.array([True]))

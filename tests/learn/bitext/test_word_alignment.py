"""Alignment models by EM: objectives never fall, one round is what enumeration says, and dictionaries are found."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.learn.bitext.word_alignment import AlignmentSettings, Side, learn_alignment
from weft.learn.generative.cooccurrence import Cooccurrences

SENTENCE = st.lists(st.integers(0, 3), min_size=1, max_size=3)


def bitext(pairs):
    sides = list(zip(*pairs, strict=True))
    flat = [np.array([word for sentence in side for word in sentence], np.int32) for side in sides]
    ends = [np.cumsum([0] + [len(sentence) for sentence in side]) for side in sides]
    return Cooccurrences.of(flat[0], ends[0], flat[1], ends[1])


def translated(n_pairs, seed, n_types=30):
    """Sentences and their word-for-word translations (type w is w + 1), some neighbours swapped, some words dropped."""
    rng = np.random.default_rng(seed)
    pairs, links = [], []
    for _ in range(n_pairs):
        source = rng.integers(0, n_types, rng.integers(3, 8)).tolist()
        order = list(range(len(source)))
        for k in range(len(order) - 1):
            if rng.random() < 0.2:
                order[k], order[k + 1] = order[k + 1], order[k]
        order = [i for i in order if rng.random() < 0.95] or [0]
        pairs.append((source, [(source[i] + 1) % n_types for i in order]))
        links.append([(i, j) for j, i in enumerate(order)])
    return pairs, links


@pytest.mark.parametrize("alpha", [0.0, 0.01, 1.0])
@given(pairs=st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=5))
@settings(max_examples=15, deadline=None)
def test_the_objective_of_no_stage_of_directions_apart_ever_falls(alpha, pairs):
    learned = learn_alignment(bitext(pairs), AlignmentSettings(6, 6, alpha=alpha, agreement=False))
    assert set(learned.objective) == {"forward, model 1", "forward, HMM", "backward, model 1", "backward, HMM"}
    for values in learned.objective.values():
        assert len(values) <= 6
        assert np.all(np.diff(values) >= -1e-8 * np.abs(values[0]))


@given(st.lists(st.tuples(SENTENCE, SENTENCE), min_size=1, max_size=3))
@settings(max_examples=20, deadline=None)
def test_rounds_of_model_one_divide_the_counts_of_enumeration(pairs):
    p_null = 0.3
    learned = learn_alignment(bitext(pairs), AlignmentSettings(2, 0, alpha=0.0, p_null=p_null))
    found = bitext(pairs)
    n_types = found.n_target_types
    weights = dict.fromkeys(zip(found.entry_source, found.entry_target, strict=True), 1 / n_types)
    null = np.full(n_types, 1 / n_types)
    for _ in range(1 + 2):
        counts, null_counts = dict.fromkeys(weights, 0.0), np.zeros(n_types)
        for source, target in pairs:
            shares = []
            for alignment in product(range(-1, len(source)), repeat=len(target)):
                share = 1.0
                for f, i in zip(target, alignment, strict=True):
                    share *= p_null * null[f] if i < 0 else (1 - p_null) / len(source) * weights[source[i], f]
                shares.append((share, alignment))
            total = sum(share for share, _ in shares)
            for share, alignment in shares:
                for f, i in zip(target, alignment, strict=True):
                    if i < 0:
                        null_counts[f] += share / total
                    else:
                        counts[source[i], f] += share / total
        sums = {e: sum(n for (e2, _), n in counts.items() if e2 == e) for e, _ in counts}
        weights = {(e, f): n / sums[e] if sums[e] else 0.0 for (e, f), n in counts.items()}
        null = null_counts / null_counts.sum()
    np.testing.assert_allclose(learned.forward.entry, list(weights.values()), atol=1e-9)
    np.testing.assert_allclose(learned.forward.null, null, atol=1e-9)


@pytest.mark.parametrize("agreement", [False, True])
def test_the_dictionary_and_the_way_on_are_found(agreement):
    pairs, links = translated(600, seed=1)
    words = bitext(pairs)
    learned = learn_alignment(words, AlignmentSettings(agreement=agreement))
    for model in (learned.forward, learned.backward):
        entry = {(e, f): w for e, f, w in zip(words.entry_source, words.entry_target, model.entry, strict=True)}
        assert min(entry[w, (w + 1) % 30] for w in range(30)) > 0.8
        assert np.argmax(model.jumps) == len(model.jumps) // 2 + 1
    forward = Side(words, False).alignments(learned.forward, 0, len(pairs), AlignmentSettings()).best()
    gold = [i for pair in links for i, _ in sorted(pair, key=lambda link: link[1])]
    assert np.mean(forward == np.array(gold)) > 0.95


@pytest.mark.parametrize("agreement", [False, True])
def test_both_directions_of_a_turned_bitext_change_places(agreement):
    pairs, _ = translated(60, seed=2)
    chosen = AlignmentSettings(agreement=agreement)
    one = learn_alignment(bitext(pairs), chosen)
    other = learn_alignment(bitext([(target, source) for source, target in pairs]), chosen)
    stage = "model 1" if agreement else "HMM"
    assert one.objective[f"forward, {stage}"] == pytest.approx(other.objective[f"backward, {stage}"])
    np.testing.assert_allclose(one.forward.jumps, other.backward.jumps)


@pytest.mark.parametrize("wrong", [{"model1_iterations": 0}, {"hmm_iterations": -1}, {"alpha": -0.1}, {"p_null": 1.0}])
def test_settings_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigError):
        AlignmentSettings(**wrong)

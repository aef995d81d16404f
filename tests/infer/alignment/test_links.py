"""Alignments of sentence pairs: sums and best alignments are those of enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.alignment.links import Alignments


def probability(translation, null, alignment, jumps, p_null):
    """The probability of one alignment of one pair, straight from the formula; `translation` is J x I."""
    size = translation.shape[1]
    value, last = 1.0, -1
    for j, i in enumerate(alignment):
        if i < 0:
            value *= p_null * null[j]
        elif jumps is None:
            value *= (1 - p_null) / size * translation[j, i]
        else:
            reach = len(jumps) // 2
            weights = [jumps[np.clip(k - last, -reach, reach) + reach] for k in range(size)]
            value *= (1 - p_null) * weights[i] / sum(weights) * translation[j, i]
            last = i
    return value


def enumerate_pair(translation, null, jumps, p_null):
    """All alignments of a pair with their probabilities."""
    length, size = translation.shape
    alignments = list(product(range(-1, size), repeat=length))
    return alignments, np.array([probability(translation, null, a, jumps, p_null) for a in alignments])


@st.composite
def batches(draw):
    sizes = draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    pairs = [(rng.random((length, size)) ** 3, rng.random(length) ** 2 + 0.01) for size, length in sizes]
    jumps = None if draw(st.booleans()) else rng.random(2 * draw(st.integers(1, 4)) + 1) + 0.01
    return pairs, jumps, float(rng.uniform(0.05, 0.6))


def lattice(pairs, jumps, p_null):
    offsets = np.cumsum([0] + [len(null) for _, null in pairs])
    cells = np.concatenate([translation.reshape(-1) for translation, _ in pairs])
    nulls = np.concatenate([null for _, null in pairs])
    return Alignments(cells, nulls, [t.shape[1] for t, _ in pairs], offsets, jumps=jumps, p_null=p_null)


@given(batches())
@settings(max_examples=60, deadline=None)
def test_sums_and_expectations_are_those_of_enumeration(batch):
    pairs, jumps, p_null = batch
    found = lattice(pairs, jumps, p_null).marginals()
    jump_sums = np.zeros(0 if jumps is None else len(jumps))
    departures = np.zeros_like(found.departures)
    cell = word = 0
    for s, (translation, null) in enumerate(pairs):
        length, size = translation.shape
        alignments, weights = enumerate_pair(translation, null, jumps, p_null)
        assert found.log_partition[s] == pytest.approx(np.log(weights.sum()))
        link, empty = np.zeros((length, size)), np.zeros(length)
        for alignment, share in zip(alignments, weights / weights.sum(), strict=True):
            last = -1
            for j, i in enumerate(alignment):
                if i < 0:
                    empty[j] += share
                    continue
                link[j, i] += share
                if jumps is not None:
                    reach = len(jumps) // 2
                    jump_sums[np.clip(i - last, -reach, reach) + reach] += share
                    departures[size, last + 1] += share
                    last = i
        np.testing.assert_allclose(found.link[cell : cell + length * size], link.reshape(-1), atol=1e-10)
        np.testing.assert_allclose(found.null[word : word + length], empty, atol=1e-10)
        cell, word = cell + length * size, word + length
    np.testing.assert_allclose(found.jumps, jump_sums, atol=1e-10)
    np.testing.assert_allclose(found.departures, departures, atol=1e-10)


@given(batches())
@settings(max_examples=60, deadline=None)
def test_the_best_alignment_is_the_most_probable_of_all(batch):
    pairs, jumps, p_null = batch
    found = lattice(pairs, jumps, p_null).best()
    word = 0
    for translation, null in pairs:
        _, weights = enumerate_pair(translation, null, jumps, p_null)
        mine = probability(translation, null, found[word : word + len(null)], jumps, p_null)
        assert mine == pytest.approx(weights.max())
        word += len(null)


def test_an_even_table_of_jumps_is_model_one():
    rng = np.random.default_rng(1)
    pairs = [(rng.random((5, 4)), rng.random(5)), (rng.random((3, 6)), rng.random(3))]
    one, hmm = lattice(pairs, None, 0.3).marginals(), lattice(pairs, np.ones(7), 0.3).marginals()
    np.testing.assert_allclose(one.link, hmm.link)
    np.testing.assert_allclose(one.log_partition, hmm.log_partition)


def test_long_sentences_with_tiny_probabilities_neither_overflow_nor_vanish():
    pairs = [(np.full((300, 200), 1e-40), np.full(300, 1e-42))]
    aligned = lattice(pairs, np.ones(21), 0.2)
    assert aligned.log_partition()[0] == pytest.approx(300 * np.log(0.2 * 1e-42 + 0.8 * 1e-40))
    assert set(aligned.best()) <= set(range(-1, 200))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"translation": [0.1]}, "a number for each pair of words"),
        ({"translation": [-0.1, 0.5]}, "translation holds probabilities"),
        ({"source_sizes": [2, 2]}, "the source length of each of 1"),
        ({"p_null": 0.0}, "between 0 and 1"),
        ({"jumps": [0.5, 0.5]}, "2 r"),
        ({"translation": [0.0, 0.0], "null": [0.0]}, "can give"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(change, message):
    given = {"translation": [0.5, 0.5], "null": [0.1], "source_sizes": [2], "target_offsets": [0, 1]}
    with pytest.raises(InferenceError, match=message):
        Alignments(**{**given, **change}).marginals()

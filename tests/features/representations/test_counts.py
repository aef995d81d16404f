"""Counts of neighbours: vectors by hand, any order of text, model files."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, WeftError
from weft.features.representations.counts import BOUNDARY, NeighbourCounts
from weft.text.doc import Doc

TEXT = [["the", "dog", "saw", "the", "cat"], ["The", "cat", "ran"], ["a", "dog", "ran"]]
sentences = st.lists(st.lists(st.sampled_from(["a", "b", "c", "d", "e", "F", "g"]), max_size=6), max_size=12)


def by_hand(text: list[list[str]], n: int, word: str) -> list[float]:
    """The vector of a word from the definition, with dictionaries of counts."""
    padded = [[BOUNDARY, *map(str.lower, words), BOUNDARY] for words in text if words]
    frequency = Counter(word for words in padded for word in words[1:])
    bigrams = Counter(pair for words in padded for pair in pairwise(words))
    indicators = sorted(frequency, key=lambda each: (-frequency[each], each))[:n]
    found: list[float] = []
    for pair_of in (lambda other: (other, word), lambda other: (word, other)):
        own = [bigrams[pair_of(each)] for each in indicators]
        own += [0] * (n - len(own))
        own.append(sum(bigrams[pair_of(each)] for each in frequency if each not in indicators))
        weighted = [1 + log(count) if count else 0.0 for count in own]
        length = sqrt(sum(value * value for value in weighted))
        found += [value / length if length else 0.0 for value in weighted]
    return found


@pytest.mark.must_show("flors", 1)
def test_vectors_of_three_sentences_are_those_worked_out_by_hand() -> None:
    counts = NeighbourCounts()
    counts.add(TEXT)
    assert [counts.frequency(word) for word in ("the", "dog", "a", BOUNDARY, "bird")] == [3, 2, 1, 3, 0]
    assert counts.most_frequent(4) == ["the", BOUNDARY, "cat", "dog"]
    counts.freeze(3)  # the, boundary, cat
    dog, the, edge, bird = counts.vectors(["Dog", "the", BOUNDARY, "bird"]).toarray()
    # dog: "the dog" and, among all others, "a dog"; behind it "saw" and "ran", both others: tf(2) = 1 + ln 2.
    assert dog == pytest.approx([sqrt(0.5), 0, 0, sqrt(0.5), 0, 0, 0, 1])
    # the: twice at the beginning, once behind "saw"; twice before "cat", once before "dog".
    two = 1 + log(2)
    length = sqrt(two**2 + 1)
    assert the == pytest.approx([0, two / length, 0, 1 / length, 0, 0, two / length, 1 / length])
    # The boundary: behind "cat" once and "ran" twice; before "the" twice and "a" once.
    assert edge == pytest.approx([0, 0, 1 / length, two / length, two / length, 0, 0, 1 / length])
    assert not bird.any()
    for row in (dog, the, edge):
        assert np.linalg.norm(row[:4]) == pytest.approx(1)
        assert np.linalg.norm(row[4:]) == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given(sentences, st.integers(0, 9))
def test_vectors_follow_the_definition(text: list[list[str]], n: int) -> None:
    counts = NeighbourCounts()
    counts.add(text)
    counts.freeze(n)
    assert counts.indicators is not None
    found = counts.vectors(["a", "b", "f", BOUNDARY]).toarray()
    width = len(counts.indicators) + 1  # fewer words than n are there
    for row, word in zip(found, ["a", "b", "f", BOUNDARY], strict=True):
        assert row == pytest.approx(by_hand(text, width - 1, word))


@pytest.mark.must_show("flors", 2)
@settings(max_examples=40, deadline=None)
@given(sentences, st.integers(0, 8), st.randoms(), st.integers(1, 4))
def test_counting_in_pieces_of_any_order_equals_counting_at_once_to_the_bit(text, n, random, pieces) -> None:
    at_once = NeighbourCounts()
    at_once.add(text)
    shuffled = random.sample(text, len(text))
    parts = [shuffled[i::pieces] for i in range(pieces)]
    grown, merged, of_docs = NeighbourCounts(), NeighbourCounts(), NeighbourCounts()
    for part in parts:
        grown.add(part)
        shard = NeighbourCounts()
        shard.add(part)
        merged.merge(shard)
        of_docs.add_docs([Doc.from_words([words]) for words in part])
    for counts in (at_once, grown, merged, of_docs):
        counts.freeze(n)
    expected = at_once.arrays()
    words = ["a", "c", "f", BOUNDARY]
    for counts in (grown, merged, of_docs):
        found = counts.arrays()
        assert found.keys() == expected.keys()
        assert all(np.array_equal(found[name], expected[name]) for name in expected)
        assert (counts.vectors(words) != at_once.vectors(words)).nnz == 0


@pytest.mark.must_show("flors", 2)
@settings(max_examples=30, deadline=None)
@given(sentences, sentences, st.integers(1, 5))
def test_text_read_after_the_indicators_are_chosen_counts_as_if_read_before(first, second, n) -> None:
    streamed, again = NeighbourCounts(), NeighbourCounts()
    streamed.add(first)
    streamed.freeze(n)
    again.add(first)
    again.freeze(n)
    for words in second:
        streamed.add([words])
    again.add(second)
    late = NeighbourCounts.from_arrays(streamed.arrays())
    expected = again.arrays()
    for counts in (streamed, late):
        found = counts.arrays()
        assert all(np.array_equal(found[name], expected[name]) for name in expected)
    assert (late.vectors(["a", "d", "e"]) != again.vectors(["a", "d", "e"])).nnz == 0


def test_vectors_need_indicators_and_merging_the_same_ones() -> None:
    counts, other = NeighbourCounts(), NeighbourCounts()
    counts.add(TEXT)
    with pytest.raises(WeftError, match="freeze"):
        counts.vectors(["dog"])
    counts.freeze(2)
    with pytest.raises(ConfigError, match="same indicators"):
        counts.merge(other)
    with pytest.raises(WeftError, match="chosen already"):
        counts.freeze(3)

"""Counts in bounded memory are those of a dictionary."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ngram_twins import SENTENCES, counted

from weft.errors import ConfigError, DataError
from weft.learn.ngrams import counting
from weft.learn.ngrams.counting import count, count_ids
from weft.learn.ngrams.trie import Trie


@settings(max_examples=30, deadline=None)
@given(SENTENCES, st.integers(1, 4))
def test_counts_of_all_lengths_are_those_of_a_dictionary(sentences: list[list[str]], order: int) -> None:
    _, counts, plain = counted(sentences, order)
    trie = counts.trie
    found = {trie.ngram(g): int(counts.counts[g]) for g in range(1, len(trie)) if counts.counts[g]}
    assert found == dict(plain)
    for g in range(1 + trie.n_words, len(trie)):
        gram = trie.ngram(g)
        assert trie.ngram(int(trie.suffix[g])) == gram[1:]
        assert trie.ngram(int(trie.parents()[g])) == gram[:-1]
        assert trie.find(np.array([gram], dtype=np.int32))[0] == g


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("n_words", [20, 5000])
def test_runs_on_disk_merge_to_the_same_counts(monkeypatch, tmp_path, workers: int, n_words: int) -> None:
    rng = np.random.default_rng(n_words)
    text = np.concatenate(
        [np.concatenate([[1], rng.zipf(1.4, rng.integers(0, 9)) % n_words + 3, [2]]) for _ in range(6000)]
    ).astype(np.int32)
    whole = count_ids(text, 5, n_words + 3)
    parts = count_ids(text, 5, n_words + 3, memory=1, workers=workers, folder=tmp_path)
    assert len(text) > 4 * (1 << 12)  # the smallest chunk: there are several runs
    assert (whole.counts == parts.counts).all()
    assert (whole.trie.words == parts.trie.words).all()
    assert (whole.trie.first == parts.trie.first).all()
    assert list(tmp_path.iterdir()) == []


def test_memory_bounds_the_chunks(monkeypatch) -> None:
    sizes = []
    inner = counting._summed
    monkeypatch.setattr(counting, "_summed", lambda keys, counts: sizes.append(len(keys)) or inner(keys, counts))
    text = np.tile(np.array([1, 3, 4, 5, 2], dtype=np.int32), 20_000)
    count_ids(text, 3, 6, memory=8000 * counting._PER_WORD)
    assert max(sizes) <= 8000


def test_rare_words_are_unknown_and_a_given_vocabulary_is_kept() -> None:
    vocabulary, counts = count([["a", "a", "b"], ["<s>", "a"]], 2, least=2)
    assert vocabulary.words[3:] == ["a"]
    assert counts.counts[1:5].tolist() == [2, 2, 2, 3]  # <unk> for b and for a word spelled like a mark
    again, _ = count([["b", "a"]], 2, vocabulary=vocabulary)
    assert again is vocabulary


def test_words_are_numbered_by_frequency_whatever_their_order() -> None:
    text = [["b", "a", "c"], ["c", "a"], ["c"]]
    for seed in range(3):
        random.Random(seed).shuffle(text)
        assert count(text, 1)[0].words[3:] == ["c", "a", "b"]


def test_nothing_to_count_and_lengths_that_cannot_be_are_refused() -> None:
    with pytest.raises(DataError, match="no sentence"):
        count([], 3)
    with pytest.raises(ConfigError, match="order of a language model"):
        count([["a"]], 0)
    with pytest.raises(ConfigError, match="too long"):
        count_ids(np.array([1, 2], dtype=np.int32), 9, 2**15)


def test_a_trie_must_be_closed() -> None:
    with pytest.raises(DataError, match=r"\[1, 0, 1\] lacks its prefix"):
        Trie.of_rows(2, [np.array([[0, 1]]), np.array([[1, 0, 1]])])
    with pytest.raises(DataError, match=r"\(0, 1, 1\) lacks its suffix"):
        Trie.of_rows(2, [np.array([[0, 1]]), np.array([[0, 1, 1]])])

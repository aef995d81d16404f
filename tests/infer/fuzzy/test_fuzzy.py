"""Edit distances against their definition, and the index against comparison with everything."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.formats.memories.words import marked_words
from weft.formats.streams import numbered_lines
from weft.infer.fuzzy.distance import _distance_within, edit_distance, edit_links, fuzzy_score
from weft.infer.fuzzy.index import FuzzyIndex

WORDS = st.lists(st.integers(0, 4), max_size=9)


def by_definition(a: list[int], b: list[int]) -> int:
    @cache
    def d(i: int, j: int) -> int:
        if i == 0 or j == 0:
            return i + j
        return min(d(i - 1, j - 1) + (a[i - 1] != b[j - 1]), d(i - 1, j) + 1, d(i, j - 1) + 1)

    return d(len(a), len(b))


def ids(words: list[int]) -> np.ndarray:
    return np.array(words, np.int32)


@settings(deadline=None)
@given(WORDS, WORDS, st.integers(0, 9))
def test_the_banded_distance_is_exact_up_to_its_limit(a: list[int], b: list[int], limit: int) -> None:
    true = by_definition(a, b)
    assert edit_distance(ids(a), ids(b)) == true
    assert _distance_within(ids(a), ids(b), limit, np.empty(len(b) + 1, np.int64)) == min(true, limit + 1)


@settings(deadline=None)
@given(WORDS, WORDS)
def test_links_are_a_cheapest_alignment(a: list[int], b: list[int]) -> None:
    links = edit_links(ids(a), ids(b)).tolist()
    linked = [j for j in links if j >= 0]
    assert linked == sorted(set(linked))
    substituted = sum(a[i] != b[j] for i, j in enumerate(links) if j >= 0)
    assert substituted + len(a) + len(b) - 2 * len(linked) == by_definition(a, b)
    assert len(linked) - substituted == most_matches(a, b)


def most_matches(a: list[int], b: list[int]) -> int:
    """The most matches of a cheapest alignment, by the definition over pairs of cost and matches."""

    @cache
    def best(i: int, j: int) -> tuple[int, int]:
        if i == 0 or j == 0:
            return i + j, 0
        (d0, m0), (d1, m1), (d2, m2) = best(i - 1, j - 1), best(i - 1, j), best(i, j - 1)
        same = a[i - 1] == b[j - 1]
        return min((d0 + (not same), m0 - same), (d1 + 1, m1), (d2 + 1, m2))

    return -best(len(a), len(b))[1]


def exhaustive(sequences: list[list[int]], query: list[int], k: int, least: float) -> list[tuple[int, float]]:
    scores = [
        (1 - by_definition(query, each) / max(len(query), len(each)), -row)
        for row, each in enumerate(sequences)
        if query or each
    ]
    best = sorted(((round(score, 9), row) for score, row in scores if score > 1e-9 and score >= least - 1e-9))[::-1]
    return [(-row, score) for score, row in best[:k]]


@settings(max_examples=300, deadline=None)
@given(
    st.lists(WORDS, max_size=12), st.lists(st.integers(-1, 5), max_size=9), st.integers(1, 4),
    st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0]), st.sets(st.integers(0, 12), max_size=3),
)  # fmt: skip
def test_the_index_finds_what_comparison_with_all_finds(
    sequences: list[list[int]], query: list[int], k: int, least: float, without: set[int]
) -> None:
    rows, scores = FuzzyIndex.of(sequences).nearest(query, k, least, without)
    kept = [[] if row in without else each for row, each in enumerate(sequences)]
    unknown = [word if word <= 4 else -1 for word in query]
    wanted = exhaustive(kept, unknown, k, least)
    assert [(row, round(score, 9)) for row, score in zip(rows.tolist(), scores.tolist(), strict=True)] == wanted
    index = FuzzyIndex.of(sequences)
    assert index.compare_all(query).tolist() == index.compare_all(query, bits=True).tolist()


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31), st.integers(55, 75))
def test_long_queries_are_compared_in_bands(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    sequences = [rng.integers(0, 30, rng.integers(50, 80)).tolist() for _ in range(8)]
    query = sequences[0][:size] + rng.integers(0, 30, max(0, size - len(sequences[0]))).tolist()
    query[::7] = rng.integers(0, 30, len(query[::7])).tolist()
    rows, scores = FuzzyIndex.of(sequences).nearest(query, 3)
    assert [(r, round(s, 9)) for r, s in zip(rows.tolist(), scores.tolist(), strict=True)] == exhaustive(
        sequences, query, 3, 0
    )


def test_scores_compare_with_the_longer_one() -> None:
    assert fuzzy_score(ids([1, 2]), ids([1, 2, 3, 4])) == 0.5
    assert fuzzy_score(ids([]), ids([])) == 1.0
    with pytest.raises(InferenceError):
        FuzzyIndex.of([[1]]).nearest([1], k=0)
    with pytest.raises(InferenceError):
        FuzzyIndex.of([[-1]])
    assert len(FuzzyIndex.of([]).nearest([1])[0]) == 0


@pytest.mark.corpus
@pytest.mark.must_show(
    "translation-memory-smt", 4, weaker="100 queries without a clock; the recipe measures 1,000 queries and the time"
)
def test_the_index_finds_the_best_score_of_new_segments_of_a_manual(corpus_file) -> None:
    segments = [
        [
            marked_words(line.split("\t")[1].lower())
            for _, line in numbered_lines(str(corpus_file(f"parallel/python-docs-en-es/{name}.tsv.gz")))
        ]
        for name in ("memory-3.10", "new-3.12")
    ]
    numbers: dict[str, int] = {}
    index = FuzzyIndex.of([[numbers.setdefault(word, len(numbers)) for word in words] for words in segments[0]])
    for words in segments[1][::37]:
        query = [numbers.get(word, -1) for word in words]
        _, scores = index.nearest(query)
        assert abs((float(scores[0]) if len(scores) else 0.0) - float(index.compare_all(query).max())) < 1e-9

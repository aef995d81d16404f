"""Trigram types and their mutual information, against counting by hand."""

from __future__ import annotations

from collections import Counter
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import DataError
from weft.features.representations.trigrams import TrigramContexts
from weft.text.doc import Doc

SENTENCES = st.lists(
    st.lists(st.sampled_from(["a", "be", "see", "trees"]), min_size=1, max_size=5), min_size=1, max_size=6
)


def by_hand(sentences: list[list[str]]) -> list[tuple[tuple, list[tuple]]]:
    """The type and the features of every word."""
    found = []
    for words in sentences:
        padded = ["<", "<", *words, ">", ">"]
        for j in range(2, len(words) + 2):
            x1, x2, x3, x4, x5 = padded[j - 2 : j + 3]
            features = [
                (0, x1, x2, x3, x4, x5), (1, x2, x3, x4), (2, x1, x2), (3, x4, x5), (4, x3), (5, x2, x4),
                (6, x2, x4, x5), (7, x1, x2, x4), *((8, x3[-n:]) for n in (1, 2, 3, 4) if len(x3) >= n),
            ]  # fmt: skip
            found.append(((x2, x3, x4), features))
    return found


@settings(max_examples=40, deadline=None)
@given(SENTENCES, SENTENCES)
def test_mutual_information_is_that_of_counts_over_all_text(own: list[list[str]], raw: list[list[str]]) -> None:
    contexts = TrigramContexts()
    types = contexts.add([Doc.from_words(own)])
    contexts.add([Doc.from_words(raw)], grow=False)
    matrix = contexts.pmi()
    vertices = {u for u, _ in by_hand(own)}
    assert len(contexts) == len(vertices) == matrix.shape[0]
    pairs = Counter((u, f) for u, features in by_hand(own + raw) for f in features)
    of_type, of_feature = Counter(), Counter()
    for (u, f), count in pairs.items():
        of_type[u] += count
        of_feature[f] += count
    total = sum(pairs.values())
    number = {u: int(t) for (u, _), t in zip(by_hand(own), types, strict=True)}
    for u in vertices:
        expected = sorted(log(pairs[u, f] * total / (of_type[u] * of_feature[f])) for v, f in pairs if v == u)
        row = matrix[number[u]]
        assert sorted(row.data.tolist()) == pytest.approx(expected)


def test_text_for_counts_alone_names_no_types() -> None:
    contexts = TrigramContexts()
    assert contexts.add([Doc.from_words([["a", "b"]])]).tolist() == [0, 1]
    assert contexts.add([Doc.from_words([["a", "b"], ["b", "a"]]), Doc()], grow=False).tolist() == [0, 1, -1, -1]
    assert len(contexts) == 2


def test_counts_in_pieces_are_the_counts_of_the_whole() -> None:
    sentences = [["a", "b", "c"], ["b", "c"], ["a", "b", "c"]]
    whole, pieces = TrigramContexts(), TrigramContexts()
    whole.add([Doc.from_words(sentences)])
    for words in sentences:
        pieces.add([Doc.from_words([words])])
    assert np.array_equal(whole.pmi().toarray(), pieces.pmi().toarray())


def test_without_words_there_is_nothing_to_compute() -> None:
    with pytest.raises(DataError, match="no trigrams"):
        TrigramContexts().pmi()

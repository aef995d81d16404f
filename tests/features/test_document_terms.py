"""Documents as rows of words and word pairs."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import DataError
from weft.features.document_terms import Terms, words_of

texts = st.lists(
    st.lists(st.sampled_from(["good", "bad", "plot", "7", "!", "don't"]), max_size=6).map(" ".join), max_size=6
)


def brute_terms(text):
    words = words_of(text)
    return words + [f"{a} {b}" for a, b in pairwise(words)]


@given(texts, st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_columns_are_the_terms_of_enough_documents_and_values_their_counts(documents, least):
    terms = Terms.of(documents, least)
    seen = Counter(term for text in documents for term in set(brute_terms(text)))
    assert set(terms.names) == {term for term, count in seen.items() if count >= least}
    rows = terms.rows(documents, counts=True, unit=False).toarray()
    for text, row in zip(documents, rows, strict=True):
        counts = Counter(brute_terms(text))
        assert row.tolist() == [counts[name] for name in terms.names]


@given(texts)
@settings(max_examples=30, deadline=None)
def test_rows_have_length_one_or_are_empty(documents):
    rows = Terms.of(documents, 1).rows(documents)
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    assert all(length == pytest.approx(1) or length == 0 for length in lengths)


def test_terms_made_again_from_their_names_give_the_same_rows():
    documents = ["a very dull plot", "a superb film", "superb , superb plot"]
    terms = Terms.of(documents, 1, longest=3)
    again = Terms(terms.names, longest=3)
    assert (terms.rows(documents) != again.rows(documents)).nnz == 0


def test_names_twice_or_out_of_order_are_refused():
    with pytest.raises(DataError, match="must differ"):
        Terms(["dull", "dull"])

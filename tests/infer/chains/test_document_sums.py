"""The sums of single documents are those of the batched structure."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.infer.chains.document import DocumentChain
from weft.infer.chains.document_sums import (
    DocumentScores,
    best_chain,
    best_label,
    exclude,
    new_scratch,
    new_sums,
    sum_chain,
    sum_labels,
)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.integers(2, 4), st.integers(0, 10**6))
def test_sums_and_best_labels_are_those_of_a_document_chain(size, labels, seed):
    rng = np.random.default_rng(seed)
    scores = DocumentScores(rng.normal(size=(labels, size, labels)) * 3, rng.normal(size=(labels, labels, labels)))
    chain = DocumentChain(scores.label.transpose(1, 0, 2), scores.edge, [0, size])
    sums, scratch = new_sums(size, labels), new_scratch(size, labels)
    for d in range(labels):
        sum_chain(d, size, scores, sums, scratch)
    np.testing.assert_allclose(sum_labels(sums), chain.log_partition()[0])
    parts = chain.marginals()
    np.testing.assert_allclose(sums.document, parts.document[0])
    np.testing.assert_allclose(sums.document[:, None, None] * sums.edge, parts.edge, atol=1e-12)
    label = (sums.document[:, None, None] * sums.label).transpose(1, 0, 2)
    np.testing.assert_allclose(label, parts.label, atol=1e-12)

    for d in range(labels):
        best_chain(d, size, scores, sums, scratch)
    solution = chain.best()
    np.testing.assert_allclose(best_label(sums), chain.score(solution)[0])
    best = chain.parts(solution)
    np.testing.assert_array_equal(sums.document, best.document[0])
    np.testing.assert_array_equal(sums.document[:, None, None] * sums.edge, best.edge)


def test_an_excluded_label_has_no_probability():
    sums = new_sums(2, 3)
    sums.log_z[:] = [0.0, 5.0, 0.0]
    exclude(1, 2, sums)
    np.testing.assert_allclose(sum_labels(sums), np.log(2.0))
    np.testing.assert_allclose(sums.document, [0.5, 0.0, 0.5])

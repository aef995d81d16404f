"""Chains under a document's label against enumeration of all labellings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import InferenceError
from weft.infer.chains.document import DocumentChain, DocumentLabels, DocumentMask


def enumerated(chain: DocumentChain, b: int) -> dict[tuple[int, ...], float]:
    """The score of every labelling of document b: (label of the document, labels of its sentences)."""
    first, end = int(chain.offsets[b]), int(chain.offsets[b + 1])
    scores = {}
    for d, *labels in product(range(chain.n_documents), *[range(chain.n_labels)] * (end - first)):
        score = chain.document[b, d]
        for i, label in enumerate(labels):
            score += chain.label[first + i, d, label]
            if i:
                score += chain.edge[d, labels[i - 1], label]
        scores[(d, *labels)] = score
    return scores


@st.composite
def chains(draw, longest=6):
    lengths = draw(st.lists(st.integers(0, longest), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    shape = (int(offsets[-1]), 3, 3)
    scale = draw(st.sampled_from([0.1, 1.0, 5.0]))
    document = rng.normal(size=(len(lengths), 3)) * scale
    if draw(st.booleans()):
        document[:, draw(st.integers(0, 2))] = -np.inf
    return DocumentChain(rng.normal(size=shape) * scale, rng.normal(size=(3, 3, 3)) * scale, offsets, document)


@pytest.mark.must_show("latent-sentiment", 1)
@settings(max_examples=15, deadline=None)
@given(chains())
def test_sums_marginals_and_best_equal_those_of_all_labellings(chain):
    best, log_z = chain.best(), chain.log_partition()
    marginals = chain.marginals()
    edges = np.zeros_like(chain.edge)
    for b, (first, end) in enumerate(zip(chain.offsets[:-1], chain.offsets[1:], strict=True)):
        scores = enumerated(chain, b)
        total = np.logaddexp.reduce(list(scores.values()))
        np.testing.assert_allclose(log_z[b], total, atol=1e-9)
        label, document = np.zeros((end - first, 3, 3)), np.zeros(3)
        for (d, *labels), score in scores.items():
            p = np.exp(score - total)
            document[d] += p
            for i, each in enumerate(labels):
                label[i, d, each] += p
                if i:
                    edges[d, labels[i - 1], each] += p
        np.testing.assert_allclose(marginals.document[b], document, atol=1e-9)
        np.testing.assert_allclose(marginals.label[first:end], label, atol=1e-9)
        np.testing.assert_allclose(marginals.sentence[first:end], label.sum(axis=1), atol=1e-9)
        found = (int(best.document[b]), *best.sentence[first:end].tolist())
        np.testing.assert_allclose(scores[found], max(scores.values()), atol=1e-9)
        np.testing.assert_allclose(chain.score(best)[b], scores[found], atol=1e-9)
    np.testing.assert_allclose(marginals.edge, edges, atol=1e-9)


@settings(max_examples=10, deadline=None)
@given(chains(longest=3), st.integers(0, 2))
def test_a_restricted_chain_is_the_chain_given_the_labels(chain, label):
    rng = np.random.default_rng(label)
    allowed = rng.random((len(chain.label), 3)) < 0.6
    allowed[:, label] = True
    documents = np.isfinite(chain.document)
    given_labels = chain.restrict(DocumentMask(documents, allowed))
    for b, (first, end) in enumerate(zip(chain.offsets[:-1], chain.offsets[1:], strict=True)):
        inside = [
            score for (_, *labels), score in enumerated(chain, b).items() if allowed[range(first, end), labels].all()
        ]
        np.testing.assert_allclose(given_labels.log_partition()[b], np.logaddexp.reduce(inside), atol=1e-9)


def test_samples_come_with_their_probabilities():
    rng = np.random.default_rng(3)
    chain = DocumentChain(rng.normal(size=(2, 2, 2)), rng.normal(size=(2, 2, 2)), [0, 2])
    drawn = chain.sample(4000, seed=1)
    label = np.zeros((2, 2, 2))
    for solution in drawn:
        label[[0, 1], solution.document[0], solution.sentence] += 1 / len(drawn)
    np.testing.assert_allclose(label, chain.marginals().label, atol=0.03)


def test_parts_of_a_solution_and_scores_agree():
    rng = np.random.default_rng(5)
    chain = DocumentChain(rng.normal(size=(4, 3, 3)), rng.normal(size=(3, 3, 3)), [0, 3, 3, 4], rng.normal(size=(3, 3)))
    solution = DocumentLabels(np.array([0, 2, 1]), np.array([0, 1, 1, 2]))
    parts = chain.parts(solution, np.array([1.0, 2.0, 0.5]))
    scores = DocumentChain(chain.label, chain.edge, chain.offsets, chain.document)
    value = (
        (parts.label * scores.label).sum() + (parts.edge * scores.edge).sum() + (parts.document * scores.document).sum()
    )
    np.testing.assert_allclose(value, chain.score(solution) @ [1.0, 2.0, 0.5])
    doubled = chain.augment(type(parts)(chain.label, chain.edge, chain.document))
    np.testing.assert_allclose(doubled.score(solution), 2 * chain.score(solution))


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(InferenceError, match="one matrix per sentence"):
        DocumentChain(np.zeros((2, 3)), np.zeros((3, 3, 3)), [0, 2])
    with pytest.raises(InferenceError, match="edge scores"):
        DocumentChain(np.zeros((2, 3, 3)), np.zeros((3, 3)), [0, 2])
    with pytest.raises(InferenceError, match="without an allowed label"):
        DocumentChain(np.zeros((2, 3, 3)), np.zeros((3, 3, 3)), [0, 2], np.full((1, 3), -np.inf))
    with pytest.raises(InferenceError, match="from 0 to 2"):
        DocumentChain(np.zeros((1, 3, 3)), np.zeros((3, 3, 3)), [0, 1]).score(DocumentLabels([0], [3]))

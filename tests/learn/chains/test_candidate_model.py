"""The model over candidates: scores, gradients and sparse changes agree with sums written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.features.weights import Layout
from weft.infer.chains.candidates import CandidateParts
from weft.learn.chains.blocks import FeatureRows
from weft.learn.chains.candidate_model import CandidateBatch, CandidateModel, LabelParts


def example(seed):
    """A model over four labels and a batch of two sentences with features that have values."""
    rng = np.random.default_rng(seed)
    parts, _ = LabelParts.from_names([["a", "x"], ["b", "x"], ["a", "y"], ["b"]], [["l", "l", "r", "r"], list("abca")])
    layout = Layout.from_mask(rng.random((6, parts.n_columns)) < 0.6)
    sizes = rng.integers(1, 4, 5)
    labels = np.concatenate([rng.choice(4, n, replace=False) for n in sizes]).astype(np.int32)
    counts = rng.integers(0, 4, 5)
    features = FeatureRows(
        rng.integers(-1, 6, counts.sum()).astype(np.int32),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        rng.normal(size=counts.sum()),
    )
    slots = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    gold = np.array([rng.integers(n) for n in sizes], dtype=np.int32)
    batch = CandidateBatch(np.array([0, 3, 5]), features, slots, labels, gold, np.ones(2))
    return CandidateModel(parts, layout), batch, rng


def written_out(model, batch, weights):
    """Node and edge scores by plain loops."""
    parts, layout, features = model.parts, model.layout, batch.features
    node = np.zeros(len(batch.labels))
    for i in range(len(batch.slots) - 1):
        if batch.slots[i + 1] - batch.slots[i] < 2:
            continue
        for s in range(batch.slots[i], batch.slots[i + 1]):
            own = parts.columns[parts.starts[batch.labels[s]] : parts.starts[batch.labels[s] + 1]]
            for f in range(features.offsets[i], features.offsets[i + 1]):
                row = features.rows[f]
                for k in range(layout.starts[row], layout.starts[row + 1]) if row >= 0 else ():
                    node[s] += features.values[f] * weights[k] * (layout.columns[k] in own)
    edge = []
    for i in range(1, len(batch.slots) - 1):
        if i in batch.sentences:
            continue
        for a in batch.labels[batch.slots[i - 1] : batch.slots[i]]:
            for b in batch.labels[batch.slots[i] : batch.slots[i + 1]]:
                places = [
                    layout.size + parts.view_starts[k] + parts.views[k, a] * parts.sizes[k] + parts.views[k, b]
                    for k in range(len(parts.sizes))
                ]
                edge.append(weights[places].sum())
    return node, np.array(edge)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_scores_are_the_sums_of_the_weights_of_parts_and_views(seed):
    model, batch, rng = example(seed)
    weights = rng.normal(size=model.size)
    chain = model.score(batch, weights)
    node, edge = written_out(model, batch, weights)
    np.testing.assert_allclose(chain.node, node, atol=1e-12)
    np.testing.assert_allclose(chain.edge, edge, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_scatter_is_the_adjoint_of_score_and_sparse_is_scatter(seed):
    model, batch, rng = example(seed)
    weights = rng.normal(size=model.size)
    chain = model.score(batch, weights)
    parts = CandidateParts(rng.normal(size=len(chain.node)), rng.normal(size=len(chain.edge)))
    gradient = np.zeros(model.size)
    model.scatter(batch, parts, gradient)
    assert weights @ gradient == pytest.approx(chain.node @ parts.node + chain.edge @ parts.edge)
    indices, values = model.sparse(batch, parts)
    assert np.all(np.diff(indices) > 0)
    dense = np.zeros(model.size)
    dense[indices] = values
    np.testing.assert_allclose(dense, gradient, atol=1e-12)
    assert set(indices.tolist()) <= set(model.active(batch).tolist())


def test_sentences_cut_out_score_as_in_the_batch():
    model, batch, rng = example(3)
    weights = rng.normal(size=model.size)
    whole = model.score(batch, weights)
    pieces = [model.score(one, weights) for one in batch.batches(1)]
    np.testing.assert_allclose(np.concatenate([piece.node for piece in pieces]), whole.node)
    np.testing.assert_allclose(np.concatenate([piece.edge for piece in pieces]), whole.edge)


def test_parts_and_features_must_have_the_same_columns():
    parts, _ = LabelParts.from_names([["a"]])
    with pytest.raises(ConfigError, match="2 columns"):
        CandidateModel(parts, Layout.from_mask(np.ones((1, 3), dtype=bool)))

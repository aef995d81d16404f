"""Models of documents and their sentences: gradients, what labels of documents teach, and the compiled descent."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError
from weft.infer.chains.document import DocumentMask
from weft.learn.batch.objective import Objective
from weft.learn.chains.blocks import FeatureRows
from weft.learn.chains.document_model import DocumentBatch, DocumentModel
from weft.learn.chains.document_sgd import DocumentSGD, _run
from weft.learn.signals import Gold, Partial

FEATURES = 7


def documents(rng, count=5, longest=4, per_sentence=4, features=FEATURES, fine=1.0, shortest=1) -> DocumentBatch:
    """Random documents; a part `fine` of them has labelled sentences."""
    lengths = rng.integers(shortest, longest + 1, count)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    n = int(offsets[-1])
    sizes = rng.integers(1, per_sentence + 1, n)
    rows = rng.integers(0, features, sizes.sum()).astype(np.int32)
    sentence = rng.integers(0, 3, n)
    sentence[np.repeat(rng.random(count) >= fine, lengths)] = -1
    feature_rows = FeatureRows(rows, np.concatenate([[0], np.cumsum(sizes)]), np.zeros(0))
    return DocumentBatch.of(offsets, feature_rows, rng.integers(0, 3, count), sentence)


def without_sentences(batch: DocumentBatch) -> DocumentBatch:
    return replace(batch, sentence=np.full_like(batch.sentence, -1))


models = st.builds(DocumentModel, st.just(FEATURES), agreement=st.booleans(), document_transitions=st.booleans())


def interpolated(model, fine, coarse, share, weights, variance=2.0) -> tuple[float, np.ndarray]:
    """share * L_F + (1 - share) * L_C and its gradient."""
    value, gradient = 0.0, np.zeros(model.size)
    for factor, batch, signal in ((share, fine, Gold()), (1 - share, coarse, Partial())):
        loss, slope = Objective(model, [batch], signal, l2=1 / variance)(weights)
        value -= factor * loss
        gradient -= factor * slope
    return value, gradient


@pytest.mark.must_show("latent-sentiment", 1)
@settings(max_examples=12, deadline=None)
@given(models, st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.7, 1.0]))
def test_gradients_of_all_three_objectives_equal_finite_differences(model, seed, share):
    rng = np.random.default_rng(seed)
    fine, coarse = documents(rng), without_sentences(documents(rng))
    weights = rng.normal(size=model.size)
    _, gradient = interpolated(model, fine, coarse, share, weights)
    for k in rng.choice(model.size, 8, replace=False):
        step = np.zeros(model.size)
        step[k] = 1e-5
        high = interpolated(model, fine, coarse, share, weights + step)[0]
        low = interpolated(model, fine, coarse, share, weights - step)[0]
        np.testing.assert_allclose(gradient[k], (high - low) / 2e-5, rtol=1e-5, atol=1e-6)


@pytest.mark.must_show("latent-sentiment", 2)
@settings(max_examples=12, deadline=None)
@given(models, st.integers(0, 10**6))
def test_a_documents_label_is_at_least_as_probable_as_its_label_and_those_of_its_sentences(model, seed):
    rng = np.random.default_rng(seed)
    batch, weights = documents(rng), rng.normal(size=model.size) * 3
    structure = model.score(batch, weights)
    joint = structure.score(batch.gold) - structure.log_partition()
    marginal = structure.restrict(DocumentMask(batch.allowed.document)).log_partition() - structure.log_partition()
    assert (marginal >= joint - 1e-12).all()


@pytest.mark.must_show("latent-sentiment", 2)
@settings(max_examples=8, deadline=None)
@given(models, st.integers(0, 10**6))
def test_shares_of_one_and_zero_are_the_two_plain_models(model, seed):
    rng = np.random.default_rng(seed)
    fine, coarse = documents(rng), without_sentences(documents(rng))
    weights = rng.normal(size=model.size)
    for share, batch, signal in ((1.0, fine, Gold()), (0.0, coarse, Partial())):
        loss, gradient = Objective(model, [batch], signal, l2=0.5)(weights)
        value, slope = interpolated(model, fine, coarse, share, weights)
        assert value == -loss
        np.testing.assert_array_equal(slope, -gradient)
    # The learner takes the same steps whether the other kind of documents is there or not.
    both = documents(rng, count=8, fine=0.5)
    if both.fine.all() or not both.fine.any():
        return
    for share in (1.0, 0.0):
        kept = np.flatnonzero(both.fine == (share == 1.0))
        learner = DocumentSGD(share=share, epochs=3, rate=0.1, seed=seed)
        alone = learner.fit(model, _chosen(both, kept), model.start())
        np.testing.assert_array_equal(learner.fit(model, both, model.start()).weights, alone.weights)


def _chosen(batch: DocumentBatch, kept: np.ndarray) -> DocumentBatch:
    pieces = [batch.cut(int(i), int(i) + 1) for i in kept]
    rows = [piece.features for piece in pieces]
    sizes = np.concatenate([np.diff(each.offsets) for each in rows])
    features = FeatureRows(
        np.concatenate([each.rows for each in rows]), np.concatenate([[0], np.cumsum(sizes)]), np.zeros(0)
    )
    lengths = [int(piece.offsets[-1]) for piece in pieces]
    return DocumentBatch.of(
        np.concatenate([[0], np.cumsum(lengths)]), features,
        np.concatenate([piece.document for piece in pieces]), np.concatenate([piece.sentence for piece in pieces]),
    )  # fmt: skip


@pytest.mark.must_show("latent-sentiment", 3)
@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6))
def test_without_ties_to_the_document_its_label_teaches_nothing_of_the_text(seed):
    rng = np.random.default_rng(seed)
    model = DocumentModel(FEATURES, agreement=False, document_transitions=False)
    batch = without_sentences(documents(rng))
    weights = rng.normal(size=model.size)
    result = DocumentSGD(share=0.0, epochs=1, rate=0.5, variance=1e300).fit(model, batch, weights)
    text = slice(0, FEATURES * 3)
    np.testing.assert_array_equal(result.weights[text], weights[text])
    gradient = np.zeros(model.size)
    model.scatter(batch, Partial()(model.score(batch, weights), batch)[1], gradient)
    np.testing.assert_allclose(gradient[text], 0.0, atol=1e-12)
    for tied in (replace(model, agreement=True), replace(model, document_transitions=True)):
        weights = rng.normal(size=tied.size)
        result = DocumentSGD(share=0.0, epochs=1, rate=0.5, variance=1e300).fit(tied, batch, weights)
        assert np.abs(result.weights[text] - weights[text]).max() > 1e-9


@settings(max_examples=15, deadline=None)
@given(models, st.integers(0, 10**6))
def test_a_compiled_step_follows_the_gradient_of_the_signal(model, seed):
    rng = np.random.default_rng(seed)
    batch = documents(rng, fine=0.5)
    partly = np.where(rng.random(len(batch.sentence)) < 0.3, -1, batch.sentence).astype(np.int32)
    batch = replace(batch, sentence=partly, document=np.where(rng.random(len(batch)) < 0.2, -1, batch.document))
    batch = replace(batch, document=batch.document.astype(np.int32))
    rate, shrink = 0.3, 0.9
    weights = rng.normal(size=model.size)
    expected, value = weights.copy(), 0.0
    for i in range(len(batch)):
        one = batch.cut(i, i + 1)
        own, parts = Partial()(model.score(one, expected), one)
        value += own
        expected *= shrink
        model.scatter(one, parts.scale(rate), expected)
    found = _run(model, batch, np.arange(len(batch)), weights, rate, shrink, False)
    np.testing.assert_allclose(found, value, rtol=1e-9)
    np.testing.assert_allclose(weights, expected, rtol=1e-8, atol=1e-10)


@settings(max_examples=10, deadline=None)
@given(models, st.integers(0, 10**6))
def test_a_hard_step_takes_the_best_labels_for_the_known_ones(model, seed):
    rng = np.random.default_rng(seed)
    batch = without_sentences(documents(rng, count=1))
    weights = rng.normal(size=model.size)
    structure = model.score(batch, weights)
    best = structure.restrict(batch.allowed).best()
    expected = weights.copy()
    model.scatter(batch, (structure.parts(best) - structure.marginals()).scale(0.3), expected)
    value = _run(model, batch, np.arange(1), weights, 0.3, 1.0, True)
    np.testing.assert_allclose(value, float((structure.score(best) - structure.log_partition())[0]), rtol=1e-9)
    np.testing.assert_allclose(weights, expected, atol=1e-10)


def test_steps_mix_the_two_kinds_by_the_share_and_not_by_their_numbers():
    rng = np.random.default_rng(0)
    batch = documents(rng, count=400, fine=0.05)
    from weft.learn.chains.document_sgd import _Order, _steps

    fine, coarse = np.flatnonzero(batch.fine), np.flatnonzero(~batch.fine)
    order = _Order(fine, coarse, 0.5, seed=1).take(_steps(0.5, len(fine), len(coarse)) * 3)
    times = np.bincount(order, minlength=400)
    assert 0.45 < times[fine].sum() / times.sum() < 0.55
    assert times[fine].max() - times[fine].min() <= 1
    assert times[coarse].max() - times[coarse].min() <= 1


def test_labels_of_documents_alone_teach_more_of_sentences_than_to_copy_them():
    """Words of three classes; documents of one class mostly have sentences of it."""
    rng = np.random.default_rng(2)
    lengths = rng.integers(3, 8, 600)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    document = rng.integers(0, 3, 600)
    n = int(offsets[-1])
    copied = np.repeat(document, lengths)
    truth = np.where(rng.random(n) < 0.7, copied, rng.integers(0, 3, n))
    rows = (truth[:, None] * 10 + rng.integers(0, 10, (n, 3))).astype(np.int32).ravel()
    features = FeatureRows(rows, np.arange(n + 1) * 3, np.zeros(0))
    batch = DocumentBatch.of(offsets, features, document, np.full(n, -1))
    model = DocumentModel(features=30)
    accuracy = {}
    for hard in (False, True):
        result = DocumentSGD(share=0.0, epochs=5, rate=0.05, hard=hard).fit(model, batch, model.start())
        found = model.score(batch, result.weights).marginals().sentence.argmax(axis=1)
        accuracy[hard] = (found == truth).mean()
        assert result.history[-1].loss < result.history[0].loss
    assert accuracy[False] > (copied == truth).mean() + 0.03
    assert accuracy[True] > 0.75


def test_bad_options_and_missing_documents_are_refused():
    rng = np.random.default_rng(0)
    fine = documents(rng)
    model = DocumentModel(FEATURES)
    with pytest.raises(ConfigError, match="from 0 to 1"):
        DocumentSGD(share=2.0).fit(model, fine)
    with pytest.raises(ConfigError, match="rate > 0"):
        DocumentSGD(rate=0.0).fit(model, fine)
    with pytest.raises(ConfigError, match="set share to 1"):
        DocumentSGD(share=0.1).fit(model, fine)
    with pytest.raises(ConfigError, match="share 0"):
        DocumentSGD(share=0.1).fit(model, without_sentences(fine))
    with pytest.raises(ConfigError, match="give -1 where"):
        DocumentBatch.of([0, 1], FeatureRows(np.zeros(1, dtype=np.int32), np.array([0, 1]), np.zeros(0)), [0], [])


@pytest.mark.timing
@pytest.mark.must_show("latent-sentiment", 8)
def test_at_least_five_thousand_documents_a_second_are_learned_from():
    rng = np.random.default_rng(4)
    batch = documents(rng, count=3000, shortest=10, longest=10, per_sentence=100, features=60_000, fine=0.1)
    model = DocumentModel(60_000)
    learner = DocumentSGD(share=0.1, epochs=1)
    learner.fit(model, batch)
    taken = []
    for _ in range(4):
        begin = time.process_time()
        calls = learner.fit(model, batch).calls
        taken.append((time.process_time() - begin) / calls)
    assert 1 / min(taken) >= 5000, f"{1 / min(taken):,.0f} documents/s"

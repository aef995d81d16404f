"""Classifiers of documents for another domain: what projection, correction and pivots must do, on made-up domains."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix, vstack

from weft.errors import ConfigError, DataError
from weft.features.document_terms import unit_rows
from weft.features.representations.correspondence import Correspondence
from weft.tasks.sentiment.polarity_model import choose_pivots, correct_polarity, fit_polarity, project_documents

OPINIONS, TOPICS, OWN = 24, 30, 80  # shared opinion words, shared topic words, polarity words of one domain


def domain(number: int, n: int, seed: int):
    """Documents of one of two domains: rare shared opinion words, many own ones, topics that say nothing of it."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    topic = rng.integers(0, 4, n)
    like = np.where(np.arange(OPINIONS) % 2 == 0, 1, -1)
    shared = rng.random((n, OPINIONS)) < np.where(y[:, None] == like, 0.10, 0.02)
    topics = rng.random((n, TOPICS)) < np.where(topic[:, None] == np.arange(TOPICS) % 4, 0.4, 0.1)
    like = np.where(np.arange(OWN) % 2 == 0, 1, -1)
    own = rng.random((n, OWN)) < np.where(y[:, None] == like, 0.18, 0.05)
    none = np.zeros((n, OWN), dtype=bool)
    parts = [shared, topics, own, none] if number == 0 else [shared, topics, none, own]
    return unit_rows(csr_matrix(np.hstack(parts).astype(float))), y


@pytest.mark.must_show("scl-sentiment", 4)
def test_words_of_the_target_are_understood_through_pivots_that_tell_of_polarity():
    source, y = domain(0, 2000, 1)
    raw = [domain(0, 2500, 2)[0], domain(1, 2500, 3)[0]]
    target, gold = domain(1, 1000, 4)

    def accuracy(model, rows=target):
        return 100 * float(np.mean(model.labels(rows) == gold))

    shared = np.arange(source.shape[1]) < OPINIONS + TOPICS
    ceiling = accuracy(fit_polarity(source[:, shared], y), target[:, shared])
    base = accuracy(fit_polarity(source, y))
    found = {}
    for method in ("scl", "scl-mi"):
        # The most frequent words are topics: of 40, about ten tell of polarity.
        pivots = choose_pivots(method, source, y, raw, pivots=40)
        model = fit_polarity(source, y, project_documents(raw, pivots, dimensions=10), mu=1e-4)
        found[method] = accuracy(model)
    assert abs(base - ceiling) < 5
    assert found["scl-mi"] >= 90
    assert base < found["scl"] < found["scl-mi"]


def test_folded_weights_judge_as_projection_and_weights_do():
    source, y = domain(0, 200, 1)
    raw = [source, domain(1, 200, 2)[0]]
    theta = project_documents(raw, choose_pivots("scl", source, y, raw, pivots=20), dimensions=5)
    model = fit_polarity(source, y, theta, mu=1e-4)
    by_parts = source @ model.w + theta.project(source) @ model.v + model.intercept
    np.testing.assert_allclose(model.scores(source), by_parts, atol=1e-4)


def test_the_projection_has_the_length_asked_for():
    rows = domain(0, 200, 1)[0]
    theta = project_documents([rows], np.arange(10), dimensions=5, scale=3.0)
    lengths = np.linalg.norm(theta.project(rows), axis=1)
    assert lengths.mean() == pytest.approx(3.0, rel=1e-4)  # documents have length 1


def test_standardized_dimensions_have_the_same_spread_on_raw_documents():
    rows = domain(0, 200, 1)[0]
    spread = {
        standardize: project_documents([rows], np.arange(10), 5, standardize=standardize).project(rows).std(axis=0)
        for standardize in (False, True)
    }
    assert spread[False].max() > 1.05 * spread[False].min()
    np.testing.assert_allclose(spread[True], spread[True][0], rtol=1e-4)
    lengths = np.linalg.norm(project_documents([rows], np.arange(10), 5, standardize=True).project(rows), axis=1)
    assert lengths.mean() == pytest.approx(1.0, rel=1e-4)


@pytest.mark.must_show("scl-sentiment", 2)
def test_correction_keeps_v_under_a_strong_tie_and_is_a_plain_fit_under_none():
    source, y = domain(0, 300, 1)
    raw = [source, domain(1, 300, 2)[0]]
    target, gold = domain(1, 50, 5)
    theta = project_documents(raw, choose_pivots("scl-mi", source, y, raw, pivots=20), dimensions=5)
    model = fit_polarity(source, y, theta, mu=1e-4)
    tied = correct_polarity(model, target, gold, mu=1e6)
    np.testing.assert_allclose(tied.v, model.v, atol=1e-4)
    assert np.abs(tied.w - model.w).max() > 1e-3  # w is not tied
    free = correct_polarity(model, target, gold, mu=0.0)
    assert np.abs(free.v - model.v).max() > 1e-3
    # The same classifier written with another v: where nothing ties v, it is forgotten.
    other = replace(model, w=model.w - theta.scale * theta.rows.sum(axis=1), v=model.v + 1.0)
    np.testing.assert_allclose(correct_polarity(other, target, gold, mu=0.0).v, free.v, atol=0.02)


def test_the_source_label_is_used_where_it_is_right_and_turned_where_it_is_wrong():
    source, y = domain(0, 300, 1)
    model = fit_polarity(source, y)
    rows, gold = domain(0, 50, 6)
    assert correct_polarity(model, rows, gold).trust > 0.3
    assert correct_polarity(model, rows, -gold).trust < -0.3


def test_corrections_sum_the_loss_over_documents():
    rows = csr_matrix([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 1.0, 0.0]])
    source = fit_polarity(rows, [1, -1, 1])
    one = correct_polarity(source, rows, [-1, -1, 1], l2=0.1, mu=0.1)
    many = correct_polarity(source, vstack([rows] * 10, format="csr"), [-1, -1, 1] * 10, l2=1.0, mu=1.0)
    np.testing.assert_allclose(many.w, one.w, atol=1e-3)
    assert np.abs(many.w).max() > 0.05


def test_pivots_occur_in_enough_documents_of_every_domain():
    source, y = domain(0, 300, 1)
    raw = [source, domain(1, 300, 2)[0]]
    for method in ("scl", "scl-mi"):
        assert (choose_pivots(method, source, y, raw, pivots=500) < OPINIONS + TOPICS).all()
    with pytest.raises(DataError, match="too few pivots"):
        choose_pivots("scl", source, y, raw, more_than=1000)
    with pytest.raises(ConfigError, match="scl-mi"):
        choose_pivots("guess", source, y, raw)


def test_pivots_have_a_place_in_the_projection_only_where_predictors_see_the_others():
    rows = domain(0, 300, 1)[0]
    pivots = np.arange(8)
    assert not project_documents([rows], pivots, dimensions=4).rows[pivots].round(5).any()
    assert project_documents([rows], pivots, dimensions=4, mask="own").rows[pivots].any()
    with pytest.raises(ConfigError, match="mask must be all or own"):
        project_documents([rows], pivots, mask="none")


def test_a_model_without_projection_has_none():
    rows, y = domain(0, 50, 1)
    model = fit_polarity(rows, y)
    assert model.projection is None
    assert len(model.v) == 0
    assert isinstance(project_documents([rows], np.arange(5), dimensions=2), Correspondence)

"""Scores of polarities and precision-recall curves."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score

from weft.errors import WeftError
from weft.evaluate.labels.sentiment import evaluate_polarities, precision_at, precision_recall
from weft.text.conventions.polarity import POLARITIES


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    gold, system = rng.choice(POLARITIES, (30, 5)).tolist(), rng.choice(POLARITIES, (30, 5)).tolist()
    documents = rng.choice(POLARITIES, 30).tolist()
    report = evaluate_polarities(gold, system, documents)
    expected = f1_score(np.ravel(gold), np.ravel(system), labels=list(POLARITIES), average=None)
    np.testing.assert_allclose([report.scores[name].f1 for name in POLARITIES], expected)
    chosen = np.array(documents) == "neg"
    expected = f1_score(np.array(gold)[chosen].ravel(), np.array(system)[chosen].ravel(), labels=["pos"], average=None)
    np.testing.assert_allclose(report.by_document["neg"]["pos"].f1, expected[0])


def test_sentences_without_a_gold_polarity_are_left_out():
    report = evaluate_polarities([["pos", "", "neg"]], [["pos", "pos", "neu"]])
    assert (report.sentences, report.accuracy) == (2, 0.5)
    with pytest.raises(WeftError, match="no sentence has"):
        evaluate_polarities([[""]], [["pos"]])
    with pytest.raises(WeftError, match="same sentences"):
        evaluate_polarities([["pos"]], [["pos", "neg"]])


def test_the_curve_has_the_area_of_scikit_learn():
    rng = np.random.default_rng(1)
    gold = rng.random(200) < 0.3
    probability = np.round(0.4 * gold + rng.random(200), 1)
    recall, precision = precision_recall(probability, gold)
    area = float(np.sum(np.diff(np.append(0.0, recall)) * precision))
    assert area == pytest.approx(average_precision_score(gold, probability))
    assert precision_at(recall, precision, [1.0])[0] == precision[recall == 1.0].max()

"""The estimator of scikit-learn."""

from __future__ import annotations

from typing import Any

import pytest

from weft.errors import ConfigError, DataError, WeftError

base = pytest.importorskip("sklearn.base")
selection = pytest.importorskip("sklearn.model_selection")
from weft.interop.sklearn import SequenceLabeller  # noqa: E402

X = [["two", "cups", "flour"], ["salt"], ["three", "spoons", "olive", "oil"], ["two", "eggs"]] * 6
Y = [["QTY", "UNIT", "FOOD"], ["FOOD"], ["QTY", "UNIT", "FOOD", "FOOD"], ["QTY", "FOOD"]] * 6
SPANS = [["O", "O", "B-FOOD"], ["B-FOOD"], ["O", "O", "B-FOOD", "I-FOOD"], ["O", "B-FOOD"]] * 6


def test_labels_are_learnt_predicted_and_scored() -> None:
    labeller = SequenceLabeller(iterations=20)
    assert labeller.fit(X, Y) is labeller
    assert labeller.classes_ == ["FOOD", "QTY", "UNIT"]
    assert labeller.predict([["three", "cups", "salt"], []]) == [["QTY", "UNIT", "FOOD"], []]
    assert labeller.score(X, Y) == 1.0
    assert labeller.score(X, [["FOOD"] * len(labels) for labels in Y]) == pytest.approx(0.5)
    ((first, *_),) = labeller.predict_marginals([["two", "cups"]])
    assert set(first) == {"FOOD", "QTY", "UNIT"}
    assert sum(first.values()) == pytest.approx(1.0)
    assert max(first, key=lambda label: first[label]) == "QTY"


def test_spans_of_a_scheme_are_legal_and_scored_by_f1() -> None:
    labeller = SequenceLabeller(scheme="IOB2", iterations=20).fit(X, SPANS)
    assert labeller.predict([["two", "olive", "oil"]]) == [["O", "B-FOOD", "I-FOOD"]]
    assert labeller.score(X, SPANS) == 1.0
    assert labeller.score(X[:4], [["B-FOOD"] * len(labels) for labels in SPANS[:4]]) < 0.6


def test_words_may_have_further_columns_that_templates_read() -> None:
    tagged = [
        [{"form": word, "kind": label.lower()} for word, label in zip(*pair, strict=True)]
        for pair in zip(X, Y, strict=True)
    ]
    labeller = SequenceLabeller(templates="k[0] y[-1]", fields={"k": "kind"}, iterations=20).fit(tagged, Y)
    assert labeller.predict([[{"form": "unheard", "kind": "unit"}]]) == [["UNIT"]]


def test_scikit_learn_copies_varies_and_cross_validates_it() -> None:
    labeller = SequenceLabeller(sigma=3.0, iterations=5)
    assert labeller.get_params()["sigma"] == 3.0
    copy = base.clone(labeller.fit(X, Y)).set_params(iterations=6)
    assert (copy.sigma, copy.iterations, hasattr(copy, "component_")) == (3.0, 6, False)
    scores = selection.cross_val_score(SequenceLabeller(iterations=10), X, Y, cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.8
    search = selection.GridSearchCV(SequenceLabeller(iterations=5), {"sigma": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert set(search.best_params_) == {"sigma"}


@pytest.mark.parametrize(
    ("x", "y", "error", "said"),
    [
        (["two eggs"], [["A"]], ConfigError, "each a list of words; got a string"),
        ([["two"]], [["A", "B"]], DataError, "sentence 0 has 1 words"),
        ([["two"]], [], DataError, "X has 1 sentences, y has 0"),
        ([[{"kind": "x"}]], [["A"]], DataError, "the key 'form'"),
    ],
)
def test_data_of_the_wrong_shape_is_told(x: Any, y: Any, error: type[WeftError], said: str) -> None:
    with pytest.raises(error, match=said):
        SequenceLabeller().fit(x, y)


def test_an_untrained_labeller_says_so() -> None:
    with pytest.raises(WeftError, match="call fit first"):
        SequenceLabeller().predict(X)

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from weft.errors import ConfigError
from weft.learn import ChoiceModel, Objective, linear_svm, logistic_regression, minimize


def data(labels=3, seed=1):
    random = np.random.default_rng(seed)
    rows = csr_matrix(random.normal(size=(90, 5)) * (random.random((90, 5)) < 0.7))
    names = np.array(["a", "b", "c"])[:labels]
    gold = (rows @ random.normal(size=(5, labels)) + random.gumbel(size=(90, labels))).argmax(axis=1)
    return rows, names[gold], gold, random.uniform(0.5, 2, 90)


@pytest.mark.parametrize("labels", [2, 3])
def test_logistic_regression_is_that_of_our_own_learner(labels):
    rows, names, gold, weight = data(labels)
    peer = logistic_regression(rows, names, weight, c=2.0, intercept=False, tolerance=1e-10)
    model = ChoiceModel(5, labels)
    # Two columns -w/2 and w/2 carry half the squared length of one column w.
    objective = Objective(model, [model.batch(rows, gold, weight)], l2=0.5 if labels > 2 else 1.0)
    own = minimize(objective, np.zeros(model.size), tolerance=1e-9).weights.reshape(5, labels)
    np.testing.assert_allclose(peer.weights, own, atol=1e-4)
    assert peer.labels.tolist() == sorted(set(names))


@pytest.mark.parametrize("penalty", ["l1", "l2"])
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("door", [linear_svm, logistic_regression])
def test_doors_decide_as_scikit_learn_does(door, labels, penalty):
    rows, names, _, weight = data(labels)
    found = door(rows, names, weight, penalty=penalty, c=0.5)
    assert found.weights.shape == (5, labels)
    assert (found.predict(rows) == names).mean() > 0.5
    np.testing.assert_allclose(found.probabilities(rows).sum(axis=1), 1.0)


def test_an_item_of_weight_two_counts_as_two():
    rows, names, _, _ = data()
    weight = np.ones(90)
    weight[:10] = 2.0
    twice = list(range(90)) + list(range(10))
    one = logistic_regression(rows, names, weight, tolerance=1e-10)
    other = logistic_regression(rows[twice], names[twice], tolerance=1e-10)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-5)


def test_strong_l1_leaves_few_weights():
    rows, names, _, _ = data()
    assert (linear_svm(rows, names, penalty="l1", c=0.02).weights == 0).sum() > 3


def test_bad_input_is_a_plain_error():
    rows, names, _, _ = data()
    with pytest.raises(ConfigError, match="90 rows and 89 labels"):
        linear_svm(rows, names[1:])
    with pytest.raises(ConfigError, match="at least 2 labels"):
        logistic_regression(rows, ["a"] * 90)
    with pytest.raises(ConfigError, match="'l1' or 'l2'"):
        linear_svm(rows, names, penalty="l3")


def test_the_room_opens_without_compiled_code_or_scikit_learn():
    script = "import sys, weft.learn; dir(weft.learn); print({'numba', 'sklearn', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_every_public_name_is_there():
    import weft.learn

    for name in weft.learn.__all__:
        assert getattr(weft.learn, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        weft.learn.nothing  # noqa: B018

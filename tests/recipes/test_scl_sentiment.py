"""Checks of the sheet of scl-sentiment on reviews of four domains, in sizes that take seconds.

1, 2, 4 and the general half of 3, 6 and 7 are tests of the parts (tests/learn, tests/features, tests/tasks,
tests/evaluate).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from weft.data import find, have
from weft.lexical.polarity_lexicon import PolarityLexicon
from weft.recipes import review_domains as material
from weft.recipes import scl_sentiment as recipe
from weft.recipes.review_domains import DOMAINS, FILES, Sizes
from weft.tasks.polarity_model import choose_pivots, fit_polarity, project_documents
from weft.tasks.polarity_report import agreement, shared_terms, specific

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not all(map(have, FILES.values())),
        reason="the reviews are not at hand: set WEFT_DATA (see `weft data list`)",
    ),
]
FOLD = 1


@pytest.fixture(scope="module")
def data():
    return material.load_domains(find)


@pytest.fixture(scope="module")
def books_to_kitchen(data):
    """Terms, and rows and labels of the training reviews of both domains."""
    train = [data.where(each, FOLD, False) for each in (0, 3)]
    terms = data.terms(np.concatenate(train))
    rows = data.rows(terms)
    return [data.names[i] for i in terms], [rows[each] for each in train], [data.y[each] for each in train]


def test_texts_occur_once_and_no_test_review_is_read_in_training(data):
    assert [int((data.domain == number).sum()) for number in range(4)] == [1956, 1954, 1965, 1977]
    for domain in range(4):
        train, test = data.where(domain, FOLD, False), data.where(domain, FOLD, True)
        assert not set(train.tolist()) & set(test.tolist())
        assert abs(data.y[train].mean()) < 0.05
        assert 385 <= len(test) <= 400


@pytest.mark.must_show("scl-sentiment", 3)
def test_pivots_that_tell_of_the_label_are_opinions_and_frequent_ones_are_not(books_to_kitchen):
    for path in (recipe.POSITIVE, recipe.NEGATIVE):
        if not have(path):
            pytest.skip("the opinion lexicon is not at hand: set WEFT_DATA (see `weft data list`)")
    lexicon = PolarityLexicon.read([find(recipe.POSITIVE)], [find(recipe.NEGATIVE)])
    names, raw, y = books_to_kitchen
    shares = {}
    for method in ("scl", "scl-mi"):
        found = [names[i] for i in choose_pivots(method, raw[0], y[0], raw, 100)]
        shares[method] = recipe.opinion_share(found, lexicon)
    assert shares["scl-mi"] > 0.4
    assert shares["scl"] < 0.15
    assert "book" not in found
    assert {"excellent", "waste"} <= set(found)


@pytest.mark.must_show("scl-sentiment", 5)
def test_adaptation_helps_across_kinds_of_products(data):
    """Four directions between the two groups of domains, with fewer pivots; the recipe has all twelve."""
    accuracy: dict[str, list[float]] = {}
    for one, other in ((0, 3), (1, 2)):
        for outcome in material.pair_outcomes(data, one, other, FOLD, Sizes(pivots=150, dimensions=25, draws=1)):
            for system in outcome.right:
                accuracy.setdefault(system, []).append(outcome.accuracy(system))
    mean = {system: float(np.mean(values)) for system, values in accuracy.items()}
    assert mean["base"] < mean["SCL-MI"]
    assert mean["base"] < mean["SCL-MI+50"]
    assert mean["SCL"] > mean["base"] - 1
    assert mean["SCL-MI+50"] > mean["base+50"]


@pytest.mark.must_show("scl-sentiment", 6)
def test_distance_is_nothing_inside_a_domain_least_for_neighbours_and_foretells_the_loss(data):
    distances, halves = recipe.distances_of(data, Sizes(pivots=100, dimensions=50), seed=0)
    found = {pair: distances.of(*pair) for pair in combinations(DOMAINS, 2)}
    assert halves < 5
    near = sorted(found, key=found.__getitem__)
    assert near[0] == ("electronics", "kitchen")
    across = [value for pair, value in found.items() if pair not in (("electronics", "kitchen"), ("books", "dvd"))]
    assert found["books", "dvd"] < np.mean(across)
    own, losses = {}, {}
    rows = data.rows(np.arange(data.ones.shape[1]))
    train = [data.where(each, FOLD, False) for each in range(4)]
    test = [data.where(each, FOLD, True) for each in range(4)]
    models = [fit_polarity(rows[each], data.y[each]) for each in train]
    for source in range(4):
        for target in range(4):
            right = models[source].labels(rows[test[target]]) == data.y[test[target]]
            own[source, target] = 100 * float(right.mean())
    for one, other in combinations(range(4), 2):
        lost = [own[t, t] - own[s, t] for s, t in ((one, other), (other, one))]
        losses[DOMAINS[one], DOMAINS[other]] = float(np.mean(lost))
    # With four pairs far apart and two near ones, ranks within either kind are noise on one fold: the recipe reports
    # Spearman's correlation over more folds, here it must be clearly above 0 and the linear one high.
    lost_by_pair = [losses[pair] for pair in found]
    assert recipe.spearman(list(found.values()), lost_by_pair) > 0.3
    assert np.corrcoef(list(found.values()), lost_by_pair)[0, 1] > 0.8


@pytest.mark.must_show("scl-sentiment", 7)
def test_terms_of_the_target_alone_lie_on_the_side_of_their_polarity(books_to_kitchen):
    names, raw, y = books_to_kitchen
    pivots = choose_pivots("scl-mi", raw[0], y[0], raw, 150)
    model = fit_polarity(raw[0], y[0], project_documents(raw, pivots, 25), mu=1e-3)
    counts = np.stack([np.bincount(each.indices, minlength=len(names)) for each in raw])
    own = np.flatnonzero(specific(counts, least=10) == 2)
    assert len(own) > 200
    assert agreement(model, own, raw[1], y[1]) > 0.55
    good, bad = shared_terms(model, names, counts, dimensions=0, most=30)
    assert {"clean", "to clean", "works great"} & set(good.target)
    assert {"it broke", "returned", "broke", "refund", "unit"} & set(bad.target)
    assert "boring" in bad.source

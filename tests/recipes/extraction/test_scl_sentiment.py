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
from weft.recipes.extraction.scl_sentiment import data as material
from weft.recipes.extraction.scl_sentiment import experiment as recipe
from weft.recipes.extraction.scl_sentiment.data import DOMAINS, FILES, FOLDS, SYSTEMS, Sizes
from weft.tasks.sentiment.polarity_model import choose_pivots, fit_polarity, project_documents
from weft.tasks.sentiment.polarity_report import agreement, shared_terms, specific

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


@pytest.fixture(scope="module")
def outcomes(data):
    """All twelve pairs, with fewer pivots and dimensions than the recipe has."""
    sizes = Sizes(pivots=150, dimensions=25, draws=1)
    return [each for pair in combinations(range(4), 2) for each in material.pair_outcomes(data, *pair, FOLD, sizes)]


def means(outcomes):
    """The mean accuracy of every system."""
    return {system: float(np.mean([each.accuracy(system) for each in outcomes])) for system in SYSTEMS}


def across(outcomes):
    """Four directions between the two groups of domains."""
    return [each for each in outcomes if {each.source, each.target} in ({0, 3}, {1, 2})]


@pytest.mark.must_show("scl-sentiment", 5, weaker="the order is put together from 150 and 500 pivots")
def test_adaptation_helps_across_kinds_of_products(outcomes):
    mean = means(across(outcomes))
    assert mean["base"] < mean["SCL-MI"]
    assert mean["base"] < mean["SCL-MI+50"]
    assert mean["SCL"] > mean["base"] - 1
    assert mean["SCL-MI+50"] > mean["base+50"]


@pytest.mark.must_show("scl-sentiment", 5, weaker="the order is put together from 150 and 500 pivots")
def test_over_twelve_pairs_pivots_of_the_label_lose_less_than_frequent_ones_and_fifty_labels_least(data, outcomes):
    # The sheet: base < SCL < SCL-MI < SCL-MI+50. All of it but base < SCL holds with these 150 pivots, where SCL and
    # base are level; base < SCL, but not SCL < SCL-MI, holds with the recipe's 500: the next test, and the page. Of the
    # twelve pairs 8 to 10 gain, which differs between processors; the record has the nine of the sheet.
    mean = means(outcomes)
    assert mean["base"] < mean["SCL-MI"] < mean["SCL-MI+50"]
    assert mean["SCL"] < mean["SCL-MI"]
    assert abs(mean["SCL"] - mean["base"]) < 0.5
    assert sum(each.accuracy("SCL-MI") > each.accuracy("base") for each in outcomes) >= 7
    own = [100 * material.in_domain(data, target, FOLD).mean() for target in range(4)]
    assert abs(np.mean(own) - mean["base"] - 9) < 1.5  # the paper loses 9.1 points


@pytest.mark.must_show("scl-sentiment", 5, weaker="the order is put together from 150 and 500 pivots")
def test_over_twelve_pairs_frequent_pivots_help_where_there_are_500_of_them(data):
    accuracy = {"base": [], "SCL": []}
    for pair in combinations(range(4), 2):
        train = {each: data.where(each, FOLD, False) for each in pair}
        rows = data.rows(data.terms(np.concatenate(list(train.values()))))
        raw = [rows[each] for each in train.values()]
        theta = project_documents(raw, choose_pivots("scl", raw[0], data.y[train[pair[0]]], raw, 500), 50)
        for source, target in (pair, pair[::-1]):
            test, y = data.where(target, FOLD, True), data.y[train[source]]
            for system, own in (("base", None), ("SCL", theta)):
                model = fit_polarity(rows[train[source]], y, own, mu=Sizes().mu)
                accuracy[system].append(100 * np.mean(model.labels(rows[test]) == data.y[test]))
    gains = np.array(accuracy["SCL"]) - np.array(accuracy["base"])
    assert gains.mean() > 0
    assert (gains > 0).sum() >= 7


@pytest.mark.must_show("scl-sentiment", 6, weaker="100 pivots and five folds, the development fold among them")
def test_distance_is_nothing_inside_a_domain_least_for_neighbours_and_foretells_the_loss(data):
    distances, halves = recipe.distances_of(data, Sizes(pivots=100, dimensions=50), seed=0)
    found = {pair: distances.of(*pair) for pair in combinations(DOMAINS, 2)}
    assert halves < 5
    near = sorted(found, key=found.__getitem__)
    assert near[:2] == [("electronics", "kitchen"), ("books", "dvd")]
    assert found["books", "dvd"] < 0.5 * found[near[2]]
    losses = np.mean([losses_without_adaptation(data, fold) for fold in range(FOLDS)], axis=0)
    # The sheet: Spearman's correlation above 0.6. So it is over all five folds; over the two folds of the recipe it is
    # 0.49, as the four far pairs differ in loss by less than their noise.
    assert recipe.spearman(list(found.values()), losses.tolist()) > 0.6
    assert np.corrcoef(list(found.values()), losses)[0, 1] > 0.8


def losses_without_adaptation(data, fold):
    """What each pair of domains loses, in the order of `combinations`, mean of both directions."""
    rows = data.rows(np.arange(data.ones.shape[1]))
    train, test = ([data.where(each, fold, inside) for each in range(4)] for inside in (False, True))
    models = [fit_polarity(rows[each], data.y[each]) for each in train]
    own = np.array([[100 * np.mean(model.labels(rows[each]) == data.y[each]) for each in test] for model in models])
    lost = np.diag(own)[None, :] - own  # by source and target
    return [(lost[one, other] + lost[other, one]) / 2 for one, other in combinations(range(4), 2)]


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

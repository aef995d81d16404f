"""Checks of the sheet of latent-sentiment on corpora and generated documents, in sizes that take seconds.

Checks 1 to 3 and 8 stand in tests/infer/test_document_chain.py and tests/learn/test_document_sgd.py, the coverage of
intervals in tests/evaluate/test_hierarchical.py.
"""

import numpy as np
import pytest

from weft.data import have
from weft.evaluate.labels.sentiment import evaluate_polarities
from weft.recipes.framework import RecipeOptions
from weft.recipes.transfer.latent_sentiment import data as material
from weft.recipes.transfer.latent_sentiment import experiment as recipe
from weft.recipes.transfer.latent_sentiment.simulation import simulate
from weft.text.conventions.polarity import document_polarity, sentence_polarities

needs_reviews = pytest.mark.skipif(
    not all(map(have, (material.FINE, material.POSITIVE, material.VALENCE, "sentiment/blitzer-raw/books.tsv"))),
    reason="reviews and lexicons are not at hand: set WEFT_DATA (see `weft data list`)",
)


@pytest.fixture(scope="module")
def systems():
    """All systems with 60 labelled and 3,000 rated documents, tested on a hundred other labelled ones."""
    options = RecipeOptions(progress=False)
    lexicon = material.lexicon(options)
    docs = material.labelled(options)
    first, second = material.folds(docs)[:2]
    test = [docs[i] for i in (*first.tolist(), *second.tolist())]
    rest = [doc for doc in docs if doc not in test]
    stars = material.rated(options, 2000)
    rated = [*stars, *material.neutral(stars, 1000)]
    few = material.stratified(rated, 500)
    labelled = material.stratified(rest, 60)
    coarse = recipe.train("coarse", [], rated, lexicon)
    analysers = {
        "fine": recipe.train("fine", labelled, [], lexicon),
        "coarse": coarse,
        "coarse, few": recipe.train("coarse", [], few, lexicon),
        "cascaded": recipe.train("cascaded", labelled, [], lexicon, coarse=coarse),
        "interpolated": recipe.train("interpolated", labelled, rated, lexicon, epochs=12),
    }
    return analysers, test


def report(systems, name, given=False):
    analysers, test = systems
    found = analysers[name].predict(test, given)[0]
    return evaluate_polarities([sentence_polarities(d) for d in test], found, [document_polarity(d) for d in test])


@pytest.mark.must_show(
    "latent-sentiment", 4, weaker="generated documents, and reviews with one sample of 60 labelled documents"
)
@pytest.mark.corpus
@needs_reviews
def test_interpolated_leads_the_other_models_on_reviews(systems):
    scores = {name: 100 * report(systems, name).accuracy for name in systems[0]}
    assert scores["interpolated"] > scores["coarse"] + 1, scores
    assert scores["interpolated"] > scores["fine"], scores
    assert scores["interpolated"] > scores["cascaded"], scores


@pytest.fixture(scope="module")
def generated():
    """All systems on generated documents, by labelled and rated ones."""
    return {(fine, rated): simulate(rated, fine, epochs) for fine in (60, 120, 240)
            for rated, epochs in ((1000, 30), (4000, 8))}  # fmt: skip


@pytest.mark.must_show(
    "latent-sentiment", 4, weaker="generated documents, and reviews with one sample of 60 labelled documents"
)
@pytest.mark.parametrize("labelled", [60, 120, 240])
def test_generated_interpolated_leads_and_the_cascade_crosses_the_supervised_model(generated, labelled):
    few, many = generated[labelled, 1000], generated[labelled, 4000]
    assert many["interpolated"].accuracy > many["fine"].accuracy + 1, many
    for scores in (few, many):
        assert scores["interpolated"].accuracy > scores["coarse"].accuracy + 5, scores
    if labelled < 240:  # 240 labelled documents of so plain a language leave little to learn from 1,000 rated ones
        assert few["interpolated"].accuracy > few["fine"].accuracy + 1, few
    assert few["cascaded"].accuracy < few["fine"].accuracy - 1, few
    assert many["cascaded"].accuracy > many["fine"].accuracy + 1, many


@pytest.mark.must_show("latent-sentiment", 5, weaker="the half about Interpolated on generated documents")
@pytest.mark.corpus
@needs_reviews
def test_coarse_finds_little_but_the_polarity_of_the_document(systems):
    scores = report(systems, "coarse").by_document
    for name, other in (("pos", "neg"), ("neg", "pos")):
        assert scores[name][name].f1 > scores[other][name].f1 + 0.2


@pytest.mark.must_show("latent-sentiment", 5, weaker="the half about Interpolated on generated documents")
@pytest.mark.parametrize("labelled", [60, 120, 240])
def test_generated_positive_sentences_of_negative_documents_need_labelled_ones(generated, labelled):
    scores = generated[labelled, 1000]
    assert scores["interpolated"].positive_in_negative > 2 * scores["coarse"].positive_in_negative, scores
    assert scores["interpolated"].positive_in_negative > scores["coarse"].positive_in_negative + 30, scores


@pytest.mark.must_show("latent-sentiment", 6)
def test_generated_coarse_rises_by_three_points_from_15000_to_140000_rated_documents():
    # No rated reviews at hand are so many; generated ones may be, and their hidden labels are known.
    sizes = {1000: 4, 15_000: 4, 140_000: 2}  # epochs: those with more to learn from learn for a shorter time
    few, some, many = (
        simulate(size, epochs=epochs, methods=("coarse",))["coarse"].accuracy for size, epochs in sizes.items()
    )
    assert some > few + 3, (few, some)
    assert many > some + 3, (some, many)


@pytest.mark.must_show("latent-sentiment", 6, weaker="12,000 rated reviews; generated ones are as many as asked")
@pytest.mark.corpus
@needs_reviews
def test_coarse_rises_with_rated_reviews(systems):
    assert report(systems, "coarse").accuracy > report(systems, "coarse, few").accuracy


@pytest.mark.must_show("latent-sentiment", 7)
@pytest.mark.corpus
@needs_reviews
def test_a_given_rating_helps_every_model(systems):
    for name in ("fine", "coarse", "cascaded", "interpolated"):
        assert report(systems, name, given=True).accuracy > report(systems, name).accuracy, name


@pytest.mark.corpus
@needs_reviews
def test_rated_reviews_are_not_among_the_labelled_ones():
    options = RecipeOptions(progress=False)
    known = {s.text for doc in material.labelled(options) for s in doc.sentences if len(s) >= 8}
    rated = material.rated(options, 2000)
    assert not known & {sentence.text for doc in rated for sentence in doc.sentences}
    made = material.neutral(rated, 50)
    assert {doc.meta["sentiment"] for doc in made} == {"neu"}
    assert all(doc.meta["constructed"] for doc in made)
    folds = material.folds(material.labelled(options))
    assert sorted(np.concatenate(folds).tolist()) == list(range(294))

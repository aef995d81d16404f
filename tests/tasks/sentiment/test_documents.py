"""The classifier of documents as a component: adapting, correcting, saving, complaining."""

from __future__ import annotations

import pytest
from places import EXAMPLES

from weft.errors import ConfigError, DataError, WeftError
from weft.formats.reviews import read_reviews
from weft.pipeline.pipeline import Pipeline
from weft.tasks.sentiment.documents import PolarityClassifier, PolaritySettings, labelled_texts
from weft.text.doc import Doc

REVIEWS = EXAMPLES / "reviews"
SMALL = {"pivot_documents": 2, "dimensions": 10}


def documents(name: str) -> list[Doc]:
    return [review.doc() for review in read_reviews(REVIEWS / f"{name}.tsv")]


def adapted(**options) -> PolarityClassifier:
    classifier = PolarityClassifier(PolaritySettings(**(SMALL | options)))
    classifier.adapt(documents("films"), documents("pans"))
    return classifier


@pytest.mark.parametrize("method", ["scl", "scl-mi"])
def test_words_of_another_domain_are_understood(method):
    classifier = adapted(learning=method)
    new = [Doc("The handle broke and the coating peels."), Doc("Sturdy and easy to clean.")]
    classifier(new)
    assert [doc.meta["sentiment"] for doc in new] == ["neg", "pos"]
    assert new[0].meta["sentiment_score"] < 0 < new[1].meta["sentiment_score"]


def test_some_labels_of_the_target_correct_the_classifier():
    classifier = PolarityClassifier(PolaritySettings(**SMALL))
    report = classifier.adapt(documents("films"), documents("pans"), target=documents("pans-few"))
    assert report["training"]["target documents"] == 20
    assert classifier.evaluate(documents("knives"))["accuracy"] > 0.9


def test_a_saved_classifier_judges_as_before(tmp_path):
    for target in ([], documents("pans-few")):
        classifier = PolarityClassifier(PolaritySettings(**SMALL))
        classifier.adapt(documents("films"), documents("pans"), target=target)
        Pipeline([classifier]).save(tmp_path / "m.weft")
        (again,) = Pipeline.load(tmp_path / "m.weft").components
        assert isinstance(again, PolarityClassifier)
        docs = documents("pans")
        assert again.scores(docs) == pytest.approx(classifier.scores(docs), abs=1e-4)
        assert again.correspondences() == classifier.correspondences()


def test_a_pipeline_of_raw_text_writes_the_polarity_where_formats_keep_it(tmp_path):
    doc = Pipeline([adapted()])("It leaks. The lid is loose.")
    assert doc.meta["sentiment"] == "neg"
    assert "# document_sentiment = neg" in doc.comments[0]


def test_the_same_seed_gives_the_same_classifier_and_the_length_can_be_chosen():
    docs = documents("pans")
    assert (adapted(seed=3).scores(docs) == adapted(seed=3).scores(docs)).all()
    classifier = PolarityClassifier(PolaritySettings(**SMALL, scale=0.0))
    assert classifier.adapt(documents("films"), docs)["training"]["scale"] in (0.3, 1.0, 3.0, 10.0)


def test_pivots_never_have_a_place_in_the_projection_but_keep_their_own_weights():
    classifier = adapted()
    names = classifier.terms.names
    model = classifier.model
    for pivot in classifier.pivots:
        assert model.projection.rows[names.index(pivot)] == pytest.approx(0, abs=1e-6)
    assert any(abs(model.w[names.index(pivot)]) > 0.01 for pivot in classifier.pivots)


def test_neutral_and_unlabelled_documents_teach_nothing():
    docs = [Doc("a", meta={"rating": 3}), Doc("b"), Doc("c", meta={"sentiment": "neg"})]
    assert labelled_texts(docs)[0] == ["c"]


def test_bad_input_is_refused_in_plain_words():
    with pytest.raises(ConfigError, match="base, scl, scl-mi"):
        PolaritySettings.from_options({"learning": "magic"})
    with pytest.raises(ConfigError, match="dimensions"):
        PolaritySettings.from_options({"dimensions": 0})
    with pytest.raises(ConfigError, match="--raw"):
        PolarityClassifier().fit(documents("films"))
    with pytest.raises(DataError, match="positive and negative"):
        PolarityClassifier().adapt([Doc("fine", meta={"rating": 5})], [Doc("fine")])
    with pytest.raises(DataError, match="there are none"):
        PolarityClassifier().adapt(documents("films"), [])
    with pytest.raises(DataError, match="too few pivots"):
        PolarityClassifier(PolaritySettings(documents=1)).adapt(documents("films"), [Doc("quite other words")])
    with pytest.raises(WeftError, match="not trained"):
        PolarityClassifier().scores([Doc("fine")])
    with pytest.raises(DataError, match="nothing to evaluate"):
        adapted().evaluate([Doc("fine")])

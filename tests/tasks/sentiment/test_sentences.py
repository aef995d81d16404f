"""Polarity of sentences from ratings and labelled sentences: methods, test modes, model files."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import ConfigError, DataError, WeftError
from weft.formats.reviews import Review
from weft.lexical.polarity_lexicon import PolarityLexicon
from weft.pipeline.pipeline import Pipeline
from weft.pipeline.registry import new_component
from weft.tasks.sentiment.sentences import METHODS, SentimentAnalyser, SentimentSettings, vote_polarities
from weft.text.conventions.polarity import document_polarity, sentence_polarities, sentence_probabilities
from weft.text.doc import Doc

WORDS = {
    "pos": ["superb", "lovely", "warm", "fresh", "bright"],
    "neg": ["slow", "dull", "cold", "stale", "broken"],
    "neu": ["table", "paper", "street", "number", "clock"],
}
STARS = {"pos": 5, "neg": 1, "neu": 3}
LEXICON = PolarityLexicon({"superb": 1, "dull": -1})


def review(kind: str, rng: np.random.Generator, labelled: bool) -> Review:
    labels = [kind if rng.random() < 0.6 else str(rng.choice(list(WORDS))) for _ in range(5)]
    texts = tuple(" ".join(["it", "has", "a", *rng.choice(WORDS[label], 2).tolist(), "."]) for label in labels)
    return Review(
        " ".join(texts), STARS[kind], sentences=texts, labels=tuple(labels) if labelled else (), domain="things"
    )


def reviews(count: int, seed: int, labelled: bool) -> list[Doc]:
    rng = np.random.default_rng(seed)
    return [review(("pos", "neg", "neu")[i % 3], rng, labelled).doc() for i in range(count)]


RATED, LABELLED, TEST = reviews(300, 0, False), reviews(12, 1, True), reviews(60, 2, True)


def accuracy(found: list[list[str]]) -> float:
    gold = [label for doc in TEST for label in sentence_polarities(doc)]
    return float(np.mean([a == b for a, b in zip(gold, (x for each in found for x in each), strict=True)]))


@pytest.fixture(scope="module")
def analysers() -> dict[str, SentimentAnalyser]:
    made = {}
    for method in METHODS:
        made[method] = SentimentAnalyser(SentimentSettings(learning=method, rate=0.05, epochs=10), LEXICON)
        made[method].fit([*RATED, *LABELLED], TEST)
    return made


def test_every_method_beats_votes_and_the_documents_label(analysers):
    copied = accuracy([[document_polarity(doc)] * doc.n_sentences for doc in TEST])
    votes = accuracy(vote_polarities(TEST, LEXICON))
    scores = {method: accuracy(analyser.predict(TEST)[0]) for method, analyser in analysers.items()}
    assert min(scores.values()) > max(copied, votes) + 0.1, scores


def test_a_known_rating_is_taken_as_known(analysers):
    analyser = analysers["interpolated"]
    _, documents, seen = analyser.predict(TEST, given=True)
    assert documents == [document_polarity(doc) for doc in TEST]
    np.testing.assert_allclose(seen.document.max(axis=1), 1.0)
    np.testing.assert_allclose(analyser.posterior(TEST).document.sum(axis=1), 1.0)
    np.testing.assert_allclose(seen.joint.sum(axis=(1, 2)), 1.0)
    bare = Doc.from_words([["superb", "."]])
    np.testing.assert_allclose(analyser.posterior([bare], given=True).sentence, analyser.posterior([bare]).sentence)


def test_annotation_is_in_comments_and_metadata(analysers):
    doc = Doc("It is a lovely warm table. It has a dull cold paper.", meta={"rating": 2})
    Pipeline([analysers["interpolated"]])(doc)
    assert sentence_polarities(doc) == ["pos", "neg"]
    assert doc.meta["sentiment"] in STARS
    assert sentence_probabilities(doc)[1]["neg"] > 0.5
    assert any(line.startswith("# document_sentiment_probability") for line in doc.comments[0])


@pytest.mark.parametrize("method", METHODS)
def test_a_model_file_gives_the_same_answers(analysers, method, tmp_path):
    Pipeline([analysers[method]]).save(tmp_path / "m.weft")
    again = Pipeline.load(tmp_path / "m.weft").components[0]
    assert again.predict(TEST)[0] == analysers[method].predict(TEST)[0]
    np.testing.assert_allclose(again.posterior(TEST).sentence, analysers[method].posterior(TEST).sentence, atol=1e-4)


def test_the_best_labelling_can_be_asked_for(analysers):
    analyser = analysers["interpolated"]
    joint = SentimentAnalyser(SentimentSettings(decode="joint"), LEXICON)
    joint.features, joint.weights = analyser.features, analyser.weights
    chain = joint.structure(TEST)
    sentences, documents, _ = joint.predict(TEST)
    numbers = {"pos": 0, "neg": 1, "neu": 2}
    labels = [numbers[label] for each in sentences for label in each], [numbers[label] for label in documents]
    found = type(chain.best())(np.array(labels[1]), np.array(labels[0]))
    np.testing.assert_allclose(chain.score(found), chain.score(chain.best()))


def test_the_cascade_hears_the_coarse_model_and_not_the_other_way(analysers):
    cascaded = analysers["cascaded"]
    assert cascaded.coarse is not None
    np.testing.assert_array_equal(cascaded.coarse.weights, analysers["coarse"].weights)
    assert len(cascaded.features) > len(analysers["fine"].features)
    given = SentimentAnalyser(SentimentSettings(learning="cascaded", rate=0.05, epochs=10), LEXICON)
    given.coarse = analysers["coarse"]
    given.fit(LABELLED)
    np.testing.assert_array_equal(given.weights, cascaded.weights)


def test_seeds_decide_and_switches_change_the_model():
    def trained(**options):
        analyser = new_component("sentiment", {"epochs": 1, "learning": "coarse", **options})
        analyser.fit(RATED[:60])
        return analyser

    np.testing.assert_array_equal(trained(seed=3).weights, trained(seed=3).weights)
    assert (trained(seed=3).weights != trained(seed=4).weights).any()
    assert trained(transitions=False).model.size < trained().model.size
    assert (trained(hard=True).weights != trained().weights).any()
    assert len(trained(pairs=False).features) < len(trained().features)


def test_what_is_missing_is_said_in_plain_words():
    with pytest.raises(DataError, match="interpolated needs documents with labelled sentences"):
        SentimentAnalyser().fit(RATED[:3])
    with pytest.raises(DataError, match="coarse needs documents with a rating"):
        SentimentAnalyser(SentimentSettings(learning="coarse")).fit(LABELLED)
    with pytest.raises(DataError, match="no words"):
        SentimentAnalyser().fit([Doc("")])
    with pytest.raises(WeftError, match="not trained yet"):
        SentimentAnalyser()(TEST)
    with pytest.raises(ConfigError, match="fine, coarse, cascaded, interpolated"):
        new_component("sentiment", {"learning": "magic"})
    with pytest.raises(ConfigError, match="share"):
        new_component("sentiment", {"share": 3.0})

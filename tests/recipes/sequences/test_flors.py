"""Checks of the sheet of flors on corpora, in sizes that take seconds (1, 2, 7: tests/features, tests/learn)."""

import time

import numpy as np
import pytest

from weft.data import have
from weft.evaluate import mcnemar
from weft.recipes.corpora import adaptation as material
from weft.recipes.framework import RecipeOptions
from weft.recipes.sequences.flors import experiment as recipe
from weft.recipes.sequences.flors.systems import Texts, baseline, flors, renamed_types, tried, with_names
from weft.text.doc import Doc
from weft.training.scores import bare

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not all(have(path) for path in (material.SAMPLE, material.NEWSPAPER.format("train"),
                                        material.EWT.format("train"), material.REVIEWS.format("books"),
                                        material.AGENCY)),
        reason="newspaper and web text are not at hand: set WEFT_DATA (see `weft data list`)",
    ),
]  # fmt: skip
#: Labelled sentences, and words of product reviews (None: all).
SENTENCES, REVIEWS = 800, None


@pytest.fixture(scope="module")
def options():
    return RecipeOptions(progress=False)


@pytest.fixture(scope="module")
def texts(options):
    """One tagger for all genres: raw text of all of them."""
    return recipe.texts_of(options, material.newspaper(options, 0, SENTENCES), material.GENRES, REVIEWS)


@pytest.fixture(scope="module")
def tests(options):
    return {genre: material.web(options, genre, "dev") for genre in material.GENRES} | {
        "newspaper": material.newspaper(options, material.LEARN)
    }


@pytest.fixture(scope="module")
def tagger(texts):
    return flors(texts)


@pytest.fixture(scope="module")
def reports(texts, tests, tagger):
    return {genre: tried(tagger, texts.source, test) for genre, test in tests.items()}


@pytest.fixture(scope="module")
def others(texts, tests):
    taggers = {name: baseline(name, texts.source) for name in ("trigram HMM", "perceptron", "left-to-right SVM")}
    return {
        name: {genre: tried(tagger, texts.source, test) for genre, test in tests.items()}
        for name, tagger in taggers.items()
    }


def right(reports, genres=material.GENRES, unknown=False):
    """Which words of some genres are right, all or only unknown ones."""
    rows = [reports[genre].tags.right[reports[genre].unknown if unknown else slice(None)] for genre in genres]
    return np.concatenate(rows)


@pytest.mark.must_show(
    "flors", 4, weaker="without the hardest baseline, unknown words in the mean of genres, in domain by less than 1.5"
)
def test_flors_leads_in_every_genre_on_all_and_on_unknown_words(reports, others):
    for name, other in others.items():
        for genre in material.GENRES:
            for unknown in (False, True):
                ours, theirs = right(reports, [genre], unknown).mean(), right(other, [genre], unknown).mean()
                assert ours > theirs, (name, genre, unknown, ours, theirs)
        for unknown, least in ((False, 0.01), (True, 0.05)):
            ours, theirs = right(reports, unknown=unknown), right(other, unknown=unknown)
            assert ours.mean() - theirs.mean() >= least, (name, unknown, ours.mean(), theirs.mean())
            assert mcnemar(ours, theirs).p < 0.001, (name, unknown)


@pytest.mark.must_show(
    "flors", 4, weaker="without the hardest baseline, unknown words in the mean of genres, in domain by less than 1.5"
)
def test_the_gain_on_unknown_words_is_five_points_where_raw_text_is_large(reports, others):
    for name, other in others.items():
        for genre in ("reviews", "answers"):
            gain = right(reports, [genre], True).mean() - right(other, [genre], True).mean()
            assert gain >= 0.05, (name, genre, gain)


@pytest.mark.must_show(
    "flors", 4, weaker="without the hardest baseline, unknown words in the mean of genres, in domain by less than 1.5"
)
def test_the_gain_is_smaller_in_the_domain_of_the_labelled_text(reports, others):
    for name in ("perceptron", "left-to-right SVM"):
        inside = right(reports, ["newspaper"]).mean() - right(others[name], ["newspaper"]).mean()
        outside = right(reports).mean() - right(others[name]).mean()
        assert inside < outside, (name, inside, outside)
        assert inside < 0.015, (name, inside)


@pytest.mark.must_show("flors", 5)
def test_counts_of_neighbours_are_worth_three_points_on_unknown_words(texts, tests, reports):
    without = flors(texts, indicators=0)
    for genre in material.GENRES:
        other = tried(without, texts.source, tests[genre])
        unknown = reports[genre].unknown
        assert reports[genre].tags.right[unknown].mean() - other.tags.right[unknown].mean() >= 0.03, genre


@pytest.mark.must_show("flors", 5)
def test_half_the_indicators_are_nearly_as_good(texts, tests, reports):
    half = flors(texts, indicators=250)
    other = {genre: tried(half, texts.source, tests[genre]) for genre in material.GENRES}
    # Over all genres: a single one has 5,000 words, on which 0.3 points are no difference.
    assert abs(right(reports).mean() - right(other).mean()) <= 0.003


@pytest.mark.must_show("flors", 6)
def test_known_words_get_tags_that_they_never_had_and_never_from_the_hmm(reports, others):
    for genre in material.GENRES:
        assert reports[genre].tags.groups["unseen"].total().accuracy > 0.1, genre
        assert others["trigram HMM"][genre].tags.groups["unseen"].total().correct == 0


@pytest.mark.must_show("flors", 3, weaker="with 800 labelled sentences, where letters tell less than with 3,500")
def test_words_of_reviews_under_new_names_are_still_tagged_and_not_by_their_names(options, texts, tests, others):
    source, test = texts.source, tests["reviews"]
    raw = material.sentences_of(material.web(options, "reviews", "train")) + material.review_words(options, REVIEWS)
    own = Texts(source, raw, texts.source_raw)
    names = renamed_types(own, test, 0.3, 0, keep=2)[0]
    which = np.array([form.lower() in names for form in test.column("form")])
    renamed = Doc.from_words(with_names(material.sentences_of(test), names), xpos=material.sentences_of(test, "xpos"))
    after = tried(flors(Texts(source, with_names(raw, names), texts.source_raw)), source, renamed).tags.right[which]
    by_name = tried(baseline("left-to-right SVM", source), source, renamed).tags.right[which].mean()
    before = others["left-to-right SVM"]["reviews"].tags.right[which].mean()
    assert which.sum() > 150
    assert after.mean() > 0.65, after.mean()
    assert before - by_name > 0.3, (before, by_name)
    assert after.mean() - by_name > 0.25, (after.mean(), by_name)


@pytest.mark.must_show("flors", 3, weaker="with 800 labelled sentences, where letters tell less than with 3,500")
def test_new_names_that_keep_endings_cost_three_points_at_most_where_few_words_are_labelled(
    texts, tests, reports, others
):
    # The more is labelled, the more a known word's letters tell: the recorded run loses more, see its page.
    source, test = texts.source, tests["reviews"]
    by_name, old_names = baseline("left-to-right SVM", source), others["left-to-right SVM"]["reviews"].tags.right
    words, gold = material.sentences_of(test), material.sentences_of(test, "xpos")
    rows = []
    for names in renamed_types(texts, test, 0.3, 0, draws=3):
        which = np.array([form.lower() in names for form in test.column("form")])
        renamed = Doc.from_words(with_names(words, names), xpos=gold)
        adapted = flors(Texts(source, with_names(texts.target_raw, names), texts.source_raw))
        new, new_names = (tried(each, source, renamed).tags.right for each in (adapted, by_name))
        rows.append(np.stack([each[which] for each in (reports["reviews"].tags.right, new, old_names, new_names)]))
    before, after, before_names, after_names = np.concatenate(rows, axis=1).mean(axis=1)
    assert before - after <= 0.03, (before, after)
    assert before_names - after_names > 0.25, (before_names, after_names)


@pytest.mark.timing
@pytest.mark.must_show("flors", 7)
def test_ten_thousand_words_a_second_are_tagged(tagger, tests):
    docs = [tests[genre] for genre in material.GENRES]
    best = np.inf
    for _ in range(3):
        copies = [bare(doc) for doc in docs]
        started = time.process_time()
        tagger(copies)
        best = min(best, time.process_time() - started)
    assert sum(doc.n_words for doc in docs) / best >= 10_000

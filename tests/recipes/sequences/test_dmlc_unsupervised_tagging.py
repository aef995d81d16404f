"""Checks of the sheet of dmlc-unsupervised-tagging on corpora, in sizes that take seconds (1 to 5: tests/learn)."""

import resource
import time

import numpy as np
import pytest
from steps import steps_of

from weft.data import have
from weft.infer.chains.label_lists import LabelLists
from weft.learn.generative.hmm import observed_transitions
from weft.learn.label_cover.cover import cover_labels
from weft.learn.label_cover.references import exact_cover
from weft.recipes.framework import RecipeOptions
from weft.recipes.sequences.dmlc_unsupervised_tagging import data as material
from weft.recipes.sequences.dmlc_unsupervised_tagging import experiment as recipe
from weft.tasks.tagging.induce_tags import InducedTaggerSettings, induce

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not have(material.WSJ) or not have(material.BROWN),
        reason="the WSJ sample and the Brown corpus are not at hand: set WEFT_DATA (see `weft data list`)",
    ),
]


@pytest.fixture(scope="module")
def options():
    return RecipeOptions(progress=False)


@pytest.fixture(scope="module")
def sample(options):
    return material.newspaper(options)


def tag(problem, method):
    return induce(problem.lists, InducedTaggerSettings(objective=method)).tags


def accuracy(problem, tags):
    return 100 * problem.report(tags).accuracy


@pytest.mark.must_show(
    "dmlc-unsupervised-tagging", 6, weaker="on the words where it holds, and with a dictionary grown for one side alone"
)
def test_a_small_set_of_labels_lifts_em_by_five_points(sample):
    """24,000 words and the dictionary of the sample. The tagging has fewer labels, but not several times fewer: of the
    613 of the cover, most are forced by words with one tag."""
    text = material.first_words(zip(sample.words, sample.tags, strict=True), recipe.SMALL)
    problem = recipe.Problem.of(text, material.dictionary_of(sample))
    em, dmlc = tag(problem, "em"), tag(problem, "dmlc")
    assert accuracy(problem, dmlc) - accuracy(problem, em) >= 5.0
    labels = [int(observed_transitions(problem.lists, tags).sum()) for tags in (em, dmlc)]
    assert labels[0] >= 1.2 * labels[1], labels
    cover, exact = cover_labels(problem.lists), exact_cover(problem.lists)
    assert exact.optimal
    assert len(exact) <= len(cover) <= 1.12 * len(exact)
    assert cover.forced > 0.8 * len(exact)


@pytest.mark.must_show(
    "dmlc-unsupervised-tagging", 6, weaker="on the words where it holds, and with a dictionary grown for one side alone"
)
def test_with_as_many_unknown_words_as_in_the_paper_most_of_the_gain_is_kept(sample):
    _, rest = material.halves(sample)
    known = material.without_rare_words(material.dictionary_of(sample), rest, recipe.UNKNOWN[1], 0)
    problem = recipe.Problem.of(rest, known)
    assert 2.1 < recipe.ambiguity(problem) < 2.5
    assert accuracy(problem, tag(problem, "dmlc")) - accuracy(problem, tag(problem, "em")) >= 4.0


@pytest.mark.must_show(
    "dmlc-unsupervised-tagging", 6, weaker="on the words where it holds, and with a dictionary grown for one side alone"
)
def test_with_half_of_the_dictionary_the_gain_is_larger_once_unknown_words_have_tags_of_words_like_them(sample):
    """With all tags for every unknown word it is there, but small (see the page)."""
    half, rest = material.halves(sample)
    problem = recipe.Problem.of(rest, material.dictionary_of(half))
    em, dmlc = tag(problem, "em"), tag(problem, "dmlc")
    assert accuracy(problem, dmlc) > accuracy(problem, em)
    labels = [int(observed_transitions(problem.lists, tags).sum()) for tags in (em, dmlc)]
    assert labels[0] >= 1.3 * labels[1], labels
    wider = problem.grown()
    grown = induce(wider, InducedTaggerSettings()).tags
    assert accuracy(problem, grown) - accuracy(problem, em) >= 10.0
    alone = induce(wider, InducedTaggerSettings(objective="em")).tags
    assert accuracy(problem, grown) - accuracy(problem, alone) >= 3.0


def replicated(lists, times):
    """A text so many times over."""
    size = int(lists.offsets[-1])
    offsets = np.concatenate([[0], *(lists.offsets[1:] + k * size for k in range(times))])
    return LabelLists(lists.begin, lists.listed, np.tile(lists.types, times), offsets, lists.n_labels)


@pytest.mark.must_show("dmlc-unsupervised-tagging", 7)
def test_eight_times_the_words_take_nine_times_the_steps_at_most(options):
    text = material.brown(options, 1_000)
    some = recipe.Problem.of(text, material.dictionary_of(text)).lists
    steps = {times: steps_of(lambda times=times: cover_labels(replicated(some, times))) for times in (8, 64)}
    assert steps[64] <= 9 * steps[8], steps


@pytest.mark.timing
@pytest.mark.must_show("dmlc-unsupervised-tagging", 7)
def test_eight_million_words_take_nine_times_as_long_as_one_million_at_most_and_one_takes_seconds(options):
    text = material.brown(options, 125_000)
    some = recipe.Problem.of(text, material.dictionary_of(text)).lists
    seconds = {8: np.inf, 64: np.inf}
    texts = {times: replicated(some, times) for times in seconds}
    assert len(texts[8]) >= 1_000_000
    assert len(texts[64]) >= 8_000_000
    for _ in range(2):
        for times, lists in texts.items():
            started = time.process_time()
            cover_labels(lists)
            seconds[times] = min(seconds[times], time.process_time() - started)
    assert seconds[8] <= 10
    assert seconds[64] <= 9 * seconds[8], seconds


@pytest.mark.must_show("dmlc-unsupervised-tagging", 7)
@pytest.mark.skipif(not have(material.UD.format("Latin-UDante/train")), reason="Latin-UDante is not at hand")
def test_more_than_a_thousand_tags_fit_in_memory(options):
    text = material.treebank(options, "Latin-UDante/train", "upos+feats", 22_000)
    half, _ = material.halves(text)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    problem = recipe.Problem.of(text, material.dictionary_of(half))  # words of the other half may have all tags
    assert len(problem.dictionary.tags) > 1_000
    cover = cover_labels(problem.lists)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert np.array_equal(observed_transitions(problem.lists, cover.tags), cover.labels)
    assert grown < 1_000_000, grown  # kilobytes

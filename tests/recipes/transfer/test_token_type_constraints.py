"""Checks of the sheet of token-type-constraints on corpora, in sizes that take seconds (1 to 4: tests/learn)."""

import numpy as np
import pytest
from steps import steps_of

from weft.data import have
from weft.evaluate.labels.dictionaries import correction_curve, dictionary_report
from weft.infer.chains.chain import Chain
from weft.infer.chains.label_lists import LabelLists
from weft.recipes.corpora import weak_tags as material
from weft.recipes.framework import RecipeOptions
from weft.recipes.record import cpu_seconds
from weft.recipes.transfer.token_type_constraints import experiment as recipe
from weft.text import Doc

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not have(material.DICTIONARY.format("de")) or not have(material.TESTAMENT.format("de")),
        reason="dictionaries and bitext are not at hand: set WEFT_DATA (see `weft data list`)",
    ),
]


@pytest.fixture(scope="module")
def options():
    return RecipeOptions(progress=False)


@pytest.fixture(scope="module")
def german(options):
    """German with tags projected over a small bitext, the dictionary, and held-out text."""
    bitext = material.german_bitext(options, 300, 900, 12_000)
    text = bitext.projected().sample(8_000, 0)
    return text, material.dictionary(options, "de"), material.tagged(options, material.GERMAN_DEV, 6_000)


@pytest.fixture(scope="module")
def coupled(german):
    text, wik, _ = german
    return recipe.train(text, wik)


def accuracy(tagger, test):
    return 100 * recipe.evaluate(tagger, test).accuracy


@pytest.mark.must_show(
    "token-type-constraints", 5, weaker="without clusters, and without type-only models above token-only ones"
)
def test_coupled_models_lead_and_token_constraints_alone_come_last(german, coupled):
    text, wik, dev = german
    crf = accuracy(coupled, dev)
    hmm = accuracy(recipe.train(text, wik, "hmm", starts=1), dev)
    types = accuracy(recipe.train(text.untagged(), wik, "hmm", starts=2), dev)
    tokens = accuracy(recipe.train(text, None, "crf", iterations=30), dev)
    tokens_hmm = accuracy(recipe.train(text, None, "hmm", starts=1), dev)
    assert crf > hmm >= types, (crf, hmm, types)
    assert crf - tokens >= 3.0, (crf, tokens)
    assert tokens_hmm < tokens + 1.0, (tokens_hmm, tokens)
    assert tokens_hmm == min(crf, hmm, types, tokens_hmm)


@pytest.mark.must_show("token-type-constraints", 6, weaker="a small text, on which the three rules lie within a point")
def test_the_dictionary_wins_conflicts_rather_than_the_projection(german, coupled):
    text, wik, dev = german
    scores = {rule: accuracy(recipe.train(text, wik, conflict=rule), dev) for rule in ("union", "token")}
    scores["type"] = accuracy(coupled, dev)
    # The three lie within a point of each other here; a rule is not below the next one by more than noise.
    assert scores["type"] >= scores["union"] - 0.3, scores
    assert scores["union"] >= scores["token"] - 0.3, scores
    assert scores["type"] >= scores["token"], scores


@pytest.mark.must_show("token-type-constraints", 7)
@pytest.mark.parametrize(
    ("code", "coverage", "ambiguity", "survives"),
    [("da", 0.71, 1.44, 0.954), ("de", 0.82, 1.30, 0.958), ("el", 0.70, 1.34, 0.928), ("es", 0.92, 1.44, 0.940),
     ("nl", 0.87, 1.47, 0.970), ("pt", 0.76, 1.53, 0.938), ("sv", 0.90, 1.54, 0.947)],
)  # fmt: skip
def test_reports_of_dictionaries_are_those_measured_before(options, code, coverage, ambiguity, survives):
    text = material.tagged(options, recipe.TREEBANKS[code])
    dictionary = material.dictionary(options, code)
    report = dictionary_report(dictionary, text.flat_words, text.flat_tags)
    assert report.coverage == pytest.approx(coverage, abs=0.02)
    assert report.ambiguity == pytest.approx(ambiguity, abs=0.03)
    assert report.pruning_accuracy == pytest.approx(survives, abs=0.006)
    curve = [value for _, value in correction_curve(dictionary, text.flat_words, text.flat_tags, range(0, 1001, 50))]
    assert curve == sorted(curve)
    assert curve[0] == pytest.approx(report.pruning_accuracy)
    assert curve[5] > 0.97


@pytest.mark.must_show("token-type-constraints", 8, weaker="steps of kernels alone, without making lists of tags")
def test_the_pruned_search_takes_a_third_of_the_steps_of_that_over_twelve_tags(options, coupled):
    test = material.tagged(options, material.GERMAN_TEST, 500)
    full, pruned, tags = recipe.decoding_times(coupled, test, repeats=1, cost=steps_of)
    assert tags < 4
    assert full >= 3 * pruned, (full, pruned)


@pytest.mark.timing
@pytest.mark.must_show("token-type-constraints", 8)
def test_the_pruned_search_is_three_times_as_fast_as_that_over_twelve_tags(options, coupled):
    doc = Doc.from_words(material.tagged(options, material.GERMAN_TEST).words)
    chain, transitions = coupled.scorer.chain([doc]), coupled.scorer.transitions
    mask, types = coupled.lattice([doc])
    assert mask.sum(axis=1)[types].mean() < 4
    table = np.empty(mask.shape)
    table[types] = chain.node
    searches = (
        lambda: Chain(table[types], transitions, chain.offsets).best(),
        lambda: LabelLists.from_types(mask, types, chain.offsets).best_labels(table, transitions),
    )
    full, pruned = np.min([[cpu_seconds(search) for search in searches] for _ in range(40)], axis=0)
    assert full >= 3 * pruned, (full, pruned)


def test_projected_tags_cover_about_half_of_the_words_and_agree_with_the_dictionary(german):
    text, wik, _ = german
    there = [(word, tag) for word, tag in zip(text.flat_words, text.flat_tags, strict=True) if tag]
    assert 0.3 < len(there) / text.n_words < 0.7
    agree = [tag in wik.tags_of(word) for word, tag in there if wik.tags_of(word)]
    assert sum(agree) / len(agree) > 0.85


def test_corrupted_tags_are_dropped_and_wrong_in_the_shares_asked_for(options):
    gold = material.tagged(options, material.PORTUGUESE.format("train"), 5_000)
    text = material.corrupted(gold, 0.5, 0.2, seed=1)
    pairs = [(a, b) for a, b in zip(gold.flat_tags, text.flat_tags, strict=True) if b]
    assert 0.45 < len(pairs) / gold.n_words < 0.55
    assert 0.02 < sum(a != b for a, b in pairs) / len(pairs) < 0.35
    wik = material.dictionary(options, "pt")
    assert 0.35 < len(material.without_types(wik, 0.6, 0)) / len(wik) < 0.45

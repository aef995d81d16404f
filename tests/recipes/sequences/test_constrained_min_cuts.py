"""Constrained cuts against the CRF that they start from: citations, noun phrases, generated utterances."""

from __future__ import annotations

import numpy as np
import pytest

from weft.data import have
from weft.recipes.framework import RecipeOptions
from weft.recipes.sequences import constrained_min_cuts as recipe


@pytest.mark.corpus
@pytest.mark.skipif(not have(recipe.CORA[0]), reason="Cora references are not at hand: set WEFT_DATA")
@pytest.mark.must_show(
    "constrained-min-cuts", 6, weaker="three draws at one bias; the recorded run has ten with the bias chosen"
)
def test_cuts_label_citations_better_than_the_crf_by_two_points():
    found = recipe.compare(recipe.citations(RecipeOptions()), 40, 80, range(3), betas=(1.0,), choose=False)
    gains = found.gains("cuts, beta 1")
    assert gains.mean() >= 2, found.rows
    assert (gains > 0).all(), found.rows


@pytest.mark.corpus
@pytest.mark.skipif(not have(recipe.CHUNKS), reason="CoNLL-2000 is not at hand: set WEFT_DATA")
@pytest.mark.must_show(
    "constrained-min-cuts", 6, weaker="three draws at one bias; the recorded run has ten with the bias chosen"
)
def test_cuts_gain_nothing_to_speak_of_in_noun_phrases():
    found = recipe.compare(recipe.noun_phrases(RecipeOptions(), 400), 40, 80, range(2), betas=(1.0,), choose=False)
    assert found.gains("cuts, beta 1").mean() < 1, found.rows


@pytest.mark.must_show("constrained-min-cuts", 7)
def test_gains_are_large_where_parts_fall_into_clusters_and_vanish_where_they_overlap():
    gains = {}
    for spread in (0.02, 1.5):
        scores = recipe.compare(recipe.clusters(spread, 80), 10, 50, range(2), betas=(0.3,), choose=False)
        gains[spread] = scores.gains("cuts, beta 0.3").mean()
    assert gains[0.02] >= 10, gains
    assert gains[1.5] < 2, gains


def test_utterances_have_the_same_numbers_under_a_seed_and_keep_their_shares():
    one, two = (recipe.utterances(0.3, 30, 5) for _ in range(2))
    assert one.docs[3].column("f30") == two.docs[3].column("f30")
    assert {value for doc in one.docs for value in doc.column("f0")} == {"0.000", "1.000"}
    labels = np.array([int(label) for doc in one.docs for label in doc.column("xpos")])
    assert 0.3 < labels.mean() < 0.7

"""Checks of the sheet of mira-dependency-parsing, in the sizes of a minute.

1 stands in tests/infer, 2 in tests/learn, 7 in tests/recipes/recorded.
"""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
from steps import steps_of

from weft.data import have
from weft.recipes.corpora.parsing import WSJ, wsj
from weft.recipes.framework import RecipeOptions
from weft.recipes.parsing import mira_dependency_parsing as recipe

needs_wsj = pytest.mark.skipif(not have(WSJ), reason="the newspaper sample is not at hand: set WEFT_DATA")
BOSQUE = "treebanks/ud/Portuguese-Bosque/train.conllu.gz"
CZECH = "treebanks/ud/Czech-FicTree/dev.conllu.gz"
SIZE = recipe.Size(sentences=350, test_sentences=300, epochs=3, crossing_sentences=500)


@cache
def sample():
    """Newspaper text with gold tags; tests that compare parsers need no predicted ones."""
    return wsj(RecipeOptions(), 500, 1, 300)


@cache
def uas(code="wsj", without=(), **options):
    treebank = sample() if code == "wsj" else recipe.treebank_of(RecipeOptions(), code, SIZE)
    return recipe.report_on(recipe.learn(treebank, SIZE.epochs, 0, without, **options), treebank).scores["UAS"]


@pytest.mark.corpus
@needs_wsj
@pytest.mark.must_show(
    "mira-dependency-parsing", 3, weaker="small treebanks, on which 0.3 points between learners are allowed as noise"
)
@pytest.mark.skipif(not have(BOSQUE) or not have(CZECH), reason="UD treebanks are not at hand: set WEFT_DATA")
def test_mira_is_at_least_as_good_as_the_perceptron_and_five_trees_as_one_on_the_mean_of_three_treebanks():
    codes = ("wsj", "cze", "por")
    five, one, perceptron = (
        np.array([uas(code, **options) for code in codes])
        for options in ({"k": 5}, {"k": 1}, {"learner": "perceptron"})
    )
    assert five.mean() >= one.mean() - 0.3, (five, one)
    assert one.mean() >= perceptron.mean() - 0.3, (one, perceptron)
    assert (five >= perceptron - 0.5).all(), (five, perceptron)


@pytest.mark.corpus
@needs_wsj
@pytest.mark.must_show(
    "mira-dependency-parsing", 3, weaker="small treebanks, on which 0.3 points between learners are allowed as noise"
)
def test_more_than_ten_trees_bring_nothing_and_steps_grow_no_faster_than_their_number():
    small = wsj(RecipeOptions(), 250, 1, 300)
    found = {k: recipe.report_on(recipe.learn(small, 2, k=k), small).scores["UAS"] for k in (10, 20)}
    assert found[20] - found[10] < 0.6, found
    few = wsj(RecipeOptions(), 4, 1, 1)
    steps = {k: steps_of(lambda k=k: recipe.learn(few, 1, k=k)) for k in (2, 20)}
    assert steps[20] < 12 * steps[2], steps


@pytest.mark.corpus
@needs_wsj
@pytest.mark.must_show(
    "mira-dependency-parsing", 3, weaker="small treebanks, on which 0.3 points between learners are allowed as noise"
)
@pytest.mark.timing
def test_time_grows_no_faster_than_the_number_of_trees():
    recipe.learn(wsj(RecipeOptions(), 20, 1, 1), 1, k=2)  # compiles, which is no time of training
    small = wsj(RecipeOptions(), 250, 1, 300)
    seconds = {}
    for k in (2, 20):
        started = time.process_time()
        recipe.report_on(recipe.learn(small, 2, k=k), small)
        seconds[k] = time.process_time() - started
    assert seconds[20] < 12 * seconds[2], seconds


@pytest.mark.corpus
@needs_wsj
@pytest.mark.must_show("mira-dependency-parsing", 4)
def test_features_between_and_around_are_worth_several_points():
    whole = uas(k=5)
    between, around, both = (uas(k=5, without=parts) for parts in (("between",), ("around",), ("between", "around")))
    assert whole - both > 1, (whole, both)
    assert whole > between, (whole, between)
    assert whole > around, (whole, around)


@pytest.mark.corpus
@needs_wsj
@pytest.mark.must_show("mira-dependency-parsing", 5)
def test_averaged_weights_beat_the_last_ones():
    assert uas(k=5) > uas(k=5, average=False)


@pytest.mark.must_show("mira-dependency-parsing", 5)
def test_steps_grow_as_the_square_of_the_length_in_features_and_as_its_cube_in_the_chart():
    found = recipe.growth((20, 40, 80), rounds=1, cost=steps_of)
    assert 1.6 < found.slope("features") < 2.4, found
    assert 2.4 < found.slope("chart") < 3.6, found


@pytest.mark.timing
@pytest.mark.must_show("mira-dependency-parsing", 5)
def test_time_grows_as_the_square_of_the_length_in_features_and_as_its_cube_in_the_chart():
    found = recipe.growth((200, 400, 800), rounds=7)
    assert 1.6 < found.slope("features") < 2.4, found
    assert 2.4 < found.slope("chart") < 3.6, found


@pytest.mark.corpus
@needs_wsj
@pytest.mark.must_show("mira-dependency-parsing", 6)
def test_a_parser_that_sees_anothers_heads_beats_both():
    treebank = sample()
    guided, guide = recipe.with_guide(treebank, 3, 3)
    stacked = recipe.report_on(recipe.learn(guided, 3, k=5, guide=recipe.KEY), guided).scores["UAS"]
    alone = recipe.report_on(guide, treebank).scores["UAS"]
    assert stacked > uas(k=5), (stacked, uas(k=5))
    assert stacked > alone, (stacked, alone)


@pytest.mark.corpus
@needs_wsj
def test_constraints_on_single_heads_learn_as_well_as_those_on_trees():
    treebank = wsj(RecipeOptions(), 150, 1, 200)
    trees, heads = (
        recipe.report_on(recipe.learn(treebank, 2, **options), treebank).scores["UAS"]
        for options in ({"k": 5}, {"constraints": "heads", "k": 2, "cap": 0.1})
    )
    assert heads > trees - 1, (heads, trees)

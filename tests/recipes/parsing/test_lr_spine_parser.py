"""Checks 5 to 7 of the sheet of lr-spine-parser, in sizes that take seconds (1 to 4: tests/infer/transitions)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from steps import steps_of

from weft.data import find, have
from weft.formats import read
from weft.recipes.corpora.parsing import (
    PP,
    WSJ,
    WSJ_FIELDS,
    Treebank,
    attachment_sentences,
    attachments,
    frequent,
    train,
    trees,
    with_predicted_tags,
    wsj,
)
from weft.recipes.framework import RecipeOptions
from weft.recipes.parsing import lr_spine_parser as recipe
from weft.text import Corpus

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not (have(WSJ) and have(f"{PP}/training.gz")),
        reason="the newspaper samples are not at hand: set WEFT_DATA (see `weft data list`)",
    ),
]


@pytest.fixture(scope="module")
def newspaper() -> Treebank:
    """2,000 sentences to learn from; the held-out sentences stand in for test."""
    treebank = wsj(RecipeOptions(), train=2000, dev=1, test=1)
    held_out = read(find(WSJ), format="columns", fields=WSJ_FIELDS).slice_sentences(3000, 3400)
    return replace(treebank, test=list(held_out))


@pytest.mark.must_show("lr-spine-parser", 6)
def test_two_moves_are_right_in_two_of_five_configurations_and_three_places_are_open(newspaper):
    choices = recipe.gold_paths(trees(newspaper.train, 1000))
    assert choices.configurations > 30_000
    assert 0.35 < choices.two_right < 0.45
    assert 2.5 < choices.places < 3.5


@pytest.fixture(scope="module")
def runs(newspaper):
    """Two parsers of two systems."""
    rows = ("arc-standard", "full")
    return {row: [train(newspaper, *recipe.ROWS[row][:2], 4, seed) for seed in (0, 1)] for row in rows}


@pytest.mark.must_show("lr-spine-parser", 5, weaker="the full parser against arc-standard alone, with two seeds")
@pytest.mark.must_show("lr-spine-parser", 6)
def test_the_full_parser_is_better_than_arc_standard_and_takes_less_than_three_times_the_steps(newspaper, runs):
    uas = {row: np.mean([run.scores.uas for run in own]) for row, own in runs.items()}
    assert uas["full"] > uas["arc-standard"]
    few = list(Corpus(newspaper.test).take_sentences(6))
    steps = {row: steps_of(lambda parser=own[0].parser: parser(few)) for row, own in runs.items()}
    assert steps["full"] < 3 * steps["arc-standard"], steps


@pytest.mark.timing
@pytest.mark.must_show("lr-spine-parser", 6)
def test_the_full_parser_is_less_than_three_times_slower_than_arc_standard(newspaper, runs):
    speeds = {row: recipe.words_a_second(own[0].parser, newspaper.test) for row, own in runs.items()}
    assert speeds["arc-standard"] / speeds["full"] < 3


@pytest.mark.must_show("lr-spine-parser", 7)
def test_an_attachment_that_the_last_noun_decides_is_found_only_by_waiting():
    learned = frequent(attachments(find(f"{PP}/training.gz")), recipe.LEAST_SEEN)
    asked = recipe.question(learned, attachments(find(f"{PP}/devset")))
    shares = {
        row: recipe.preposition_accuracy(asked, *recipe.ROWS[row][:2], 4)
        for row in ("arc-standard", "arc-eager", "full")
    }
    assert 0.5 < asked.majority < 0.6
    assert shares["full"] > 0.95
    assert max(shares["arc-standard"], shares["arc-eager"]) < asked.majority + 0.08


def test_generated_sentences_are_trees_with_one_answer_a_noun():
    quadruples = attachments(find(f"{PP}/devset"))
    assert len(quadruples) == 4039
    docs, at_verb = attachment_sentences(quadruples[:500])
    answers: dict[str, bool] = {}
    for sentence, verb in zip(docs[0].sentences, at_verb, strict=True):
        assert answers.setdefault(sentence.words[8].form, verb) == verb
        assert sentence.words[4].deprel == ("obl" if verb else "nmod")
    assert len(trees(docs)) == 500
    assert 0.4 < np.mean(at_verb) < 0.6


def test_predicted_tags_come_from_taggers_that_did_not_see_the_sentence():
    gold = wsj(RecipeOptions(), train=80, dev=5, test=20)
    tagged, accuracy = with_predicted_tags(gold, folds=4)
    assert 0.5 < accuracy < 1.0
    before = [tag for doc in gold.train for tag in doc.column("xpos")]
    after = [tag for doc in tagged.train for tag in doc.column("xpos")]
    assert len(before) == len(after)
    assert 0.5 < np.mean([one == other for one, other in zip(before, after, strict=True)]) < 1.0
    assert [len(heads) for heads in trees(tagged.train)] == [len(heads) for heads in trees(gold.train)]


def test_the_recipe_gives_all_rows():
    size = recipe.Size(("wsj",), 60, 10, 30, 1, 1, predicted_tags=False, attachment_epochs=1)
    options = RecipeOptions(quick=True)
    result = recipe.run_size(options, size)
    assert options.files == [WSJ, f"{PP}/training.gz", f"{PP}/test"]
    assert [row.name for row in result.tables[0].rows] == list(recipe.ROWS)
    assert result.tables[0].rows[0].paper["UAS"] == 90.02
    assert [row.name for row in result.tables[1].rows] == ["arc-standard", "arc-eager", "full", "majority"]

"""Checks of the sheet of scl-tagging on newspaper and reviews, in sizes that take seconds (others: tests/tasks)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from weft.data import have
from weft.evaluate.tagging import TagReport
from weft.recipes import adaptation_material as material
from weft.recipes import scl_tagging as recipe
from weft.recipes.framework import RecipeOptions
from weft.tasks.scl import SCLTagger
from weft.tasks.scl_projection import ProjectionSettings, TokenProjection
from weft.text.doc import Doc

NEEDED = (material.SAMPLE, material.NEWSPAPER.format("train"), material.EWT.format("train"))
pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not all(map(have, NEEDED)), reason="newspaper and web text are not at hand: set WEFT_DATA (`weft data list`)"
    ),
]
SOURCE, WORDS = 250, 25_000


@cache
def reviews() -> recipe.Target:
    """Reviews with a projection of little raw text, judged on their dev part."""
    options = RecipeOptions()
    source = [Doc.of_words(material.newspaper_words(options))]
    raw = material.sentences_of(material.web(options, "reviews", "train")) + material.review_words(options, 200_000)
    settings = ProjectionSettings(words=WORDS, pivot_count=100)
    theta = TokenProjection.learn([source, [Doc.of_words(raw)]], settings)
    dev = material.web(options, "reviews", "dev")
    return recipe.Target("reviews", dev, material.newspaper(options, 0, SOURCE), "xpos", {recipe.SCL: theta})


@cache
def trained(method: str) -> tuple[SCLTagger, TagReport]:
    target = reviews()
    tagger = recipe.learn([target.source], target, method, epochs=4)
    return tagger, recipe.tagged(tagger, target.test, "xpos", set(target.source.column("form")))


@pytest.mark.must_show("scl-tagging", 5)
def test_with_few_source_sentences_scl_is_above_the_supervised_tagger_on_all_and_on_unknown_words() -> None:
    (_, plain), (_, adapted) = trained(recipe.SUPERVISED), trained(recipe.SCL)
    assert adapted.accuracy > plain.accuracy
    assert adapted.groups["unknown"].total().accuracy > plain.groups["unknown"].total().accuracy


@pytest.mark.must_show("scl-tagging", 6)
def test_source_words_nearest_to_nouns_of_the_target_are_nouns_more_often_than_by_chance() -> None:
    target = reviews()
    theta = target.projections[recipe.SCL]
    assert theta is not None
    tags = recipe.main_tags(material.newspaper(RecipeOptions(), 0, material.LEARN), "xpos")
    gold = recipe.main_tags(target.test, "xpos")
    open_class = [word for word, tag in tags.items() if tag in ("NN", "NNS", "JJ", "VB", "VBD", "VBN", "VBG", "RB")]
    known, _ = theta.of_words(open_class)
    for wanted in (("NN", "NNS"), ("VB", "VBD", "VBN", "VBG")):
        words = theta.of_words([word for word, tag in gold.items() if tag in wanted])[0][:60]
        nearest = [tags[found] for word in words for found, _ in theta.similar(word, known, 10)]
        chance = np.mean([tags[word] in wanted for word in known])
        assert np.mean([tag in wanted for tag in nearest]) > chance + 0.03


@pytest.mark.must_show("scl-tagging", 7)
def test_tags_of_source_taggers_help_a_tagger_of_fifty_annotated_reviews() -> None:
    target = reviews()
    pool = material.web(RecipeOptions(), "reviews", "train", most=50)
    known = set(pool.column("form"))
    found = {}
    for name, source in (
        ("nosource", None),
        ("supervised", trained(recipe.SUPERVISED)[0]),
        ("SCL", trained(recipe.SCL)[0]),
    ):
        tagger = recipe.learn([pool], target, "", source=source)
        found[name] = recipe.tagged(tagger, target.test, "xpos", known).accuracy
    assert found["supervised"] > found["nosource"]
    assert found["SCL"] >= found["supervised"] - 0.005  # which of the two is ahead is a matter of a few words here
    assert found["SCL"] > found["nosource"]

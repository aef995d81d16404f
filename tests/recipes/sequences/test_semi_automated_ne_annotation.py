"""Checks of the sheet of semi-automated-ne-annotation on gene mentions, in sizes that take seconds."""

from __future__ import annotations

import pytest

from weft.data import have
from weft.recipes.framework import RecipeOptions
from weft.recipes.sequences.semi_automated_ne_annotation import experiment as recipe
from weft.recipes.sequences.semi_automated_ne_annotation.data import FOLDER, Sentence, gene_document, gene_sentences

pytestmark = [
    pytest.mark.corpus,
    pytest.mark.skipif(
        not have(f"{FOLDER}/train.tsv.gz"), reason="BioCreative II gene mentions are not at hand: set WEFT_DATA"
    ),
]


@pytest.fixture(scope="module")
def sentences():
    return gene_sentences(RecipeOptions(), "train")


@pytest.fixture(scope="module")
def taggers(sentences):
    return {ratio: recipe.train(sentences[:1500], ratio, epochs=3) for ratio in (1.0, 5.0, 20.0)}


@pytest.mark.must_show("semi-automated-ne-annotation", 3)
def test_recall_rises_and_precision_falls_with_the_cost_of_a_miss(sentences, taggers):
    held_out = sentences[11_500:]
    scores = [recipe.scored(recipe.ask([tagger], held_out), held_out).total() for tagger in taggers.values()]
    assert scores[0].recall + 0.1 < scores[1].recall < scores[2].recall
    assert scores[0].precision > scores[1].precision > scores[2].precision


@pytest.mark.must_show("semi-automated-ne-annotation", 3)
def test_recall_of_88_is_within_reach_of_one_labelling_where_a_balanced_tagger_has_80(sentences):
    held_out = sentences[12_000:] + gene_sentences(RecipeOptions(), "dev")
    keen, balanced = (recipe.train(sentences[:6000], miss, epochs) for miss, epochs in ((20.0, 6), (1.0, 3)))
    one, two = (recipe.scored(recipe.ask([keen], held_out, top), held_out).total() for top in (1, 2))
    assert one.recall >= 0.88
    assert one.system / len(held_out) < 2.0
    assert two.recall >= one.recall + 0.02
    assert recipe.scored(recipe.ask([balanced], held_out), held_out).total().recall == pytest.approx(0.8, abs=0.05)


@pytest.mark.must_show("semi-automated-ne-annotation", 4)
def test_two_taggers_find_at_least_what_each_finds(sentences, taggers):
    held_out = sentences[11_500:]
    second = recipe.train(sentences[1500:2500], 5.0, epochs=3)
    union = recipe.ask([taggers[5.0], second], held_out, top=2)
    recall = recipe.scored(union, held_out).total().recall
    for tagger in (taggers[5.0], second):
        for top in (1, 2):
            assert recall >= recipe.scored(recipe.ask([tagger], held_out, top), held_out).total().recall
    _, decisions, _ = recipe.filtered(held_out, union)
    assert 1.0 < decisions / len(held_out) < 6.0


@pytest.mark.must_show("semi-automated-ne-annotation", 5)
def test_filtered_sentences_have_the_f_that_recall_allows(sentences, taggers):
    second = sentences[6000:7000]
    asked = recipe.ask([taggers[20.0]], second)
    recall = recipe.scored(asked, second).total().recall
    _, _, after = recipe.filtered(second, asked)
    assert after.total().precision > 0.99  # two alternatives of one mention, side by side, count once
    assert after.total().f1 == pytest.approx(recipe.filtered_f1(recall), abs=0.005)


@pytest.mark.must_show(
    "semi-automated-ne-annotation",
    6,
    weaker="only that answers help at all; the recorded run has the sentences by hand",
)
def test_answers_make_a_better_tagger(sentences, taggers):
    first, second, test = sentences[:1500], sentences[6000:7500], sentences[11_500:]
    left, _, _ = recipe.filtered(second, recipe.ask([taggers[20.0]], second, top=2))
    with_answers = recipe.train(first + left, epochs=3)
    before = recipe.scored(recipe.ask([taggers[1.0]], test), test).total().f1
    after = recipe.scored(recipe.ask([with_answers], test), test).total().f1
    assert after > before


def test_alternatives_are_found_for_nearly_all_sentences(sentences):
    assert len(sentences) == 12_500
    assert sum(len(sentence.alternatives) for sentence in sentences) > 11_500
    test = gene_sentences(RecipeOptions(), "test")
    assert sum(len(sentence.alternatives) for sentence in test) > 4_500
    doc = gene_document([Sentence(("a", "b"), ((0, 1),), ((0, 2),))])
    assert len(doc.spans["entities"]) == len(doc.spans["alternatives"]) == 1

"""Checks of the sheet of hard-domain-adaptation in the sizes of a minute (1 and 2: tests/learn, tests/tasks)."""

from __future__ import annotations

import pytest

from weft.data import have
from weft.evaluate.domains import FOLLOWS, NOUN_NOUN
from weft.recipes import domain_material as material
from weft.recipes import hard_domain_adaptation as recipe
from weft.recipes.framework import RecipeOptions

SIZE = recipe.Size(reduced=300, full=900, unlabelled=500, asked=400, made_up=600, made_up_asked=350, text=2500)


def needs(*files):
    missing = [file for file in files if not have(file)]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)}: not at hand, set WEFT_DATA")


ewt = [pytest.mark.corpus, needs(material.EWT.format("train"), material.EWT.format("dev"), material.EWT.format("test"))]


def marked(marks):
    def apply(test):
        for mark in marks:
            test = mark(test)
        return test

    return apply


@pytest.fixture(scope="module")
def split_b():
    pair = recipe.split_b(RecipeOptions(), SIZE)
    return pair, recipe.train(pair)


@marked(ewt)
@pytest.mark.must_show("hard-domain-adaptation", 3)
def test_classes_of_words_reduce_the_gap_where_only_words_and_constructions_shift():
    pair = recipe.split_a(RecipeOptions(), SIZE)
    base = recipe.train(pair)
    (found,) = recipe.compare(base, {"F3": recipe.train(pair, "F3")})
    assert found.difference > 0
    assert found.p < 0.05


@marked(ewt)
@pytest.mark.must_show("hard-domain-adaptation", 3)
def test_a_change_of_guideline_is_put_down_to_nouns_and_closed_by_the_oracle_only(split_b):
    pair, base = split_b
    assert base.uas[0] - base.uas[1] > 3
    found = recipe.diagnosis(pair, base)
    nouns = found.tables["nouns"]
    assert nouns.share(NOUN_NOUN) > 0.5
    assert nouns.share(NOUN_NOUN) + nouns.share(FOLLOWS) >= 0.7
    assert any(each.left in ("NOUN", "PROPN") and each.right in ("NOUN", "PROPN") for each in found.guidelines)
    oracle = recipe.train(pair, "oracle")
    assert oracle.uas[1] > base.uas[0]
    runs = {name: recipe.train(pair, name) for name in ("F3", "T2")}
    compared = recipe.compare(base, runs)
    assert not any(each.helps for each in compared)

"""Checks of the sheet of posterior-sparsity-grammar-induction on treebanks, in the sizes of a minute (1: tests/infer
and tests/learn, 2 to 5 and 7: tests/learn)."""

from __future__ import annotations

import numpy as np
import pytest

from weft.data import have
from weft.recipes.framework import RecipeOptions
from weft.recipes.transfer.posterior_sparsity_grammar_induction import experiment as recipe
from weft.recipes.transfer.posterior_sparsity_grammar_induction.data import FUNCTION, LANGUAGES, OWN, file_of, sentences

#: Six languages of the data plan, two hundred sentences of each.
SIZE = recipe.Size(
    languages=("en", "es", "tr", "pt", "nl", "eu"), models=("dmv",), methods=("EM", "DD", "PR-AS"), train=200, test=200,
    iterations=25,
)  # fmt: skip
FILES = [file_of(path) for code in SIZE.languages for path in (LANGUAGES[code].train, LANGUAGES[code].test) if path]
needs_treebanks = pytest.mark.skipif(
    not all(map(have, FILES)), reason="treebanks of six languages are not at hand: set WEFT_DATA (see `weft data list`)"
)


@pytest.fixture(scope="module")
def found():
    return recipe.compare(recipe.material(RecipeOptions(), SIZE), SIZE)


@needs_treebanks
@pytest.mark.corpus
@pytest.mark.must_show("posterior-sparsity-grammar-induction", 6)
def test_sparse_posteriors_are_three_points_above_em_in_the_mean(found):
    gains = found.gains("dmv", "PR-AS", "EM", SIZE.languages, (OWN, FUNCTION))
    assert gains.mean() >= 3
    assert (gains > 0).sum() >= len(SIZE.languages) - 2


@needs_treebanks
@pytest.mark.corpus
@pytest.mark.must_show("posterior-sparsity-grammar-induction", 6)
def test_a_prior_on_parameters_gains_less_than_sparse_posteriors_and_no_less_than_nothing(found):
    of_prior = found.gains("dmv", "DD", "EM", SIZE.languages, (OWN, FUNCTION))
    of_posteriors = found.gains("dmv", "PR-AS", "EM", SIZE.languages, (OWN, FUNCTION))
    assert of_posteriors.mean() > of_prior.mean() >= 0


@needs_treebanks
@pytest.mark.corpus
def test_sentences_are_short_without_punctuation_and_have_trees_in_both_conventions():
    own = sentences(RecipeOptions(), "en", "test")
    assert all(3 <= len(tags) <= 10 for tags in own.tags)
    assert not {tag for tags in own.tags for tag in tags} & {".", "``", "''"}
    assert own.heads.keys() == {OWN, FUNCTION}
    for name in (OWN, FUNCTION):
        assert [len(heads) for heads in own.heads[name]] == [len(tags) for tags in own.tags]
    # Where adpositions are heads, they have dependents; in Universal Dependencies hardly ever.
    of = {}
    for name in (OWN, FUNCTION):
        heads = [tags[h - 1] for tags, tree in zip(own.tags, own.heads[name], strict=True) for h in tree.tolist() if h]
        of[name] = heads.count("IN") / len(heads)
    assert of[OWN] < 0.05 < of[FUNCTION]
    assert np.mean([np.array_equal(*trees) for trees in zip(*own.heads.values(), strict=True)]) < 0.9


def test_samples_keep_tags_and_trees_together():
    tags = [["a"], ["b", "b"], ["c", "c", "c"]]
    whole = recipe.Sentences(tags, {OWN: [np.zeros(len(own), np.int32) for own in tags]})
    some = whole.take(2, seed=1)
    assert len(some) == 2
    assert [len(tree) for tree in some.heads[OWN]] == [len(own) for own in some.tags]
    assert whole.take(5) is whole

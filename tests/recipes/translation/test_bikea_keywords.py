"""The recipe of bikea-keywords: measures, corpora, simulated articles, and the recorded run."""

from __future__ import annotations

import numpy as np
import pytest

from weft import data
from weft.errors import DataError
from weft.recipes.framework import RecipeOptions
from weft.recipes.translation.bikea_keywords import experiment
from weft.recipes.translation.bikea_keywords.corpora import MANUAL, content_stems, manual, words_of
from weft.recipes.translation.bikea_keywords.measures import at

SLUG = "bikea-keywords"


def test_measures_are_those_of_their_definitions() -> None:
    ndcg, precision, mrr = at(["x", "a", "y", "b"], {"a", "b", "c"}, 4)
    ideal = 1 + 1 + 1 / np.log2(3)
    assert ndcg == pytest.approx((1 + 1 / np.log2(4)) / ideal)
    assert (precision, mrr) == (0.5, 0.5)


def test_markup_is_taken_off() -> None:
    assert words_of("See :func:`~os.walk` and ``dict``.") == ["See", "os", ".", "walk", "and", "dict", "."]
    assert content_stems("What's new in the libraries") == {"librari", "new"}


def test_shuffled_links_remove_the_gain_of_a_translation_that_knows_something() -> None:
    found = [experiment.of_simulated(seed) for seed in range(60)]
    mean = {name: float(np.mean([each[name][0] for each in found])) for name in found[0]}
    assert mean["both"] > mean["walk"] + 0.02
    assert mean["both, links shuffled"] < mean["walk"]


@pytest.mark.corpus
def test_pages_have_titles_as_keywords_that_are_not_in_their_text_as_a_row() -> None:
    try:
        data.find(MANUAL)
    except DataError as missing:
        pytest.skip(str(missing))
    pages = manual(RecipeOptions(), 5)
    assert len(pages) == 5
    for page in pages:
        assert len(page.segments) == len(page.other)
        assert page.keywords
        assert sum(map(len, page.segments)) >= 300

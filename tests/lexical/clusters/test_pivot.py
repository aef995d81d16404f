"""Clusters of several languages around a pivot."""

from __future__ import annotations

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.lexical.clusters.cross_lingual import Bitext
from weft.lexical.clusters.pivot import pivot_clusters
from weft.text.bitext import Links

CLASSES = {"the": ["a", "the", "this"], "noun": ["cat", "dog", "cow", "hen"], "verb": ["runs", "sits", "sees", "eats"]}


def text(mark, n=300, seed=0):
    """Sentences of article, noun, verb; words of other languages have a mark at their end."""
    rng = np.random.default_rng(seed)
    return [[f"{rng.choice(own)}{mark}" for own in CLASSES.values()] for _ in range(n)]


def purity(paths, other, mark):
    same = [paths[word] == other[word + mark] for own in CLASSES.values() for word in own]
    return sum(same) / len(same)


def test_all_languages_have_the_classes_of_the_pivot_and_few_links_pull_the_rest():
    texts = {"en": text(""), "xx": text("x", seed=1), "yy": text("y", seed=2)}
    pairs = [["the", "cat", "runs"], ["this", "dog", "sits"], ["the", "cow", "sees"]]
    links = Links.of([[(0, 0), (1, 1), (2, 2)]] * 3)
    bitexts = {
        code: Bitext(pairs, [[word + code[0] for word in pair] for pair in pairs], links) for code in ("xx", "yy")
    }
    found = pivot_clusters("en", texts, bitexts, n_classes=3, min_count=2)
    assert purity(found.paths["en"], found.paths["xx"], "x") == 1.0
    assert purity(found.paths["en"], found.paths["yy"], "y") == 1.0
    assert found.linked == {"xx": 8, "yy": 8}
    linked_only = pivot_clusters("en", texts, bitexts, n_classes=3, min_count=2, whole=False)
    assert set(linked_only.paths["xx"]) == {word + "x" for pair in pairs for word in pair}


def test_words_spelt_alike_take_the_place_of_a_bitext_and_links_go_before_them():
    texts = {"en": text("") + [["the", "Berlin", "sees"]] * 3, "de": [["die", "Berlin", "lebt"], ["die", "2020"]] * 3}
    found = pivot_clusters("en", texts, n_classes=3, min_count=2, whole=False)
    assert found.paths["de"] == {"berlin": found.paths["en"]["berlin"]}
    assert found.alike == {"de": 1}
    bitext = Bitext([["runs"]], [["Berlin"]], Links.of([[(0, 0)]]))
    found = pivot_clusters("en", texts, {"de": bitext}, n_classes=3, min_count=2, whole=False)
    assert found.paths["de"]["berlin"] == found.paths["en"]["runs"]


def test_weak_links_do_not_vote_and_missing_text_is_told():
    texts = {"en": text(""), "xx": text("x", seed=1)}
    bitext = Bitext([["cat"]], [["catx"]], Links.of([[(0, 0, 0.2)]]))
    assert pivot_clusters("en", texts, {"xx": bitext}, n_classes=3, threshold=0.5, whole=False).paths["xx"] == {}
    with pytest.raises(ConfigError, match="no text in the pivot 'fr'; there are texts in en, xx"):
        pivot_clusters("fr", texts)
    with pytest.raises(DataError, match="no word in en occurs 3 times"):
        pivot_clusters("en", {"en": [["a"]]})

"""Features of pairs: places, sets, paths, and what separates them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import TemplateError
from weft.features.predicates import PairTemplates, TreeWords, candidates
from weft.text.doc import Doc

DOC = Doc.from_words(
    [["She", "wants", "to", "give", "him", "old", "books"]],
    upos=[["PRON", "VERB", "PART", "VERB", "PRON", "ADJ", "NOUN"]],
    feats=[["Case=Nom|Number=Sing", "", "", "", "Case=Acc", "", "Number=Plur"]],
    head=[[2, 0, 4, 2, 4, 7, 4]],
    deprel=[["nsubj", "root", "mark", "xcomp", "iobj", "amod", "obj"]],
)


def keys(templates: list[str], predicate: int, argument: int, doc: Doc = DOC, salt: int = 0) -> list[int]:
    pair = [np.array([place]) for place in (predicate, argument)]
    given = np.zeros(1, dtype=np.uint64), np.full(1, salt, dtype=np.uint64)
    return PairTemplates(templates).extract(TreeWords.of([doc]), *pair, *given)[1].tolist()


def test_fields_with_several_values_give_a_feature_each():
    assert len(keys(["arg.feats"], 3, 0)) == 2
    assert len(keys(["arg.feats"], 3, 1)) == 0
    assert len(keys(["deps.deprel"], 3, 3)) == 3
    assert len(keys(["bag.lemma"], 3, 3)) == 4
    assert set(keys(["arg.feats"], 3, 0)) & set(keys(["left.feats"], 3, 6)) == set()  # templates share no features


def test_trigrams_of_the_path_survive_a_wrong_label_elsewhere_on_it():
    # gift <- boxes <- bags <- carts <- sell, up from the argument to the predicate
    path = Doc.from_words(
        [["gift", "boxes", "bags", "carts", "sell"]],
        head=[[2, 3, 4, 5, 0]],
        deprel=[["a", "b", "c", "d", "root"]],
    )
    other = Doc.from_words(
        [["gift", "boxes", "bags", "carts", "sell"]], head=[[2, 3, 4, 5, 0]], deprel=[["a", "b", "c", "x", "root"]]
    )
    assert len(keys(["trigrams"], 4, 0, path)) == 2
    assert len(set(keys(["trigrams"], 4, 0, path)) & set(keys(["trigrams"], 4, 0, other))) == 1
    assert keys(["path"], 4, 0, path) != keys(["path"], 4, 0, other)
    assert keys(["trigrams"], 4, 2, path) == []  # two steps have no three


def test_paths_are_directed():
    assert keys(["path"], 1, 3) != keys(["path"], 3, 1)
    assert keys(["path"], 3, 4) != keys(["path"], 3, 6)


def test_features_are_binary_and_salts_separate_them():
    twice = Doc.from_words([["a", "b", "c"]], head=[[2, 0, 2]], deprel=[["obl", "root", "obl"]])
    assert len(keys(["deps.deprel"], 1, 1, twice)) == 1
    assert not set(keys(["arg.form"], 3, 0, salt=1)) & set(keys(["arg.form"], 3, 0, salt=2))


@pytest.mark.parametrize("template", ["arg.wrong", "nowhere.form", "verb", "arg.feats+deps.form", ""])
def test_templates_that_cannot_be_read_are_refused(template: str):
    with pytest.raises(TemplateError):
        PairTemplates([template])


@given(st.lists(st.integers(0, 10), min_size=1, max_size=8), st.integers(0, 7))
@settings(max_examples=40, deadline=None)
def test_candidates_are_dependents_of_the_words_on_the_way_to_the_root(numbers: list[int], place: int):
    heads = [number % (i + 1) for i, number in enumerate(numbers)]  # every word attaches to an earlier one
    predicate = place % len(heads)
    doc = Doc.from_words([[f"w{i}" for i in range(len(heads))]], head=[heads])
    above = [predicate]
    while heads[above[-1]] > 0:
        above.append(heads[above[-1]] - 1)
    expected = {w for w in range(len(heads)) if w in above or heads[w] - 1 in above} - {predicate}
    for own in (False, True):
        found = candidates(TreeWords.of([doc]), np.array([predicate]), np.array([own]))[1].tolist()
        assert found == sorted(expected | ({predicate} if own else set()))

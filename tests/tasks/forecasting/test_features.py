"""Features of sentences: who defeats whom, relations by enumeration of paths, entities and days."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import ConfigError, DataError, WeftError
from weft.tasks.forecasting.backtest import DayCounts
from weft.tasks.forecasting.entities import Entities
from weft.tasks.forecasting.features import Sentence, features_of
from weft.tasks.forecasting.market import Market, Openings, by_day, moment_of
from weft.text.doc import Doc

ENTITIES = Entities.parse("bush=bush|george bush, kerry, iraq")


def parsed(text):
    """A sentence from word/tag/head/label."""
    words, tags, heads, labels = zip(*(part.split("/") for part in text.split()), strict=True)
    return Sentence(words, tags, [int(head) for head in heads], labels)


DEBATE = "in/ADP/6/case the/DET/6/det debate/NOUN/2/obl"
FIRST = parsed(f"Bush/PROPN/2/nsubj defeated/VERB/0/root Kerry/PROPN/2/obj {DEBATE}")
SECOND = parsed(f"Kerry/PROPN/2/nsubj defeated/VERB/0/root Bush/PROPN/2/obj {DEBATE}")
THIRD = parsed(
    "Kerry/PROPN/8/nsubj ,/PUNCT/4/punct a/DET/4/det senator/NOUN/1/appos from/ADP/6/case Massachusetts/PROPN/4/nmod "
    ",/PUNCT/4/punct defeated/VERB/0/root President/PROPN/10/compound Bush/PROPN/8/obj in/ADP/15/case "
    "last/ADJ/13/amod night/NOUN/15/nmod 's/PART/13/case debate/NOUN/8/obl"
)


@pytest.mark.must_show("reading-the-markets", 3)
def test_dependencies_tell_who_defeats_whom_and_entities_cannot():
    first, second, third = (set(features_of(each, "dependency", ENTITIES)) for each in (FIRST, SECOND, THIRD))
    winner, loser = "kerry/nsubj parent defeated/VERB/root", "bush/obj parent defeated/VERB/root"
    assert {winner, loser} <= second & third
    assert not {winner, loser} & first
    assert "bush/nsubj parent defeated/VERB/root" in first - second - third
    assert "kerry/nsubj sibling defeated/VERB/root debate/NOUN/obl" in second & third
    for kind in ("words", "entity", "mentions"):
        assert sorted(features_of(FIRST, kind, ENTITIES)) == sorted(features_of(SECOND, kind, ENTITIES))
    assert features_of(FIRST, "entity", ENTITIES) == []  # two entities: the sentence is left out
    assert features_of(THIRD, "entity", ENTITIES) == []


def naive_relations(heads, top):
    """All relations of a word, by the relation of every other word to it."""
    parent = [0, *heads]
    found = []
    for word in range(1, len(heads) + 1):
        if word == top:
            continue
        if parent[word] == top:
            found.append(("child", word))
        if parent[top] and word == parent[top]:
            found.append(("parent", word))
        if parent[top] and parent[parent[top]] == word:
            found.append(("grandparent", parent[top], word))
        if parent[top] and parent[word] == parent[top]:
            found.append(("sibling", parent[top], word))
        grand = parent[parent[top]] if parent[top] else 0
        if grand and parent[word] == grand and word != parent[top]:
            found.append(("aunt", grand, word))
        uncle = parent[word]
        if parent[top] and uncle and uncle != top and parent[uncle] == parent[top]:
            found.append(("niece", parent[top], word))
    return sorted(found)


@st.composite
def trees(draw):
    """Heads of a tree over 1 to 8 words, and a word of it."""
    n = draw(st.integers(1, 8))
    order = draw(st.permutations(range(1, n + 1)))
    heads = [0] * n
    for place, word in enumerate(order[1:], start=1):
        heads[word - 1] = draw(st.sampled_from(order[:place]))
    return heads, draw(st.integers(1, n))


@settings(deadline=None)
@given(trees())
def test_relations_are_those_of_an_enumeration_of_words(tree):
    heads, top = tree
    words = [f"w{k}" for k in range(1, len(heads) + 1)]
    words[top - 1] = "bush"
    sentence = Sentence(words, ["T"] * len(heads), heads, ["l"] * len(heads))
    expected = []
    for relation, *path in naive_relations(heads, top):
        for level in ("{}/T/l", "{}/T/_", "{}/_/l", "_/T/l"):
            nodes = " ".join(level.format(words[word - 1]) for word in path)
            expected.append(f"bush/l {relation} {nodes}")
    assert sorted(features_of(sentence, "dependency", ENTITIES)) == sorted(expected)


def test_a_name_of_several_words_is_one_node():
    sentence = parsed("George/PROPN/2/compound Bush/PROPN/3/nsubj won/VERB/0/root")
    found = features_of(sentence, "dependency", ENTITIES)
    assert found[0] == "bush/nsubj parent won/VERB/root"
    assert not any(" child " in each for each in found)
    assert features_of(sentence, "entity", ENTITIES) == ["bush-won"]
    assert features_of(sentence, "mentions", ENTITIES) == ["bush"]
    with pytest.raises(WeftError, match="need parsed sentences"):
        features_of(Sentence(["Bush", "won"]), "dependency", ENTITIES)
    with pytest.raises(WeftError, match="unknown features 'bigrams'"):
        features_of(sentence, "bigrams", ENTITIES)


@pytest.mark.parametrize(
    ("text", "told"),
    [("bush, bush", "given twice"), ("a=x, b=x", "names two entities"), ("bush=", "must be written as")],
)
def test_entities_that_are_not_clear_are_told(text, told):
    with pytest.raises(ConfigError, match=told):
        Entities.parse(text)


def test_texts_belong_to_the_first_day_that_opens_after_them():
    openings = Openings(["2014-01-03", "2014-01-06"], "13:30")
    assert openings.day_of("2014-01-03", "13:29:59Z") == 0
    assert openings.day_of("2014-01-03", "13:30:00Z") == 1  # the moment of the opening is too late
    assert openings.day_of("2014-01-04", "20:00:00Z") == 1  # the weekend
    assert openings.day_of("2014-01-06", "15:00:00+02:00") == 1  # 13:00 UTC
    assert openings.day_of("2014-01-06", "15:30:00+02:00") == 2
    assert openings.day_of("2014-01-06") == 1  # a day alone is that morning
    assert openings.day_of("2014-01-07") == 2
    assert openings.day_of("2014-01-02") is None
    assert openings.day_of("2014-01-02", "10:00") is None
    with pytest.raises(DataError, match="a time that is none"):
        openings.day_of("2014-01-06", "25:00")
    with pytest.raises(ConfigError, match="a time of day such as 13:30"):
        Openings(["2014-01-03"], "half past one")


def test_dates_come_from_metadata_or_names():
    assert moment_of(Doc("", meta={"date": "2014-01-06 09:30"})) == ("2014-01-06", "09:30")
    assert moment_of(Doc("", meta={"id": "2014-01-06-sports"})) == ("2014-01-06", "")
    for meta in ({}, {"date": "yesterday"}, {"date": "2014-02-30"}):
        with pytest.raises(DataError, match=r"has (no date|a date that is none)"):
            moment_of(Doc("Snow.", meta=meta))
    market = Market("", ["2014-01-06"], np.array([1.0]))
    assert by_day([Doc("x", meta={"date": "2014-01-07"})], market)[0][1][0].text == "x"
    with pytest.raises(DataError, match="must be in order"):
        Market("", ["2014-01-06", "2014-01-06"], np.array([1.0, 2.0]))


def test_frequent_features_of_the_corpus_count_later_days():
    counts = DayCounts()
    counts.add({"a": 1, "b": 2})
    counts.add({"b": 1, "c": 5})
    assert [counts.names[k] for k in counts.frequent(3)] == ["b", "c"]

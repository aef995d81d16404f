"""Losses between domains: tables add up, and what is made up is found again."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import WeftError
from weft.evaluate.domains.diagnosis import FOLLOWS, NOUN_NOUN, Parsed, diagnose, divergence, flatness
from weft.evaluate.domains.loss_tables import loss_table
from weft.text.doc import Doc

TAGS = ["NOUN", "VERB", "DET", "ADP"]


@st.composite
def domains(draw):
    """Sentences with random trees, and a parser's random trees of them: heads count from 0, as any tree will do."""
    docs = []
    sentences = draw(st.lists(st.integers(1, 6), min_size=1, max_size=6))
    tags = [[draw(st.sampled_from(TAGS)) for _ in range(n)] for n in sentences]
    words = [[draw(st.sampled_from("abcd")) for _ in range(n)] for n in sentences]
    for _ in range(2):
        heads = [[0 if i == 0 else draw(st.integers(1, i)) for i in range(n)] for n in sentences]
        docs.append(Doc.from_words(words, upos=tags, head=heads))
    return Parsed.of([docs[0]], [docs[1]])


@settings(max_examples=60, deadline=None)
@given(domains(), domains())
def test_every_table_adds_up_to_the_loss_and_mix_and_rate_to_what_a_row_adds(source, target):
    found = diagnose(source, target, known={"a", "b"})
    assert found.loss == pytest.approx(float(target.wrong.mean() - source.wrong.mean()))
    assert set(found.tables) == {"tags", "fine tags", "unknown words", "arcs", "nouns"}
    for table in found.tables.values():
        assert table.loss == pytest.approx(found.loss, abs=1e-12)
        assert sum(row.shares[0] for row in table) == pytest.approx(1)
        assert sum(row.shares[1] for row in table) == pytest.approx(1)
        for row in table:
            assert row.mix + row.rate == pytest.approx(row.contribution, abs=1e-12)
    assert sum(each.difference for each in found.tags) == pytest.approx(0, abs=1e-12)


def test_a_class_with_the_same_words_and_more_errors_is_all_rate_and_one_with_more_words_all_mix():
    wrong = np.array([True, False, False, False])
    table = loss_table("c", (["a", "a", "b", "b"], wrong), (["a", "a", "b", "b"], np.array([True, True, False, False])))
    assert (table["a"].mix, table["a"].rate) == (0.0, 0.25)
    more = loss_table("c", (["a", "b", "b", "b"], wrong), (["a", "a", "b", "b"], np.array([True, True, False, False])))
    assert (more["a"].mix, more["a"].rate) == (0.25, 0.0)


def compounds(heads, n=30):
    """Thirty sentences `the ferry captain waved`."""
    tags = ["DET", "NOUN", "NOUN", "VERB"]
    return Doc.from_words([["the", "ferry", "captain", "waved"]] * n, upos=[tags] * n, head=[heads] * n)


LAST, FIRST = [3, 3, 4, 0], [2, 4, 2, 0]


def test_a_change_of_guidelines_is_told_from_a_shift_of_words():
    own = Parsed.of([compounds(LAST)], [compounds(LAST)])
    changed = diagnose(own, Parsed.of([compounds(FIRST)], [compounds(LAST)]))
    assert [each.name for each in changed.guidelines] == ["NOUN NOUN"]
    assert "guidelines" in changed.verdict
    assert changed.tables["nouns"].share(NOUN_NOUN) == pytest.approx(2 / 3)
    assert changed.tables["nouns"].share(FOLLOWS) == pytest.approx(1 / 3)
    same = diagnose(own, Parsed.of([compounds(LAST)], [compounds([4, 3, 4, 0])]))
    assert not same.guidelines
    assert "shift" in same.verdict
    assert "no loss" in diagnose(own, own).verdict


def test_few_arcs_tell_nothing_about_guidelines():
    own = Parsed.of([compounds(LAST, 5)], [compounds(LAST, 5)])
    assert not diagnose(own, Parsed.of([compounds(FIRST, 5)], [compounds(LAST, 5)])).guidelines


def test_a_chain_is_deeper_and_less_flat_than_a_fan():
    doc = Doc.from_words([["a", "b", "c", "d"]], upos=[["NOUN"] * 4], head=[[4, 4, 4, 0]])
    parsed = Parsed.of([doc], [doc])
    fan, chain = flatness(parsed, np.array([3, 3, 3, -1])), flatness(parsed, np.array([-1, 0, 1, 2]))
    assert (fan.dependents, fan.depth) == (3.0, 1.0)
    assert (chain.dependents, chain.depth) == (1.0, 3.0)


def test_divergence_lies_between_0_and_1_and_does_not_depend_on_the_order():
    one, other = Counter(a=3, b=1), Counter(b=2, c=5)
    assert 0 < divergence(one, other) < 1
    assert divergence(one, other) == divergence(other, one)


def test_other_words_and_missing_heads_are_named():
    doc = compounds(LAST)
    with pytest.raises(WeftError, match="news: the parsed sentences have different words"):
        Parsed.of([doc], [compounds(LAST, 3)], "news")
    with pytest.raises(WeftError, match=r"news \(parsed\): there are words without a head"):
        Parsed.of([doc], [Doc.from_words([["the", "ferry", "captain", "waved"]] * 30)], "news")

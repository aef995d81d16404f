"""Rules that select content, on hand cases and against their slow twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from phenomena import left_after, vector

from weft.tasks.phenomena.instances import Instance, Lines, vocabulary_of
from weft.tasks.phenomena.rules import KINDS, Rule, all_lines, apply_rule, extract

WORDS = "abcdef"
CHATS = st.lists(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), min_size=1, max_size=7), min_size=1, max_size=4
)
RULES = st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(KINDS)), min_size=1, max_size=4)


def lines_of(*chats, window="instance", places=None):
    """Instances whose lines are given as texts."""
    instances = [
        Instance("chat", "user", "", tuple(texts), tuple(places or range(len(texts))), "NA") for texts in chats
    ]
    vocabulary = vocabulary_of(instances)
    return Lines.of(instances, vocabulary, window), vocabulary


def kept(texts, *rules, window="instance", places=None):
    """The lines that are left, as a string of 1 and 0."""
    lines, vocabulary = lines_of(texts, window=window, places=places)
    left = all_lines(lines)
    for cue, kind in rules:
        apply_rule(lines, left, Rule(vocabulary[cue], kind))
    return "".join("01"[int(each)] for each in left)


@pytest.mark.must_show("rare-social-phenomena", 1)
def test_the_lines_that_each_kind_suppresses():
    texts = ["w", "my w", "w", "w", "w", "my", "w"]
    assert kept(texts, ("my", "A")) == "1100110"
    assert kept(texts, ("my", "B")) == "1100000"
    assert kept(texts, ("my", "C")) == "0110011"
    assert kept(texts, ("my", "D")) == "0000011"


@pytest.mark.must_show("rare-social-phenomena", 1)
def test_cues_at_the_edges_and_next_to_each_other():
    assert kept(["my", "w", "w", "w"], ("my", "C")) == "1111"
    assert kept(["my", "w", "w", "w"], ("my", "D")) == "1111"
    assert kept(["w", "w", "my"], ("my", "A")) == "111"
    assert kept(["w", "w", "my"], ("my", "B")) == "111"
    # Windows are those of all occurrences at once: the second line with the cue is suppressed, its window is not.
    assert kept(["my", "my", "w", "w", "w"], ("my", "A")) == "10001"
    assert kept(["w", "w", "w"], ("w", "D")) == "001"
    assert kept(["w x", "x"], ("x", "B")) == "10"


@pytest.mark.must_show("rare-social-phenomena", 1)
def test_a_word_leaves_only_with_all_of_its_lines():
    lines, vocabulary = lines_of(["sad", "my", "sad glad"])
    left = all_lines(lines)
    apply_rule(lines, left, Rule(vocabulary["my"], "D"))
    found = extract(lines, left).lists()[0]
    assert vocabulary["sad"] in found  # it also occurs after the cue
    apply_rule(lines, left, Rule(vocabulary["my"], "B"))
    assert extract(lines, left).lists()[0] == [vocabulary["my"]]


@pytest.mark.must_show("rare-social-phenomena", 1)
def test_the_order_of_rules_matters():
    texts = ["x", "y", "w"]
    assert kept(texts, ("x", "B"), ("y", "D")) == "100"  # the second cue is gone when its rule comes
    assert kept(texts, ("y", "D"), ("x", "B")) == "011"


def test_windows_may_be_counted_in_the_whole_conversation():
    texts, places = ["my", "w", "w"], [0, 2, 9]
    assert kept(texts, ("my", "A"), places=places) == "100"
    assert kept(texts, ("my", "A"), window="chat", places=places) == "101"


@pytest.mark.must_show("rare-social-phenomena", 1)
@settings(deadline=None, max_examples=60)
@given(CHATS, RULES)
def test_rules_equal_their_twin_and_are_idempotent(chats, rules):
    texts = [[" ".join(words) for words in chat] for chat in chats]
    lines, vocabulary = lines_of(*texts)
    left = all_lines(lines)
    for cue, kind in rules:
        if cue not in vocabulary:
            continue
        apply_rule(lines, left, Rule(vocabulary[cue], kind))
        once = left.copy()
        apply_rule(lines, left, Rule(vocabulary[cue], kind))
        assert np.array_equal(once, left)
    known = [rule for rule in rules if rule[0] in vocabulary]
    expected = [each for chat in chats for each in left_after([set(words) for words in chat], known)]
    assert left.tolist() == expected


@pytest.mark.must_show("rare-social-phenomena", 2)
def test_patched_vectors_equal_those_extracted_anew():
    rng = np.random.default_rng(3)
    chats = [
        [" ".join(rng.choice(list(WORDS), rng.integers(1, 4))) for _ in range(rng.integers(1, 9))] for _ in range(40)
    ]
    lines, vocabulary = lines_of(*chats)
    left, rows = all_lines(lines), extract(lines, all_lines(lines))
    names, done, patched = list(vocabulary), [], 0
    for step in range(100):
        rule = Rule(int(rng.integers(len(names))), KINDS[rng.integers(4)])
        changed = apply_rule(lines, left, rule, rows)
        patched += len(changed)
        done.append((names[rule.cue], rule.kind))
        anew = extract(lines, left)
        assert [set(row) for row in rows.lists()] == [set(row) for row in anew.lists()], step
        if step in (3, 99):
            slow = [vector([set(text.split()) for text in chat], done) for chat in chats]
            assert [{names[column] for column in row} for row in rows.lists()] == slow
        if not left.any() or step % 10 == 9:  # little is left to change: begin again
            left, rows, done = all_lines(lines), extract(lines, all_lines(lines)), []
    assert patched > 200

"""Stress patterns in text and in the rules of grammars."""

import pytest

from weft.formats.grammar import Rule
from weft.tasks.segmentation.induce_words import package_grammar
from weft.tasks.segmentation.stress_patterns import CLASSES, learnt_shares, pattern_shares, word_pattern


def test_patterns_have_one_letter_a_vowel():
    assert word_pattern(["b", "a", "n", "a", "*", "n", "a"], ["a"]) == "WSW"
    assert word_pattern(["s", "t"], ["a"]) == ""


def test_types_are_counted_once_and_tokens_each_time():
    text = [[["a"], ["b", "a", "*"]], [["a"], ["a"]]]
    shares = pattern_shares(text, ["a"])
    assert shares["token"]["unstressed"] == 0.75
    assert shares["type"]["unstressed"] == shares["type"]["initial"] == 0.5


@pytest.mark.parametrize("name", ["colloc3-nophon-stress", "colloc3-phon-stress", "colloc3-phon-stress-usc"])
def test_every_rule_of_words_falls_into_a_class(name):
    rules = package_grammar(name, ["a"], ["b"]).rules()
    words = sum(rule.left == "Word" for rule in rules)
    shares = learnt_shares(rules, [1.0] * len(rules))
    assert tuple(shares) == CLASSES
    assert sum(shares.values()) == words
    assert shares["several"] == (0 if "usc" in name else 16)
    assert shares["initial"] == shares["unstressed"] == 4


def test_grammars_without_stress_have_no_shares():
    assert learnt_shares([Rule("Word", ("Syll",))], [1.0]) == {}

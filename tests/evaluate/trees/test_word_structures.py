"""Structures of words are right only with the word's borders and tag."""

import pytest

from weft.errors import WeftError
from weft.evaluate.trees.word_structures import evaluate_structures
from weft.text import Doc


def document(words, tags, structures):
    return Doc.from_words([words], [[False] * len(words)], xpos=[tags], structure=[structures])


def test_a_structure_counts_only_with_borders_and_tag():
    gold = document(["茶杯", "好", "图书馆"], ["NN", "VA", "NN"], ["..r", ".", "..c.r"])
    same = evaluate_structures(gold, gold)
    assert same.counts.total().f1 == 1.0
    assert same.unknown_recall == same.unknown_recall_if_tagged == 1.0
    other_tag = document(["茶杯", "好", "图书馆"], ["VV", "VA", "NN"], ["..r", ".", "...rr"])
    report = evaluate_structures(gold, other_tag, known={"好"})
    assert report.counts.total().correct == 1
    assert (report.unknown, report.unknown_tagged, report.unknown_right) == (2, 1, 0)
    other_words = document(["茶", "杯好", "图书馆"], ["NN", "VA", "NN"], [".", "..r", "..c.r"])
    assert evaluate_structures(gold, other_words).counts.total().correct == 1


def test_documents_of_other_sentences_are_refused():
    gold = document(["茶"], ["NN"], ["."])
    with pytest.raises(WeftError, match="the gold document has 1 sentences"):
        evaluate_structures(gold, Doc())

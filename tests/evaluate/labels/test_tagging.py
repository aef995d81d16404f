"""Accuracy of a column against tables worked out by hand."""

from __future__ import annotations

import pytest

from weft.errors import WeftError
from weft.evaluate import evaluate_labels, evaluate_tags, tag_dictionary, vocabulary_of
from weft.text import Doc

TRAIN = Doc.from_words([["the", "run", "ends"], ["they", "run"]], upos=[["DET", "NOUN", "VERB"], ["PRON", "VERB"]])
GOLD = Doc.from_words([["the", "dogs", "run"], ["they", "run"]], upos=[["DET", "NOUN", "VERB"], ["PRON", "VERB"]])
SYSTEM = Doc.from_words([["the", "dogs", "run"], ["they", "run"]], upos=[["DET", "VERB", "NOUN"], ["PRON", "VERB"]])


def test_known_unknown_and_ambiguous_words_are_counted_apart() -> None:
    report = evaluate_tags(GOLD, SYSTEM, "upos", vocabulary_of([TRAIN]), tag_dictionary([TRAIN]))
    assert report.accuracy == 0.6
    groups = {name: (counts.total().gold, counts.total().correct) for name, counts in report.groups.items()}
    assert groups == {"known": (4, 3), "unknown": (1, 0), "ambiguous": (2, 1), "unseen": (0, 0)}
    assert report.counts.correct.tolist() == [1, 2]
    assert report.whole_sentences == 0.5
    assert report.right.tolist() == [True, False, False, True, True]


def test_a_known_word_with_a_label_that_it_never_had_is_unseen() -> None:
    gold = Doc.from_words([["the", "ends", "run", "far"]], upos=[["DET", "NOUN", "VERB", "ADV"]])
    for found, correct in ((["DET", "NOUN", "VERB", "ADV"], 1), (["DET", "VERB", "VERB", "ADV"], 0)):
        system = Doc.from_words([["the", "ends", "run", "far"]], upos=[found])
        unseen = evaluate_tags(gold, system, "upos", None, tag_dictionary([TRAIN])).groups["unseen"].total()
        assert (unseen.gold, unseen.correct) == (1, correct)


def test_confusions_and_labels() -> None:
    report = evaluate_tags(GOLD, SYSTEM)
    assert report.errors() == [("NOUN", "VERB", 1), ("VERB", "NOUN", 1)]
    assert report.errors(1) == [("NOUN", "VERB", 1)]
    verb = report.by_label["VERB"]
    assert (verb.gold, verb.system, verb.correct) == (2, 2, 1)
    assert sum(report.confusion.values()) == 5
    assert list(report.by_label) == ["DET", "NOUN", "PRON", "VERB"]


def test_sentence_boundaries_of_the_system_do_not_matter() -> None:
    system = Doc.from_words([["the", "dogs", "run", "they", "run"]], upos=[["DET", "NOUN", "VERB", "PRON", "VERB"]])
    assert evaluate_tags(GOLD, system).counts.correct.tolist() == [3, 2]


def test_other_words_are_refused_with_the_place() -> None:
    system = Doc.from_words([["the", "dog", "s"]], upos=[["DET", "NOUN", "X"]])
    with pytest.raises(WeftError, match="from word 2 on: gold has 'dogs run they', system has 'dog s'"):
        evaluate_tags(GOLD, system)
    with pytest.raises(WeftError, match="no column 'lemma'; it has: form, upos"):
        evaluate_tags(GOLD, SYSTEM, "lemma")


def test_label_lists_must_fit() -> None:
    with pytest.raises(WeftError, match="sentence 1: 1 gold labels, 2 system labels"):
        evaluate_labels([["A"]], [["A", "B"]])
    with pytest.raises(WeftError, match="gold has 1 sentences, system has 2"):
        evaluate_labels([["A"]], [["A"], ["B"]])
    with pytest.raises(WeftError, match="without the words' forms"):
        evaluate_labels([["A"]], [["A"]], vocabulary={"a"})

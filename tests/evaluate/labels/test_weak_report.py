"""Reports of weakly trained models and of the dictionaries behind them."""

import json

import pytest

from weft.errors import DataError
from weft.evaluate.labels.dictionaries import correction_curve, dictionary_report
from weft.evaluate.labels.weak_report import weak_report
from weft.lexical.dictionary import TagDictionary


def test_a_report_counts_what_constraints_decided_and_where_gold_agrees():
    report = weak_report(
        [1, 1, 2, 12, 12],
        [True, True, True, False, False],
        right=[True, False, True, True, False],
        has_gold=[True, True, True, True, False],
        confidence=[1.0, 1.0, 0.7, 0.55, 0.2],
        groups={"projected": [False, False, True, True, False]},
    )
    assert report.coverage == pytest.approx(0.6)
    assert report.ambiguity == pytest.approx(4 / 3)
    assert report.accuracy == pytest.approx(0.75)
    assert report.parts["decided by constraints"].accuracy == 0.5
    assert report.parts["open"].decisions == 2
    assert report.parts["open"].accuracy == 1.0
    assert report.parts["projected"].accuracy == 1.0
    assert sum(count for *_, count in report.histogram) == 5
    assert "accuracy 75.00 %" in str(report)
    assert json.loads(json.dumps(report.as_dict()))["parts"]["open"]["decisions"] == 2


def test_a_report_without_gold_has_no_accuracy():
    report = weak_report([1, 3], [True, False], confidence=[0.9, 0.4])
    assert report.accuracy is None
    assert report.calibration_error is None
    assert "accuracy" not in str(report)


def test_columns_of_other_lengths_are_refused():
    with pytest.raises(DataError, match="right must have one entry per decision, 2 in total"):
        weak_report([1, 2], [True, False], right=[True])
    with pytest.raises(DataError, match="at least one decision"):
        weak_report([], [])


def test_the_correction_curve_equals_what_corrected_dictionaries_keep():
    words = ["that", "the", "that", "runs", "the", "xyz", "dogs"]
    gold = ["CONJ", "DET", "PRON", "VERB", "DET", "X", "NOUN"]
    dictionary = TagDictionary({"that": ["ADV"], "the": ["DET"], "runs": ["NOUN"], "dogs": ["VERB"]})
    order = ["that", "the", "dogs", "runs", "xyz"]
    curve = correction_curve(dictionary, words, gold, range(6))
    for k, value in curve:
        fixed = [(word, tag) for word, tag in zip(words, gold, strict=True) if word in order[:k]]
        better = dictionary.corrected([word for word, _ in fixed], [tag for _, tag in fixed])
        assert dictionary_report(better, words, gold).pruning_accuracy == pytest.approx(value)
    values = [value for _, value in curve]
    assert values == sorted(values)
    assert values[-1] == 1.0


def test_a_dictionary_report_names_what_was_pruned_away():
    report = dictionary_report(TagDictionary({"su": ["PRON"], "casa": ["NOUN", "VERB"]}), ["su", "su", "casa", "de"],
                               ["DET", "DET", "NOUN", "ADP"])  # fmt: skip
    assert report.pruned_tags == (("DET", 2),)
    assert report.coverage == 0.75
    assert report.ambiguity == pytest.approx(4 / 3)
    assert "pruning accuracy 50.00 %" in str(report)
    assert "su DET 2" in str(report)
    assert "pruning_accuracy" not in dictionary_report(TagDictionary({"su": ["PRON"]}), ["su"]).as_dict()


def test_gold_tags_outside_the_tag_set_are_refused():
    with pytest.raises(DataError, match="not in the dictionary's tag set: PROPN; it has NOUN"):
        dictionary_report(TagDictionary({"su": ["PRON"]}), ["su"], ["PROPN"])
    with pytest.raises(DataError, match="no words"):
        correction_curve(TagDictionary({"su": ["PRON"]}), [], [])

"""Reliability of probabilities: known figures, and that a calibrated judge is told from one who boasts."""

import numpy as np
import pytest

from weft.errors import ConfigError, DataError
from weft.evaluate import calibration, calibration_of_column, calibration_of_spans
from weft.text import Doc, SpanLayer


def test_decisions_that_are_as_right_as_they_say_have_no_error():
    found = calibration([0.75] * 4 + [0.25] * 4, [1, 1, 1, 0, 0, 0, 0, 1])
    assert found.error == pytest.approx(0.0)
    assert found.brier == pytest.approx(0.75 * 0.25)
    assert [(part.decisions, part.right) for part in found.bins] == [(4, 0.25), (4, 0.75)]


def test_a_judge_who_boasts_has_the_error_he_boasts_by():
    rng = np.random.default_rng(3)
    p = rng.uniform(0.5, 1.0, 20_000)
    right = rng.random(20_000) < p
    boasting = calibration(np.minimum(1.0, p + 0.2), right)
    assert calibration(p, right).error < 0.015
    assert boasting.error > 0.1
    assert boasting.brier > calibration(p, right).brier
    assert boasting.probability > boasting.right + 0.1


def test_probability_one_belongs_to_the_last_bin_and_empty_bins_are_left_out():
    found = calibration([1.0, 1.0, 0.0], [True, True, False], bins=4)
    assert [(part.low, part.high, part.decisions) for part in found.bins] == [(0.0, 0.25, 1), (0.75, 1.0, 2)]
    assert "0.75 to 1.00" in str(found)
    assert "Brier score 0.0000" in str(found)


def test_columns_and_spans_are_judged_by_what_gold_has():
    gold, system = (Doc.from_words([["a", "b", "c"]], upos=[tags]) for tags in ("XYZ", "XYY"))
    system.confidence["upos"] = np.array([1.0, 1.0, 0.4], dtype=np.float32)
    assert calibration_of_column([gold], [system]).right == pytest.approx(2 / 3)
    assert calibration_of_column([gold], [system]).error == pytest.approx(0.4 / 3)
    gold.spans["e"] = SpanLayer.of(gold.strings, [(0, 2, "P"), (2, 3, "Q")])
    found = system.spans["e"] = SpanLayer(system.strings)
    found.add([(0, 2)], "P", probability=0.9)
    found.add([(2, 3)], "P", probability=0.6)
    assert calibration_of_spans([gold], [system], "e").brier == pytest.approx((0.1**2 + 0.6**2) / 2)


def test_what_cannot_be_judged_is_told_plainly():
    doc = Doc.from_words([["a"]], upos=[["X"]])
    doc.spans["e"] = SpanLayer.of(doc.strings, [(0, 1, "P")])
    with pytest.raises(DataError, match="annotate with --probabilities"):
        calibration_of_column([doc], [doc])
    with pytest.raises(DataError, match="annotate with --probabilities"):
        calibration_of_spans([doc], [doc], "e")
    with pytest.raises(DataError, match="no decisions"):
        calibration([], [])
    with pytest.raises(DataError, match="between 0 and 1"):
        calibration([1.5], [True])
    with pytest.raises(ConfigError, match="at least one bin"):
        calibration([0.5], [True], bins=0)

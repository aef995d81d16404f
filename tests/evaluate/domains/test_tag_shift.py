"""How far tags moved between domains, against figures worked out by hand."""

from __future__ import annotations

import pytest

from weft.errors import DataError
from weft.evaluate.domains.tag_shift import evaluate_domain, joined, tag_shift
from weft.text.doc import Doc

SOURCE = [Doc.from_words([["the", "dog", "runs"], ["Ada", "runs"]], xpos=[["DT", "NN", "VBZ"], ["NNP", "VBZ"]])]
TARGET = [Doc.from_words([["lol", "the", "runs", "Bo"]], xpos=[["UH", "DT", "NNS", "NNP"]])]


def test_unknown_words_unseen_and_unknown_tags_are_counted() -> None:
    shift = tag_shift(SOURCE, TARGET, "xpos")
    assert (shift.words, shift.unknown_words, shift.unseen_tags, shift.unknown_tags) == (4, 2, 1, 2)
    assert shift.shares["VBZ"] == (0.4, 0.0)
    assert shift.largest(1) == [("VBZ", 0.4, 0.0)]
    assert "unknown tags 50.00 %" in str(shift)


def test_divergence_is_zero_for_the_same_tags_and_one_for_no_common_tag() -> None:
    assert tag_shift(SOURCE, SOURCE, "xpos").divergence == 0.0
    other = [Doc.from_words([["oh"]], xpos=[["UH"]])]
    assert tag_shift(SOURCE, other, "xpos").divergence == pytest.approx(1.0)
    with pytest.raises(DataError, match="target has none"):
        tag_shift(SOURCE, [], "xpos")


def test_names_counted_as_nouns_forgive_what_guidelines_draw_differently() -> None:
    system = [Doc.from_words([["lol", "the", "runs", "Bo"]], xpos=[["NN", "DT", "NNS", "NN"]])]
    report = evaluate_domain(SOURCE, TARGET, system, "xpos")
    assert report.tags.accuracy == 0.5
    assert report.joined.accuracy == 0.75
    assert TARGET[0].column("xpos")[3] == "NNP"  # the documents stay as they are
    assert joined(TARGET, "xpos")[0].column("xpos")[3] == "NN"
    found = report.as_dict()
    assert found["accuracy"]["unseen"] == {"words": 1, "accuracy": 1.0}
    assert found["shift"]["unknown_tags"] == 0.5

"""Agreement of two annotators on layers of documents."""

from __future__ import annotations

import pytest

from weft.errors import ConfigError, WeftError
from weft.evaluate.annotators import agreement_of_documents
from weft.text import Doc, SpanLayer

WORDS = ["Anna", "met", "Ben", "in", "Oslo", "."]


def marked(*spans: tuple[int, int, str]) -> Doc:
    doc = Doc.from_words([WORDS])
    doc.spans["names"] = SpanLayer.of(doc.strings, list(spans))
    return doc


def test_spans_agree_by_place_and_label_and_extents_by_place():
    first, second = marked((0, 1, "PER"), (2, 3, "PER"), (4, 5, "LOC")), marked((0, 1, "PER"), (4, 5, "ORG"))
    layer, found = agreement_of_documents([first], [second])
    assert layer == "names"
    assert found["spans"].f1 == pytest.approx(2 * 1 / (3 + 2))
    assert found["extents"].f1 == pytest.approx(2 * 2 / (3 + 2))
    # Units (PER, PER), (PER, none), (LOC, ORG): of six values three are PER, so that 15 - 3 of 15 pairs differ.
    assert found["spans"].alpha == pytest.approx(1 - (2 / 3) / (12 / 15))
    # With the three other words, on which nobody marked anything: none 7 times of 12.
    same = 7 * 6 + 3 * 2
    assert found["spans"].alpha_all == pytest.approx(1 - (2 / 6) / (1 - same / (12 * 11)))


def test_agreement_has_no_direction():
    first, second = marked((0, 1, "PER"), (2, 3, "PER")), marked((2, 4, "PER"), (0, 1, "LOC"), (4, 5, "LOC"))
    assert agreement_of_documents([first], [second]) == agreement_of_documents([second], [first])


def test_columns_agree_by_word_and_need_the_same_words():
    tags = ["PROPN", "VERB", "PROPN", "ADP", "PROPN", "PUNCT"]
    first = Doc.from_words([WORDS], upos=[tags])
    second = Doc.from_words([WORDS], upos=[["NOUN", *tags[1:]]])
    assert agreement_of_documents([first], [second], "upos")[1]["upos"].f1 == pytest.approx(5 / 6)
    assert agreement_of_documents([first], [first], "upos")[1]["upos"].alpha == 1
    with pytest.raises(WeftError, match="other words on either side"):
        agreement_of_documents([first], [Doc.from_words([WORDS[:3]], upos=[tags[:3]])], "upos")


def test_what_cannot_be_compared_is_said_plainly():
    doc = marked((0, 1, "PER"))
    with pytest.raises(ConfigError, match="there is no 'ud'; choose with --layer from names"):
        agreement_of_documents([doc], [doc], "ud")
    with pytest.raises(WeftError, match="1 documents and the other 2"):
        agreement_of_documents([doc], [doc, doc], "names")
    other = Doc.from_words([["Cleo", *WORDS[1:]]])
    other.spans["names"] = SpanLayer.of(other.strings, [(0, 1, "PER")])
    with pytest.raises(WeftError, match="another text"):
        agreement_of_documents([doc], [other], "names")

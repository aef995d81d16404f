"""Signatures of words against cases worked out from their definition."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.features.signatures import MARKS, signature, signature_bits

CASES = {
    "runs": "LC-s", "class": "LC", "bus": "LC", "Is": "CAPS", "as": "LC", "s": "LC", "dishes": "LC-s",
    "wanted": "LC-ed", "bed": "LC", "string": "LC-ing", "nation": "LC-ion", "bigger": "LC-er", "largest": "LC-est",
    "quickly": "LC-ly", "activity": "LC-ity", "funny": "LC-y", "local": "LC-al", "well-aimed": "LC-DASH",
    "B2BINGs": "CAPS-NUM-s", "A1wanted": "CAPS-NUM", "1990s": "LC-NUM-s", "'Tis": "CAPS", "$12": "NUM", "--": "DASH",
    "McCoal": "CAPS-al", "IBM": "CAPS", "...": "", "'em": "LC",
}  # fmt: skip


@pytest.mark.parametrize(("form", "expected"), CASES.items())
def test_marks_of_words_inside_a_sentence(form: str, expected: str) -> None:
    assert signature(form) == expected


def test_only_the_first_word_of_a_sentence_with_one_capital_is_initial() -> None:
    assert signature("Wanted", True) == "INITC-ed"
    assert signature("Wanted", True, {"wanted"}) == "INITC-KNOWNLC-ed"
    assert signature("Wanted", False, {"wanted"}) == "CAPS-ed"
    assert signature("WANTED", True, {"wanted"}) == "CAPS-ed"
    assert signature("wanted", True, {"wanted"}) == "LC-ed"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=8), st.booleans())
def test_any_text_has_a_signature_of_at_most_one_case_and_one_ending(form: str, initial: bool) -> None:
    marks = [mark for mark in signature(form, initial).split("-") if mark]
    assert marks == sorted(marks, key=MARKS.index)
    assert len(set(marks) & {"INITC", "CAPS", "LC"}) <= 1
    assert len(set(marks) & set(MARKS[6:])) <= 1
    assert 0 <= signature_bits("-".join(marks)) < 1 << 16

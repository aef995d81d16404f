from __future__ import annotations

import unicodedata

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.features.characters import CLASSES, IS_UNSPACED, PARAGRAPH, CharacterTable, class_of, code_points

TABLE = CharacterTable()


@settings(deadline=None)
@given(st.text(alphabet=st.characters(), max_size=40))
def test_code_points_are_those_of_the_string(text: str) -> None:
    assert code_points(text).tolist() == [ord(character) for character in text]


@settings(deadline=None)
@given(st.text(alphabet=st.characters(), max_size=40))
def test_classes_of_arrays_are_those_of_characters(text: str) -> None:
    assert [CLASSES[number] for number in TABLE.classes(code_points(text))] == [class_of(each) for each in text]


@settings(deadline=None)
@given(st.characters())
def test_blanks_and_only_they_have_the_first_three_classes(character: str) -> None:
    assert (CLASSES.index(class_of(character)) <= PARAGRAPH) == character.isspace()


@settings(deadline=None)
@given(st.characters(max_codepoint=0x21FF))
def test_lower_case_keeps_lengths(character: str) -> None:
    small = character.lower()
    assert TABLE.lower[ord(character)] == (ord(small) if len(small) == 1 else ord(character))


def test_scripts_without_blanks_are_known() -> None:
    classes = TABLE.classes(code_points("字がカไทย" + "aж가1."))
    assert IS_UNSPACED[classes].tolist() == [True] * 6 + [False] * 5


def test_every_assigned_character_has_a_class() -> None:
    assert all(class_of(chr(code)) in CLASSES for code in range(0, 0x20000, 7))
    assert class_of("\ud800") == "other"
    assert unicodedata.category("\ue000") == "Co"
    assert class_of("\ue000") == "other"


def test_surrogates_do_not_stop_an_array() -> None:
    assert TABLE.classes(np.array([0xD800, 0x10FFFF], dtype=np.int32)).shape == (2,)

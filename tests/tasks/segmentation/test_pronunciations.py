"""Pronunciation dictionaries and the stress of function words."""

import pytest
from pronunciations import FUNCTION_WORDS, Pronunciations

from weft.errors import FormatError

DICTIONARY = """;;; a comment
THE  DH AH1
CAN  K AE1 N
UNDER  AH1 N D ER0
UNDER(1)  AH0 N D ER1
CANDLE  K AE1 N D AH0 L # a thing
"""


@pytest.fixture
def dictionary(tmp_path):
    path = tmp_path / "dictionary"
    path.write_text(DICTIONARY)
    return Pronunciations.read(path)


def test_function_words_of_one_syllable_have_no_stress_and_others_keep_theirs(dictionary):
    assert dictionary.utterance(["the", "candle", "can"]) == [
        ["dh", "ah"], ["k", "ae", "*", "n", "d", "ah", "l"], ["k", "ae", "n"],
    ]  # fmt: skip
    assert dictionary.word("under") == ["ah", "*", "n", "d", "er"]  # its first pronunciation
    assert len(FUNCTION_WORDS) == 94


def test_words_that_are_not_known_leave_the_utterance_out(dictionary):
    assert dictionary.utterance(["the", "lamp"]) is None
    assert "lamp" not in dictionary
    assert len(dictionary) == 4


def test_a_line_without_sounds_is_refused(tmp_path):
    path = tmp_path / "bad"
    path.write_text("THE  DH AH0\nLAMP\n")
    with pytest.raises(FormatError, match="line 2: expected a word and its sounds"):
        Pronunciations.read(path)

"""Numbers of six languages."""

from __future__ import annotations

import pytest

from weft.errors import ConfigError
from weft.tasks.time.numbers import check_language, read_number
from weft.tasks.time.tokens import pieces


@pytest.mark.parametrize(
    ("language", "words", "value", "ordinal"),
    [
        ("en", "twenty - five", 25, False),
        ("en", "nineteen ninety six", 1996, False),
        ("en", "two thousand", 2000, False),
        ("en", "three hundred and five", 305, False),
        ("en", "twenty first", 21, True),
        ("en", "third", 3, True),
        ("en", "12 th", 12, True),
        ("en", "sixties", 60, False),
        ("es", "treinta y cinco", 35, False),
        ("es", "mil novecientos noventa y ocho", 1998, False),
        ("es", "dieciseis", 16, False),
        ("es", "tercer", 3, True),
        ("it", "ventotto", 28, False),
        ("it", "millenovecentonovantaquattro", 1994, False),
        ("it", "seconda", 2, True),
        ("fr", "quatre vingt dix", 90, False),
        ("fr", "vingt et un", 21, False),
        ("fr", "deuxieme", 2, True),
        ("fr", "1 er", 1, True),
        ("other", "17", 17, False),
    ],
)
def test_numbers_in_words(language, words, value, ordinal):
    tokens = words.split()
    found = read_number(tokens, 0, language)
    assert found is not None
    number, end = found
    assert (number.value, number.ordinal, end) == (value, ordinal, len(tokens))


@pytest.mark.parametrize(("chars", "value"), [("一九九三", 1993), ("三十", 30), ("十二", 12), ("二百", 200), ("两", 2)])
def test_chinese_numbers_are_read_as_digits_or_by_powers(chars, value):
    found = read_number(list(chars), 0, "zh")
    assert found is not None
    assert found[0].value == value


def test_words_are_cut_into_pieces_that_phrases_share():
    assert [piece.name for piece in pieces("4월19일", "ko")] == ["#1", "월", "#2", "일"]
    assert [piece.name for piece in pieces("오후", "ko")] == ["오후"]
    assert [piece.name for piece in pieces("10/29/89", "en")] == ["#2", "/", "#2", "/", "#2"]
    assert [piece.name for piece in pieces("été", "fr")] == ["ete"]
    assert pieces("", "en")[0].name == ""


def test_what_is_no_number_is_none():
    assert read_number(["week"], 0, "en") is None
    assert read_number(["003000000200001131951006"], 0, "ko") is None


def test_a_language_is_a_code():
    assert check_language("uk") == "other"
    with pytest.raises(ConfigError, match="unknown language"):
        check_language("klingon language")

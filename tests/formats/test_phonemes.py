"""Utterances as sounds: three ways to write them, one way to read them."""

import gzip

import pytest

from weft.errors import ConfigError, FormatError
from weft.formats.phonemes import format_sounds, parse_letters, parse_sounds, parse_syllables, read_utterances


def test_sounds_and_syllables_read_the_same():
    assert parse_sounds("dh ah | d ao * g iy") == parse_syllables("DH.AH0 D.AO1|G.IY2")


def test_lines_of_sounds_come_back(tmp_path):
    line = "dh ah | d ao * g iy"
    assert format_sounds(parse_sounds(line)) == line
    with gzip.open(tmp_path / "a.gz", "wt") as file:
        file.write(f"{line}\n\n{line}\n")
    assert read_utterances(tmp_path / "a.gz") == [parse_sounds(line)] * 2


def test_a_star_among_letters_is_no_mark_of_stress():
    assert parse_letters("h*") == [["h", "\\*"]]


@pytest.mark.parametrize(("line", "style"), [("d ao |  | g iy", "sounds"), ("D..AO1", "syllables")])
def test_empty_words_and_sounds_are_refused_with_their_line(tmp_path, line, style):
    path = tmp_path / "bad.txt"
    path.write_text(f"d\n{line}\n")
    with pytest.raises(FormatError, match=r"bad.txt, line 2: expected an utterance"):
        read_utterances(path, style)
    with pytest.raises(ConfigError, match="no style 'words'"):
        read_utterances(path, "words")

"""Sets of paraphrases and stems."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import FormatError, WeftError
from weft.lexical.paraphrases import Paraphrases
from weft.lexical.stems import stem

WORDS = st.text("abcd", min_size=1, max_size=3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(WORDS, WORDS), max_size=40), st.lists(st.tuples(WORDS, WORDS), max_size=20))
def test_a_set_of_pairs_is_unordered_and_leaves_out_pairs_of_equal_words(held, asked) -> None:  # type: ignore[no-untyped-def]
    pairs = Paraphrases.of(held)
    known = {frozenset(pair) for pair in held if pair[0] != pair[1]}
    assert len(pairs) == len(known)
    for one, other in [*held, *asked]:
        assert ((one, other) in pairs) == (frozenset((one, other)) in known) == ((other, one) in pairs)


def test_pairs_are_read_from_tables_ppdb_and_compiled_files(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_bytes(b"Car\tauto\r\nbig dog\thound\r\nsame\tsame\r\n")
    (tmp_path / "ppdb").write_text("[N] ||| car ||| auto ||| x=1\n[N] ||| big ||| large ||| x=2\n", encoding="utf-8")
    table, ppdb = Paraphrases.read(tmp_path / "t.tsv"), Paraphrases.read(tmp_path / "ppdb")
    assert (len(table), len(ppdb), ("auto", "car") in table, ("large", "big") in ppdb) == (1, 2, True, True)
    ppdb.save(tmp_path / "p.weft")
    again = Paraphrases.read(tmp_path / "p.weft")
    assert (len(again), ("auto", "car") in again, ("auto", "big") in again) == (2, True, False)
    (tmp_path / "bad").write_text("car\tauto\ncar auto\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"line 2.*two words separated by a tab"):
        Paraphrases.read(tmp_path / "bad")
    (tmp_path / "none").write_text("car\tcar\n", encoding="utf-8")
    with pytest.raises(WeftError, match="no pairs of different words"):
        Paraphrases.read(tmp_path / "none")


def test_stems_agree_with_the_published_algorithm() -> None:
    nltk = pytest.importorskip("nltk.stem.porter")
    reference = nltk.PorterStemmer(mode=nltk.PorterStemmer.ORIGINAL_ALGORITHM)
    starts = "relat hop controll happ fe ag troubl siz d b fill y adjust commun"
    ends = " ed ing s es ies eed ational ization iveness fulness ement ion icate ical able ly ousli y er ll e"
    for word in (start + end for start in starts.split() for end in ends.split(" ") if len(start + end) > 2):
        assert stem(word) == reference.stem(word), word

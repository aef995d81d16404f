"""Documents, string tables and layers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from weft.errors import WeftError
from weft.text import Doc, SpanLayer, StringTable
from weft.text.layers import chars_of_words, words_of_chars


def test_threads_that_share_a_table_never_give_two_strings_one_number() -> None:
    table = StringTable()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: table.ids([f"s{i}" for i in range(5000)]).tolist(), range(8)))
    assert all(ids == found[0] for ids in found)
    assert len(table) == 5001
    assert table.strings(found[0]) == [f"s{i}" for i in range(5000)]


def test_spans_change_their_unit_and_back() -> None:
    doc = Doc.from_words([["The", "big", "dog"]])
    layer = SpanLayer(doc.strings)
    layer.add([(0, 1), (2, 3)], "X", "T1", sure=True)
    chars = chars_of_words(doc, layer)
    assert list(chars) == [(((0, 3), (8, 11)), "X")]
    words = words_of_chars(doc, chars)
    assert (list(words), words.ids, words.attributes) == (list(layer), ["T1"], {0: {"sure": True}})
    gap = SpanLayer.of(doc.strings, [(3, 4, "Y")], "chars")
    with pytest.raises(WeftError, match="touches no word"):
        words_of_chars(doc, gap)


def test_columns_must_have_one_value_a_word() -> None:
    doc = Doc.from_words([["a", "b"]])
    with pytest.raises(WeftError, match="1 values for 2 words"):
        doc.set_column("upos", ["X"])
    with pytest.raises(WeftError, match="one value per word"):
        Doc.from_words([["a"]], upos=[["X", "Y"]])


def test_words_sentences_and_trees_read_well() -> None:
    doc = Doc.from_words([["Dogs", "bark"], ["Yes"]], head=[[2, 0], [0]], upos=[["NOUN", "VERB"], ["INTJ"]])
    first, second = doc.sentences
    assert (first.text, len(second), first.root) == ("Dogs bark", 1, first[1])
    assert [word.form for word in first[1].children] == ["Dogs"]
    assert first[0].head == first[1]
    assert doc[-1].form == "Yes"
    doc[0].lemma = "dog"
    assert doc.column("lemma") == ["dog", "", ""]
    with pytest.raises(IndexError):
        doc[3]

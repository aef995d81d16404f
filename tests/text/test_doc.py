"""Documents, string tables and layers."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from weft.errors import WeftError
from weft.formats import write
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


def test_spans_know_their_characters_words_and_probability() -> None:
    doc = Doc.from_words([["Ms", "Li", "left", "New", "York"]])
    layer = doc.spans["entities"] = SpanLayer(doc.strings)
    layer.add([(0, 2)], "PER", probability=0.75)
    layer.add([(2, 3), (4, 5)], "X")
    person, gapped = doc.entities
    assert (person.start, person.end, person.probability) == (0, 5, 0.75)
    assert doc.text[person.start : person.end] == person.text == "Ms Li"
    assert [word.form for word in person.words] == ["Ms", "Li"]
    assert (gapped.start, gapped.end, gapped.probability) == (6, 19, None)
    assert [word.form for word in gapped.words] == ["left", "York"]


def test_spans_of_characters_have_the_words_they_touch() -> None:
    doc = Doc.from_words([["New", "York", "sleeps"]])
    doc.spans["letters"] = SpanLayer.of(doc.strings, [(1, 5, "X")], "chars")
    (span,) = doc.span_views("letters")
    assert (span.start, span.end, span.text) == (1, 5, "ew Y")
    assert [word.form for word in span.words] == ["New", "York"]


def test_spans_of_contractions_have_the_characters_of_their_words() -> None:
    doc = Doc("Kenya's rain")
    doc.set_offsets([0, 8], [7, 12])
    doc.word_token = np.array([0, 0, 1], dtype=np.int32)
    doc.set_column("form", ["Kenya", "'s", "rain"])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "LOC")])
    assert (doc.entities[0].start, doc.entities[0].end) == (0, 5)


def test_a_document_can_be_named() -> None:
    doc = Doc("Hi")
    doc.id = "mail/7"
    assert (doc.id, doc.meta) == ("mail/7", {"id": "mail/7"})
    doc.id = ""
    assert (doc.id, doc.meta) == ("", {})


def test_notebooks_display_documents_that_have_something_to_show() -> None:
    doc = Doc.from_words([["Ada", "slept"], ["It", "rained"]])
    assert doc._repr_html_() is None
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    doc.spans["mwe"] = SpanLayer(doc.strings)
    html = doc._repr_html_()
    assert html is not None
    assert html.count("<figcaption>entities") == 2  # the second sentence has nothing else to show
    assert "<figcaption>mwe" not in html
    assert "rained" in html


def test_documents_become_the_record_that_files_hold(tmp_path: Path) -> None:
    doc = Doc.from_words([["Ada", "slept"]], upos=[["PROPN", "VERB"]])
    doc.id = "a/x"
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "PER")])
    write([doc], tmp_path / "one.jsonl", "records")
    assert (tmp_path / "one.jsonl").read_text() == doc.to_json() + "\n"
    assert json.loads(doc.to_json()) == doc.to_dict()
    assert doc.to_dict()["spans"]["entities"][0]["start"] == 0
    doc.meta["odd"] = object()
    with pytest.raises(WeftError, match="JSON cannot represent"):
        doc.to_json()

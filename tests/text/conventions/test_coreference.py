"""Entities as a layer: brackets, MISC, views, and what formats keep."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import DataError, WeftError
from weft.formats import read, write
from weft.formats.conllu.files import parse_text
from weft.formats.conllu.files import to_text as to_conllu
from weft.text.conventions.coreference import (
    BracketError,
    brackets,
    coreference_of,
    entities_of,
    parse_brackets,
    set_entities,
)
from weft.text.doc import Doc

WORDS = ["The", "old", "queen", "of", "Spain", "said", "she", "slept", "."]


def story() -> Doc:
    doc = Doc.from_words(
        [WORDS], upos=[["DET", "ADJ", "NOUN", "ADP", "PROPN", "VERB", "PRON", "VERB", "PUNCT"]],
        head=[[3, 3, 6, 5, 3, 0, 8, 6, 6]],
    )  # fmt: skip
    set_entities(doc, [(6, 7), (0, 5), (4, 5)], [7, 7, -1], labels=["", "person", "place"])
    return doc


def told(doc: Doc) -> list[list[tuple]]:
    return [[(mention.pieces, mention.label) for mention in entity.mentions] for entity in doc.entities_of("coref")]


EXPECTED = [[(((0, 5),), "person"), (((6, 7),), "")], [(((4, 5),), "place")]]


def test_entities_are_numbered_by_their_first_mention():
    doc = story()
    assert told(doc) == EXPECTED
    assert doc.clusters["coref"].cluster.tolist() == [0, 1, 0]
    queen, spain = doc.entities_of("coref")
    assert (queen.text, queen.label, spain.text) == ("The old queen of Spain", "person", "Spain")


@pytest.mark.parametrize("suffix", ["jsonl", "parquet", "conllu", "records.jsonl"])
def test_entities_survive_formats(tmp_path, suffix):
    write([story()], tmp_path / f"x.{suffix}")
    (doc,) = read(tmp_path / f"x.{suffix}")
    assert told(doc) == EXPECTED


def test_conll_2012_keeps_mentions_without_types(tmp_path):
    doc = story()
    doc.comments = [("# speaker = Ann Lee",)]
    write([doc], tmp_path / "x.coref")
    (found,) = read(tmp_path / "x.coref")
    assert [[pieces for pieces, _ in entity] for entity in told(found)] == [[((0, 5),), ((6, 7),)], [((4, 5),)]]
    assert found.column("form") == WORDS
    assert found.comments == [("# speaker = Ann_Lee",)]


def test_conllu_with_the_same_entities_is_written_byte_by_byte():
    rows = [
        "# newdoc id = a", "# global.Entity = GRP-etype-infstat-other",
        "1\tAda\t_\t_\t_\t_\t0\troot\t_\tEntity=(9-person-new-x:y)",
        "2\tslept\t_\t_\t_\t_\t1\tdep\t_\t_", "",
    ]  # fmt: skip
    text = "\n".join([*rows, ""])
    (doc,) = parse_text(text)
    assert told(doc) == [[(((0, 1),), "person")]]
    assert to_conllu(doc) == text
    set_entities(doc, [(0, 1), (1, 2)], [0, 0])
    assert "Entity=(e1--1)" in to_conllu(doc)
    assert "(9-person" not in to_conllu(doc)


def test_mentions_with_gaps_are_spelled_in_parts():
    doc = Doc.from_words([["a", "b", "c", "d"]])
    set_entities(doc, [((0, 2), (3, 4)), ((2, 3),)], [0, 1])
    (again,) = parse_text(to_conllu(doc))
    assert told(again) == told(doc)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 3), st.integers(0, 3)), max_size=6))
def test_brackets_spell_any_mentions(drawn):
    """Two mentions of one entity that overlap without nesting cannot be told apart, so every entity has one here."""
    rows = [(((start, start + length),), f"{place}") for place, (start, length, _) in enumerate(drawn)]
    found = parse_brackets(brackets(rows, 9))
    assert sorted((row.pieces, row.entity) for row in found) == sorted(rows)


@pytest.mark.parametrize(
    ("cells", "fault"),
    [(["(1"], "never closes"), (["1)"], "without having opened"), (["1"], "not made of brackets"),
     (["(1[3/2])"], "not a part"), (["(1)x"], "not made of brackets")],
)  # fmt: skip
def test_brackets_that_do_not_fit_are_an_error(cells, fault):
    with pytest.raises(BracketError, match=fault):
        parse_brackets(cells)


def test_bad_entities_in_misc_name_the_word():
    doc = Doc.from_words([["Ada", "slept"]], misc=[["", "Entity=e1)"]])
    with pytest.raises(DataError, match=r"word 2.*closes without"):
        coreference_of(doc)


def test_documents_without_entities_say_so():
    with pytest.raises(WeftError, match="no clusters 'coref'"):
        entities_of(Doc.from_words([["Ada"]]))
    with pytest.raises(WeftError, match="2 numbers of entities for 1"):
        set_entities(Doc.from_words([["Ada"]]), [(0, 1)], [0, 1])

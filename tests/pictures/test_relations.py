"""Pictures of relations: a dot for every filled slot, a row per tuple, text made safe."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

from weft.pictures import show
from weft.pictures.display import DocPictures
from weft.text.conventions.tuples import TupleRow, set_tuples
from weft.text.doc import Doc
from weft.text.layers import RelationLayer, SpanLayer, chars_of_words


def note() -> Doc:
    doc = Doc.from_words([["Ada", "<edits>", "Quill"], ["Bo", "left"]])
    doc.spans["entities"] = SpanLayer.of(doc.strings, [(0, 1, "person"), (1, 2, "job"), (2, 3, "company"), (3, 4, "x")])
    rows = [TupleRow("work", (("person", 0), ("job", 1), ("company", 2)), (0.9, 0.9, 0.9)),
            TupleRow("near", (("Arg1", 0), ("Arg2", 2)))]  # fmt: skip
    set_tuples(doc, rows)
    return doc


def test_every_filled_slot_has_a_dot_and_every_tuple_a_row() -> None:
    doc = note()
    drawn = DocPictures(doc, ["relations"])
    assert drawn.kinds == ["relations"]
    picture = drawn.relations(doc.sentences[0])
    ET.fromstring(picture)
    assert (picture.count("<circle"), picture.count("<line")) == (5, 2)
    assert "work 0.90" in picture
    assert "&lt;edits&gt;" in picture
    assert drawn.relations(doc.sentences[1]) == ""


def test_mentions_may_be_counted_in_characters() -> None:
    doc = note()
    doc.spans["entities"] = chars_of_words(doc, doc.spans["entities"])
    set_tuples(doc, [TupleRow("work", (("person", 2), ("x", 3)))])
    assert doc.tuples[0].sentence == doc.sentences[0]
    assert DocPictures(doc).relations(doc.sentences[0]).count("<circle") == 2


def test_a_page_shows_relations_and_bad_layers_do_not_break_it(tmp_path: Path) -> None:
    doc = note()
    assert show(doc, ["relations"]).figures == 1
    bad = doc.relations["relations"] = RelationLayer(doc.strings, "entities")
    bad.add(0, 1, "x", roles="broken")
    assert DocPictures(doc).kinds == ["spans"]

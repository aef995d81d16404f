"""Semantic roles are drawn above the tree."""

from __future__ import annotations

from weft.pictures import DocPictures, draw_tree, show
from weft.text.doc import Doc
from weft.text.frames import FrameRow, Role, frame_rows, set_frames


def with_roles() -> Doc:
    doc = Doc.from_words(
        [["She", "gave", "books"]], head=[[2, 0, 2]], deprel=[["nsubj", "root", "obj"]], upos=[["PRON", "VERB", "NOUN"]]
    )
    set_frames(doc, [FrameRow(1, "give.01", (Role("A0", 0, 1), Role("A1", 2, 3)))])
    return doc


def test_roles_are_arcs_above_the_tree_with_a_text_alternative():
    doc = with_roles()
    plain = draw_tree(doc.sentences[0])
    picture = draw_tree(doc.sentences[0], frames=frame_rows(doc))
    assert picture.count("<path") == plain.count("<path") + 2
    for text in ("give.01", ">A0<", ">A1<", "gave is the predicate give.01: A0 She, A1 books"):
        assert text in picture


def test_frames_are_not_also_drawn_as_spans_unless_they_are_asked_for():
    doc = with_roles()
    assert DocPictures(doc).kinds == ["tree"]
    assert "give.01" in show(doc).html
    assert DocPictures(doc, layers=["frames"]).kinds == ["tree", "spans"]
    doc.head = None
    assert DocPictures(doc).kinds == ["spans"]
